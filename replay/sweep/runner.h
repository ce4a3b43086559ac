// Runs points on threads, and writes each result to the journal immediately.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/sweep.pb.h"
#include "replay/sweep/journal.h"
#include "replay/sweep/metrics.h"
#include "replay/sweep/space.h"

namespace chakra::sweep {

// The outcome of a point.
struct Outcome {
  absl::Status status;
  PointMetrics metrics;
  std::string inputs;                                               // digest of the files that were read
  google::protobuf::RepeatedPtrField<proto::InputFile> files = {};  // the files that were read
};

// Runs one command line of `replay` (TRACE... and options). Called from several threads at once.
using RunPoint = std::function<Outcome(const std::vector<std::string>& words)>;

struct Task {
  uint64_t number = 0;
  std::string id;
  Place place;
};

struct RunnerProgress {
  uint64_t done = 0, failed = 0, total = 0;  // of this call of Runner::Run()
  double seconds = 0;                        // since the start of this call
};

class TaskSource;

struct RunnerOptions {
  int jobs = 1;
  // Called about five times a second, and once at the end.
  std::function<void(const RunnerProgress&)> progress;
  // If set (by a signal), no other point starts, and running points are given up: they have no results.
  const std::atomic<bool>* stop = nullptr;
  // If set, runs in the calling thread while other threads work, and hands out points to other processes.
  // Must return when `source` is done.
  std::function<void(TaskSource* source)> serve;
};

// The points of one call of Runner::Run().
class TaskSource {
 public:
  // Takes the next point. False: no point is left.
  bool Take(Task* task);
  // Returns a taken point that has no result; it can then be taken again.
  void GiveBack(Task task);
  // Ends a point. `record` is from RunToRecord(), without number and id.
  void Finish(const Task& task, proto::PointRecord record);
  // Whether every point that was taken has ended, and no other point will start.
  bool Done();
  // Waits until Done(), but at most `most`.
  void Wait(std::chrono::milliseconds most);
  RunnerProgress progress();

 private:
  friend class Runner;
  TaskSource(std::deque<Task> tasks, const RunnerOptions& options, JournalWriter* journal);
  bool DoneLocked() const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  uint64_t under_way_ = 0, done_ = 0, failed_ = 0, total_ = 0;
  const RunnerOptions& options_;
  JournalWriter* journal_;
  absl::Status failure_;  // error of the journal; no other point starts after it
  std::map<std::string, proto::PointRecord> records_;
  std::chrono::steady_clock::time_point begin_;
};

// Runs a point and returns its record. If memory runs out, only this point fails.
proto::PointRecord RunToRecord(const RunPoint& run, const std::vector<std::string>& words);

class Runner {
 public:
  // `space` gives the words of points. `space` and `journal` must outlive the runner. `journal` may be null:
  // then results are not written to disk.
  Runner(const Space& space, RunPoint run, JournalWriter* journal, RunnerOptions options)
      : space_(space), run_(std::move(run)), journal_(journal), options_(std::move(options)) {}

  // Starts the tasks in this order and returns their records, by id. The record of a failed point has its
  // error. Errors: the journal cannot be written (its content stays valid); Unavailable if another process
  // that ran points was lost; Cancelled if options.stop was set.
  absl::StatusOr<std::map<std::string, proto::PointRecord>> Run(std::vector<Task> tasks);

 private:
  void Work(TaskSource* source) const;

  const Space& space_;
  const RunPoint run_;
  JournalWriter* const journal_;
  const RunnerOptions options_;
};

}  // namespace chakra::sweep
