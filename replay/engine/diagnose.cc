#include "replay/engine/diagnose.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/base/printable.h"
#include "trace/import/locate.h"

namespace chakra {
namespace {

struct Wait {
  int for_rank = kNoRank;  // kNoRank: the rank waits for no other rank
  std::string text;
};

// The wait of `row` in a collective that another member has not reached. Empty if there is no such wait.
Wait WaitInCall(const StuckView& view, const RankTrace& trace, uint32_t row, NodeLocator* locator) {
  const Matching& matching = *view.matching;
  const CommSlot slot = matching.slots[trace.rank][trace.graph->payload[row]];
  if (!view.arrived(slot.index, slot.member)) return {};
  const CollectiveCall& call = matching.calls[slot.index];
  const GroupInfo& group = matching.groups[call.group];
  for (uint32_t m = 0; m < group.members.size(); ++m) {
    if (view.arrived(slot.index, m)) continue;
    return {group.members[m],
            absl::StrCat("rank ", trace.rank, " waits for rank ", group.members[m], " in call ",
                         call.position, ", ", std::string(Name(call.type)), " of ", call.bytes,
                         " bytes, of group \"", group.name, "\": ", locator->Describe(trace, row))};
  }
  return {};
}

Wait WaitInReceive(const StuckView& view, const RankTrace& trace, uint32_t row, NodeLocator* locator) {
  const uint32_t index = view.matching->slots[trace.rank][trace.graph->payload[row]].index;
  if (!view.receiver_waits(index) || view.sent(index)) return {};
  const MatchedMessage& message = view.matching->messages[index];
  return {message.src, absl::StrCat("rank ", trace.rank, " waits for the send of rank ", message.src,
                                    " (tag ", message.tag, ", ", message.bytes, " bytes, ",
                                    locator->Describe(view.traces->ranks[message.src], message.send_row),
                                    "): ", locator->Describe(trace, row))};
}

Wait WaitInSend(const StuckView& view, const RankTrace& trace, uint32_t row, NodeLocator* locator) {
  const uint32_t index = view.matching->slots[trace.rank][trace.graph->payload[row]].index;
  if (!view.sender_waits || !view.sender_waits(index)) return {};
  const MatchedMessage& message = view.matching->messages[index];
  return {message.dst, absl::StrCat("rank ", trace.rank, " waits for the receive of rank ", message.dst,
                                    " (tag ", message.tag, ", ", message.bytes, " bytes, ",
                                    locator->Describe(view.traces->ranks[message.dst], message.recv_row),
                                    "): ", locator->Describe(trace, row))};
}

Wait WaitOf(const StuckView& view, int rank, NodeLocator* locator) {
  const RankTrace& trace = view.traces->ranks[rank];
  for (uint32_t row : trace.graph->order) {
    Wait wait;
    if (trace.graph->type[row] == NodeType::kCollective) wait = WaitInCall(view, trace, row, locator);
    if (trace.graph->type[row] == NodeType::kSend) wait = WaitInSend(view, trace, row, locator);
    if (trace.graph->type[row] == NodeType::kRecv) wait = WaitInReceive(view, trace, row, locator);
    if (wait.for_rank != kNoRank) return wait;
  }
  return {};
}

}  // namespace

absl::Status DiagnoseStuck(const StuckView& view) {
  const size_t ranks = view.traces->ranks.size();
  std::vector<size_t> step_of(ranks, 0);  // 1 + the step of the walk that visited the rank; 0: not visited
  std::vector<std::string> lines;
  NodeLocator locator;
  int rank = 0;
  while (rank < static_cast<int>(ranks) && view.left(rank) == 0) ++rank;
  const bool carried = !view.fabric.empty();  // whether the network holds the messages that ranks wait for
  std::string head = absl::StrCat("the run cannot finish: ", view.total - view.finished, " of ", view.total,
                                  " nodes wait for ", carried ? "the network: " : "each other", view.fabric);
  while (rank < static_cast<int>(ranks) && step_of[rank] == 0) {
    step_of[rank] = lines.size() + 1;
    Wait wait = WaitOf(view, rank, &locator);
    if (wait.for_rank == kNoRank) {
      lines.push_back(absl::StrCat(
          "rank ", rank, " has ", view.left(rank), " nodes left and waits for ",
          carried ? "the network"
                  : "no other rank: something it started would end after the longest simulated time, 106 "
                    "days; is a bandwidth near zero?"));
      break;
    }
    lines.push_back(std::move(wait.text));
    rank = wait.for_rank;
  }
  const size_t first = rank < static_cast<int>(ranks) && step_of[rank] > 0 ? step_of[rank] - 1 : 0;
  for (size_t i = first; i < lines.size(); ++i) absl::StrAppend(&head, "\n  ", Printable(lines[i]));
  if (carried) return absl::FailedPreconditionError(head);
  absl::StrAppend(&head,
                  "\n  Collectives of a group run in recorded order, and a lane runs one node at a time; ",
                  "--lanes unlimited orders nodes by dependencies only.");
  return absl::FailedPreconditionError(head);
}

}  // namespace chakra
