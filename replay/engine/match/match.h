// Matches communication before the clock starts: the collective calls of a group's members by their position
// among the calls of the group, and sends with receives by source, destination, tag and order. "Order" is
// recorded order (Graph::order), so matching cannot depend on timing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/engine/match/comm_slots.h"
#include "replay/engine/match/match_groups.h"
#include "trace/model/trace.h"
#include "trace/model/twins.h"

namespace chakra {

struct CollectiveCall {
  uint32_t group = 0;  // index into Matching::groups
  CollectiveType type = CollectiveType::kAllReduce;
  bool kept = false;        // a member does not tell its bytes: nothing can price the call
  int root = 0;             // member, not rank; 0 if the kind has no root
  uint64_t bytes = 0;       // comm_size
  uint32_t position = 0;    // among the calls of the group: 0, 1, ...
  uint32_t made = 0;        // members that make the call
  uint32_t first_rank = 0;  // the lowest rank that makes the call; first_row is its row
  uint32_t first_row = 0;
  const char* kernel = nullptr;  // the algorithm that the recorded kernel's name tells; null: none
};

struct MatchedMessage {
  int src = 0;
  int dst = 0;
  int32_t tag = 0;
  uint64_t bytes = 0;
  uint32_t send_row = kNoRow;  // in src's graph
  uint32_t recv_row = kNoRow;  // in dst's graph
  bool kept = false;           // as CollectiveCall::kept
  uint64_t times = 1;          // how many ranks send the same
};

struct Matching {
  std::vector<GroupInfo> groups;  // 0 is all ranks
  std::vector<CollectiveCall> calls;
  std::vector<MatchedMessage> messages;
  std::vector<CommSlots> slots;  // [rank][row of graph->comm]
  std::vector<std::string> warnings;
};

// `dimension_sizes` (fastest first) resolves involved_dim; it may be empty. Errors, each naming file, rank,
// node and field: attributes missing or out of range, unknown groups, members without a trace, ranks that
// call on a group they are not in, calls that differ in kind, size or root, calls that a member never makes,
// sends and receives without partner or of unequal size. With `partial` (recorded communication is replayed,
// not simulated), partners without a trace, and calls that some members never make, are warnings instead of
// errors. A call or message of which a side lacks comm_size, but has a recorded time, is `kept`. Twins (null:
// there are none) are counted beside the ranks whose twins they are; these alone are matched.
absl::StatusOr<Matching> MatchCommunication(const TraceSet& traces, const std::vector<int>& dimension_sizes,
                                            bool partial = false, const Twins* twins = nullptr);

}  // namespace chakra
