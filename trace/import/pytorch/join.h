// Joins the ranks of a capture: their groups, clocks and collectives.
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

// One rank of a capture that was read and linked.
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
  uint64_t bytes = 0;  // size of this rank's input buffer
  bool has_bytes = false;
  std::string group;   // name in Joined::groups; "": all ranks
  int root = kNoRank;  // replayed rank
  int peer = kNoRank;  // replayed rank
  int tag = 0;
  bool eager = false;        // the send ended before its receive began
  int64_t transfer_ns = -1;  // time from the arrival of the last captured member to the end; -1: not known
};

struct Joined {
  // The groups, in ranks of the replay: captured ranks become 0, 1, ... in order; ranks that were not
  // captured follow.
  Groups groups;
  std::vector<std::vector<CommPlan>> comms;  // by captured rank, then by row of Timeline::comms
  std::vector<int64_t> clock_offset_ns;      // by captured rank: correction to add to its clock
  int64_t window_begin_ns = 0;               // since the epoch: the earliest begin of all ranks, with aligned
                                             // clocks
  std::vector<Repair> repairs;
  int world_size = 0;
};

// `ranks` are ascending by rank. Calls of a group are matched by order; if the captures of ranks begin at
// different calls, by the shift under which ends agree best. A call that not every captured member made
// becomes a plain kernel, and is counted.
Joined JoinRanks(const std::vector<CaptureRank>& ranks);

}  // namespace chakra::pytorch
