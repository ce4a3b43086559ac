// What a log of collective calls says of one rank, before ranks are brought together.
//
// Four recorders write such logs: NCCL's Inspector (inspector.h), the example of NCCL's profiler plugins
// (profiler_plugin.h), PyTorch's Flight Recorder (flight_recorder.h) and NCCL's debug log (nccl_debug.h),
// which has no times. None of them sees computation.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/collective_logs/calls.h"
#include "trace/model/trace.h"

namespace chakra::collective_logs {

// "all_reduce", "send".
absl::string_view NameOfOp(uint8_t op);

// What NCCL calls an operation (ncclFuncToString): "AllReduce". False: it is none.
struct NcclCall {
  uint8_t op = kLogUnknown;
  bool per_member = false;  // the count of the API call is one member's part of what a rank sends
};
bool FindNcclCall(absl::string_view name, NcclCall* out);
// What messages say is expected.
inline constexpr absl::string_view kNcclCalls =
    "AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, AlltoAll, Gather, Scatter, Send or Recv";

// A communicator as one rank knows it.
struct LogComm {
  std::string id;          // equal on all members
  std::string name;        // for people; "": none
  int member = -1;         // this rank's number in it
  int size = 0;            // members; 0: not told
  std::vector<int> ranks;  // global ranks of the members, where the log tells them
};

struct RankLog {
  std::string file;
  std::string host;      // "": not told
  int64_t process = -1;  // -1: not told
  int rank = -1;         // global; -1: not told
  std::vector<LogComm> comms;
  LogCalls calls;  // in the order of the file
  std::vector<Repair> repairs;
  bool device_starts = false;  // calls begin when their kernels do, not when the host made them
  bool shared_clock = false;   // start_ns counts from the epoch, else from the rank's own begin

  void Note(const char* kind, uint64_t count, uint64_t first, std::string detail) {
    if (count > 0) repairs.push_back({kind, file, rank, count, first, std::move(detail)});
  }
};

// The most that is believed: of one call's bytes; of a start, 100 years after the epoch; of one call, 10
// days.
inline constexpr uint64_t kMostCallBytes = uint64_t{1} << 56;
inline constexpr int64_t kMostStartNs = int64_t{3155760000} * 1000000000;
inline constexpr int64_t kMostDurationNs = int64_t{864000} * 1000000000;

}  // namespace chakra::collective_logs
