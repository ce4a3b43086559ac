// The log of one rank's collective calls, before the logs of ranks are joined.
//
// Four recorders write such logs: NCCL's Inspector (inspector.h), the example of NCCL's profiler plugins
// (profiler_plugin.h), PyTorch's Flight Recorder (flight_recorder.h) and NCCL's debug log (nccl_debug.h),
// which has no times. None of them records computation.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/collective_logs/calls.h"
#include "trace/model/trace.h"

namespace chakra::collective_logs {

// The name of a LogOp: "all_reduce", "send".
absl::string_view NameOfOp(uint8_t op);

// Finds an operation by NCCL's name for it (ncclFuncToString), such as "AllReduce". Returns false if there is
// none.
struct NcclCall {
  uint8_t op = kLogUnknown;
  bool per_member = false;  // the count in the API is the part for one member, not a rank's whole input
};
bool FindNcclCall(absl::string_view name, NcclCall* out);
// The names that error messages list as expected.
inline constexpr absl::string_view kNcclCalls =
    "AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, AlltoAll, Gather, Scatter, Send or Recv";

// A group as one rank knows it; a communicator, in NCCL's words.
struct LogComm {
  std::string id;          // equal on all members
  std::string name;        // for people; "": none
  int member = -1;         // this rank's number in the group
  int size = 0;            // number of members; 0: not recorded
  std::vector<int> ranks;  // global ranks of the members, if the log has them
};

struct RankLog {
  std::string file;
  std::string host;      // "": not recorded
  int64_t process = -1;  // -1: not recorded
  int rank = -1;         // global; -1: not recorded
  std::vector<LogComm> comms;
  LogCalls calls;  // in the order of the file
  std::vector<Repair> repairs;
  bool device_starts = false;  // calls start with their kernels, not when the host made them
  bool shared_clock = false;   // start_ns counts from the epoch, not from the rank's own begin

  void Note(const char* kind, uint64_t count, uint64_t first, std::string detail) {
    if (count > 0) repairs.push_back({kind, file, rank, count, first, std::move(detail)});
  }
};

// Limits of plausible values: bytes of a call; start of a call, 100 years after the epoch; duration of a
// call, 10 days.
inline constexpr uint64_t kMostCallBytes = uint64_t{1} << 56;
inline constexpr int64_t kMostStartNs = int64_t{3155760000} * 1000000000;
inline constexpr int64_t kMostDurationNs = int64_t{864000} * 1000000000;

}  // namespace chakra::collective_logs
