// A sweep over the processes of mpirun: process 0 hands out points and writes, the others run them.
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
  // Null where this process was not started by mpirun, or alone. Loads the module beside the program, or
  // where it is installed. Errors: it is not there; MPI's.
  static absl::StatusOr<std::unique_ptr<SweepProcesses>> Join();
  // Process 0 tells the others to end.
  ~SweepProcesses();
  SweepProcesses(const SweepProcesses&) = delete;
  SweepProcesses& operator=(const SweepProcesses&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Of the others: runs what process 0 orders until it says stop.
  absl::Status Work(const sweep::RunPoint& run);

  // Of process 0: hands out points of `source` and takes results until it is done. `words` of a point.
  void Serve(sweep::TaskSource* source, const sweep::Space& space,
             const std::function<void(const sweep::RunnerProgress&)>& progress);

 private:
  explicit SweepProcesses(const ChakraMpi* mpi) : mpi_(mpi) {}
  absl::Status Send(int to, const google::protobuf::Message& message);
  // Whether there was one.
  absl::StatusOr<bool> Receive(int* from, google::protobuf::Message* message);
  void TakeReply(int from, const proto::PointReply& reply, sweep::TaskSource* source);

  const ChakraMpi* mpi_;
  int rank_ = 0, size_ = 1;
  std::vector<int> idle_;                 // processes that wait for an order
  std::map<int, sweep::Task> under_way_;  // by process
};

}  // namespace chakra::cli
