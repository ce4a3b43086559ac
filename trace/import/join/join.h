// Joins the ranks of a capture: their groups, clocks and collectives.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/join/call_groups.h"
#include "trace/import/join/capture_rank.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

// How one row of Timeline::comms is replayed.
struct CommPlan {
  NodeType type = NodeType::kCollective;  // or kSend, kRecv; kComp: not replayed as communication
  CollectiveType collective = CollectiveType::kAllReduce;
  uint64_t bytes = 0;  // size of this rank's input buffer
  bool has_bytes = false;
  absl::string_view group;  // name in Joined::groups, points into Joined::names; "": all ranks
  int root = kNoRank;       // replayed rank
  int peer = kNoRank;       // replayed rank
  int tag = 0;
  bool eager = false;        // the send ended before its receive began
  int64_t transfer_ns = -1;  // time from the begin of the last captured member to the end; -1: unknown
};

struct Joined {
  // The groups, with ranks of the replay: captured ranks become 0, 1, ... in order; ranks that were not
  // captured follow.
  Groups groups;
  std::shared_ptr<const std::set<std::string>> names;  // names that plans point to
  std::vector<std::vector<CommPlan>> comms;            // by captured rank, then by row of Timeline::comms
  std::vector<int64_t> clock_offset_ns;                // by captured rank: correction to add to its clock
  // Since the epoch: the earliest begin of all ranks, with aligned clocks.
  int64_t window_begin_ns = 0;
  std::vector<Repair> repairs;
  int world_size = 0;
  CallGroups call_groups;       // how the group of each collective is known; ranks as captured
  uint64_t peers_inferred = 0;  // number of sends and receives whose peers were inferred
  std::string peer_evidence;    // how the peers were inferred, in words
};

// The number of ranks of the job, as far as the capture shows it.
int WorldSize(const std::vector<CaptureRank>& ranks);

// `ranks` are ascending by rank. Calls of a group are matched by order; if the captures of ranks begin at
// different calls, by FindShift(). A call that not every captured member made becomes a plain kernel, and is
// counted. `asked`: groups from the user's file.
Joined JoinRanks(const std::vector<CaptureRank>& ranks, const GroupRules& asked = {});

}  // namespace chakra::pytorch
