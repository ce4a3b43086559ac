// What the ranks of a capture have in common: groups, clocks, and collectives.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/import/pytorch/capture.h"
#include "trace/import/pytorch/pair.h"
#include "trace/import/pytorch/timeline.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

// One rank of a capture, read and linked.
struct CaptureRank {
  int rank = 0;                        // global
  std::string host_file, device_file;  // "": not captured
  std::unique_ptr<HostTrace> host;
  std::unique_ptr<DeviceTrace> device;
  Pairing pairing;
  Timeline timeline;
};

// How one entry of Timeline::comms is replayed.
struct CommPlan {
  NodeType type = NodeType::kCollective;  // or kSend, kRecv; kComp: not replayed as communication
  CollectiveType collective = CollectiveType::kAllReduce;
  uint64_t bytes = 0;  // of this rank's input buffer
  bool has_bytes = false;
  std::string group;   // in Joined::groups; "": all ranks
  int root = kNoRank;  // replayed rank
  int peer = kNoRank;  // replayed rank
  int tag = 0;
  bool eager = false;        // a send that was over before its receive began
  int64_t transfer_ns = -1;  // from the arrival of the last captured member to the end; -1: not known
};

struct Joined {
  // Ranks as they are replayed: captured ranks are 0, 1, ... in order; ranks
  // that were not captured follow.
  Groups groups;
  std::vector<std::vector<CommPlan>> comms;  // by captured rank, beside Timeline::comms
  std::vector<int64_t> clock_offset_ns;      // by captured rank: added to its clock
  int64_t window_begin_ns = 0;               // of the epoch: the earliest of all ranks, clocks aligned
  std::vector<Repair> repairs;
  int world_size = 0;
};

// `ranks` ascending by rank. Calls of a group are matched by order; where ranks
// were cut at different calls, by the order that makes their ends agree. Calls
// that not every captured member made become plain kernels, counted.
Joined JoinRanks(const std::vector<CaptureRank>& ranks);

}  // namespace chakra::pytorch
