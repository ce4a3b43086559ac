// Matches communication before the clock starts. Collective calls of a group's members are matched by their
// position among the calls of the group; sends and receives by source, destination, tag and order. "Order" is
// the recorded order (Graph::order), so matching cannot depend on timing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/engine/match/comm_slots.h"
#include "replay/engine/match/match_groups.h"
#include "trace/model/symmetric_ranks.h"
#include "trace/model/trace.h"

namespace chakra {

struct CollectiveCall {
  uint32_t group = 0;  // index into Matching::groups
  CollectiveType type = CollectiveType::kAllReduce;
  bool kept = false;        // a member does not record its bytes, so the call cannot be priced and keeps its
                            // recorded time
  int root = 0;             // member, not rank; 0 if the kind has no root
  uint64_t bytes = 0;       // comm_size
  uint32_t position = 0;    // among the calls of the group: 0, 1, ...
  uint32_t made = 0;        // members that make the call
  uint32_t first_rank = 0;  // the lowest rank that makes the call; `first_row` is its row
  uint32_t first_row = 0;
  const char* kernel = nullptr;  // the algorithm in the recorded kernel's name; null: none
};

struct MatchedMessage {
  int src = 0;
  int dst = 0;
  int32_t tag = 0;
  uint64_t bytes = 0;
  uint32_t send_row = kNoRow;  // in src's graph
  uint32_t recv_row = kNoRow;  // in dst's graph
  bool kept = false;           // as CollectiveCall::kept
  uint64_t times = 1;          // how many symmetric ranks send this message, the source included
};

struct Matching {
  std::vector<GroupInfo> groups;  // 0 is all ranks
  std::vector<CollectiveCall> calls;
  std::vector<MatchedMessage> messages;
  std::vector<CommSlots> slots;  // [rank][index into graph->comm]
  std::vector<std::string> warnings;
};

// `dimension_sizes` (fastest first) resolves involved_dim; it may be empty. Errors, each naming file, rank,
// node and field: attributes missing or out of range, unknown groups, members without a trace, ranks that
// call on a group they are not in, calls that differ in kind, size or root, calls that a member never makes,
// and sends and receives without a partner or of unequal size. With `partial` (recorded communication is
// replayed, not simulated), partners without a trace and calls that some members never make are warnings
// instead of errors. A call or message is `kept` if a side lacks comm_size but has a recorded time.
// `symmetric` (null: none): only one of several symmetric ranks is matched; the others are counted.
absl::StatusOr<Matching> MatchCommunication(const TraceSet& traces, const std::vector<int>& dimension_sizes,
                                            bool partial = false, const SymmetricRanks* symmetric = nullptr);

}  // namespace chakra
