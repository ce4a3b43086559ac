// Who talks with whom, found before the clock starts: every collective call is
// matched across the members of its group by its position in the group, every
// send with a receive by source, destination, tag and order. "Order" is
// recorded order (Graph::order), so that matching cannot depend on timing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/model/trace.h"

namespace chakra {

struct GroupInfo {
  std::string name;          // "" is all ranks
  std::vector<int> members;  // ranks with a trace, in the order that the group lists them
  int size = 0;              // ranks of the group; more than members only where some have no trace
};

struct CollectiveCall {
  uint32_t group = 0;  // in Matching::groups
  CollectiveType type = CollectiveType::kAllReduce;
  int root = 0;             // member, not rank; 0 where the kind has none
  uint64_t bytes = 0;       // comm_size
  uint32_t position = 0;    // in the group: 0, 1, ...
  uint32_t made = 0;        // members that make it
  uint32_t first_rank = 0;  // of the lowest rank that makes the call, and its row
  uint32_t first_row = 0;
};

struct MatchedMessage {
  int src = 0;
  int dst = 0;
  int32_t tag = 0;
  uint64_t bytes = 0;
  uint32_t send_row = kNoRow;  // in src's graph
  uint32_t recv_row = kNoRow;  // in dst's graph
};

// Of one COMM_* row: the call and this rank's member number, or the message.
struct CommSlot {
  uint32_t index = 0;   // in Matching::calls or Matching::messages
  uint32_t member = 0;  // collectives only
};

struct Matching {
  std::vector<GroupInfo> groups;  // 0 is all ranks
  std::vector<CollectiveCall> calls;
  std::vector<MatchedMessage> messages;
  std::vector<std::vector<CommSlot>> slots;  // [rank][row of graph->comm]
  std::vector<std::string> warnings;
};

// `dimension_sizes` (fastest first) resolves involved_dim; it may be empty.
// Errors, each naming file, rank, node and field: attributes missing or out of
// range, unknown groups, members without a trace, ranks that call on a group
// they are not in, calls that differ in kind, size or root, calls that a
// member never makes, sends and receives without partner or of unequal size.
// With `partial` (what was recorded is replayed, not simulated) partners without
// a trace, and calls that some members never make, are no errors but warnings.
absl::StatusOr<Matching> MatchCommunication(const TraceSet& traces, const std::vector<int>& dimension_sizes,
                                            bool partial = false);

}  // namespace chakra
