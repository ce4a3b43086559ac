// What a log of collective calls says of one rank, before ranks are brought together.
//
// Three recorders write such logs: NCCL's Inspector (inspector.h), the example of NCCL's profiler plugins
// (profiler_plugin.h) and PyTorch's Flight Recorder (flight_recorder.h). None of them sees computation.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra::collective_logs {

// A CollectiveType by its number, or one of these.
enum LogOp : uint8_t { kLogSend = kCollectiveTypes, kLogRecv, kLogUnknown };
inline bool IsCollective(uint8_t op) { return op < kCollectiveTypes; }
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

// Who measured how long a call took.
enum class Timing : uint8_t {
  kNone,    // nobody: the duration is 0
  kHost,    // the host: it contains what the host did late
  kDevice,  // the device's clock, or events on its stream
};

struct LogCall {
  int64_t start_ns = 0;  // by the clock of the rank's log
  int64_t duration_ns = 0;
  uint64_t bytes = 0;     // as comm_size has it: of this rank's input buffer
  uint64_t sequence = 0;  // among the calls of the communicator; of messages: counted apart
  uint32_t comm = 0;      // of RankLog::comms
  int32_t peer = -1;  // member of the communicator: the root, or the other side of a message; -1: not told
  uint32_t line = 0;  // where in the file: line, or number of the entry; from 1
  uint8_t op = kLogUnknown;
  Timing timing = Timing::kNone;
  bool parts = false;        // `bytes` are one member's part; the log does not know the number of members
  bool timed = false;        // start_ns is a time; else calls are known by their order alone
  bool lost = false;         // not all members logged the call, so that no call can be replayed
  bool eager = false;        // a send that ended before its receive began
  int64_t transfer_ns = -1;  // from the last member's arrival to this rank's end; -1: not known
};

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
  std::vector<LogCall> calls;  // in the order of the file
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
