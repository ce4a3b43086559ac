// A sweep over the processes of mpirun: process 0 hands out points and writes results, the other processes
// run the points.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/sweep.pb.h"
#include "replay/sweep/runner.h"

struct ChakraMpi;

namespace chakra::cli {

class SweepProcesses {
 public:
  // Returns null if this process was not started by mpirun, or is the only one. Loads the MPI module from the
  // folder of the program, or from where it is installed. Errors: the module is not there; MPI's errors.
  static absl::StatusOr<std::unique_ptr<SweepProcesses>> Join();
  // In process 0: orders the other processes to end.
  ~SweepProcesses();
  SweepProcesses(const SweepProcesses&) = delete;
  SweepProcesses& operator=(const SweepProcesses&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // For the other processes: runs the points that process 0 orders, until it orders to stop.
  absl::Status Work(const sweep::RunPoint& run);

  // For process 0: hands out the points of `source`, with their words from `space`, and passes the results to
  // `source`, until `source` is done.
  void Serve(sweep::TaskSource* source, const sweep::Space& space,
             const std::function<void(const sweep::RunnerProgress&)>& progress);

 private:
  explicit SweepProcesses(const ChakraMpi* mpi) : mpi_(mpi) {}
  absl::Status Send(int to, const google::protobuf::Message& message);
  // Returns whether there was a message.
  absl::StatusOr<bool> Receive(int* from, google::protobuf::Message* message);
  void TakeReply(int from, const proto::PointReply& reply, sweep::TaskSource* source);

  const ChakraMpi* mpi_;
  int rank_ = 0, size_ = 1;
  std::vector<int> idle_;                 // processes that wait for an order
  std::map<int, sweep::Task> under_way_;  // by process
};

}  // namespace chakra::cli
