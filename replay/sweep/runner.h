// Points run on threads, each result in the journal as soon as it is there.
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

// What a point gave.
struct Outcome {
  absl::Status status;
  PointMetrics metrics;
  std::string inputs;                                               // digest of what was read
  google::protobuf::RepeatedPtrField<proto::InputFile> files = {};  // what was read
};

// Runs one command line of `replay` (TRACE... and options). Called from several threads at once.
using RunPoint = std::function<Outcome(const std::vector<std::string>& words)>;

struct Task {
  uint64_t number = 0;
  std::string id;
  Place place;
};

struct RunnerProgress {
  uint64_t done = 0, failed = 0, total = 0;  // of this call of Run()
  double seconds = 0;                        // since its begin
};

class TaskSource;

struct RunnerOptions {
  int jobs = 1;
  // Called five times a second or so, and once at the end.
  std::function<void(const RunnerProgress&)> progress;
  // Set by a signal: no further point begins.
  const std::atomic<bool>* stop = nullptr;
  // Runs in the calling thread while the threads work, and hands out points to others; returns when `source`
  // is done.
  std::function<void(TaskSource* source)> serve;
};

// The points of one call of Runner::Run().
class TaskSource {
 public:
  // Takes the next point. False: there is none left to take.
  bool Take(Task* task);
  // Gives a point back that nobody will run.
  void GiveBack(Task task);
  // `record`: of RunToRecord(), without number and id.
  void Finish(const Task& task, proto::PointRecord record);
  // Whether all that were taken have ended and none is left.
  bool Done();
  // Waits for Done(), at most so long.
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
  absl::Status failure_;  // of the journal: nothing further is begun
  std::map<std::string, proto::PointRecord> records_;
  std::chrono::steady_clock::time_point begin_;
};

// Runs a point and says how it ended. Too little memory is a failure of that point alone.
proto::PointRecord RunToRecord(const RunPoint& run, const std::vector<std::string>& words);

class Runner {
 public:
  // `space` gives the words of points and, as `journal`, must outlive this. `journal` may be null: nothing is
  // kept on disk.
  Runner(const Space& space, RunPoint run, JournalWriter* journal, RunnerOptions options)
      : space_(space), run_(std::move(run)), journal_(journal), options_(std::move(options)) {}

  // Runs all, in this order but for what runs at once. Their records, by id. A point that fails has its error
  // in its record. Errors: the journal cannot be written (what is in it stays good); Cancelled when it was
  // told to stop.
  absl::StatusOr<std::map<std::string, proto::PointRecord>> Run(std::vector<Task> tasks);

 private:
  void Work(TaskSource* source) const;

  const Space& space_;
  const RunPoint run_;
  JournalWriter* const journal_;
  const RunnerOptions options_;
};

}  // namespace chakra::sweep
