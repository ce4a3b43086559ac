#include "replay/nccl/together.h"

#include <algorithm>

#include "replay/nccl/collective_costs.h"
#include "replay/nccl/fast_path.h"

namespace chakra {
namespace {

struct PricedMessage {
  Time takes;  // time on its sender's link
  Time there;  // from its start to its arrival
};

bool operator==(const PricedMessage& a, const PricedMessage& b) {
  return a.takes == b.takes && a.there == b.there;
}

PricedMessage Price(const MachineView& machine, const CallCosts& call, int src, int dst, uint64_t bytes) {
  const FlowCost cost = PairCost(machine, call, src, dst, bytes);
  return {cost.sent, cost.received()};
}

// All-reduce in the switch: each member sends all pieces up; the switch sends each owner its share of the
// sums; the owners send the shares back, and the switch sends the pieces down. A share returns one piece
// later. The order of the switch's port is share 0, share 1, piece 0, share 2, ...
Time InSwitch(Time begin, int pieces, const PricedMessage& piece, const PricedMessage& share) {
  Time up = begin, added, returned, port, down = begin, have;
  for (int p = 0; p <= pieces; ++p) {
    const Time share_before = have;
    if (p < pieces) {
      added = std::max(added, up + piece.there);
      up += piece.takes;
      port = std::max(port, added);
      down = std::max(down, port + share.there);
      have = down;
      port += share.takes;
    }
    if (p == 0) continue;
    up = std::max(up, share_before);
    returned = std::max(returned, up + share.there);
    up += share.takes;
    port = std::max(port, returned);
    down = std::max(down, port + piece.there);
    port += piece.takes;
  }
  return std::max(up, down);
}

// All-gather in the switch: all members send all their pieces up, and each port sends the pieces of all
// members down.
Time GatherInSwitch(Time begin, int members, int pieces, const PricedMessage& piece) {
  Time up = begin, port, down = begin;
  for (int p = 0; p < pieces; ++p) {
    port = std::max(port, up + piece.there);
    up += piece.takes;
    port += piece.takes * (members - 1);
    down = port + piece.there;
    port += piece.takes;
  }
  return std::max(up, down);
}

// Reduce-scatter in the switch: each member sends up a piece for each owner in turn, and the switch sends the
// sum on at once. The next piece for the same owner comes when all other owners have had theirs. The last
// owner ends last.
Time ScatterFromSwitch(Time begin, int members, int pieces, const PricedMessage& piece) {
  const int64_t sums = int64_t{members} * pieces;
  return std::max(begin + piece.takes * sums, begin + piece.takes * (sums - 1) + piece.there + piece.there);
}

// A chain up and down again, in which each member passes on the pieces that have arrived; `arrives` is by
// piece.
Time Chain(Time begin, int members, int pieces, const PricedMessage& piece, Time reduce) {
  std::vector<Time> arrives(static_cast<size_t>(pieces));
  Time last = begin;
  const auto pass = [&](bool from_below, bool sends, Time work) {
    Time at = begin;
    for (Time& t : arrives) {
      if (from_below) at = std::max(at, t) + work;
      t = at + piece.there;
      if (sends) at += piece.takes;
    }
    last = std::max(last, at);
  };
  pass(false, true, Time::Zero());                                   // the end of the chain
  for (int v = 2; v < members; ++v) pass(true, true, reduce);        // up
  pass(true, true, reduce);                                          // the root returns each piece
  for (int v = 2; v < members; ++v) pass(true, true, Time::Zero());  // down
  pass(true, false, Time::Zero());
  return last;
}

}  // namespace

std::optional<Time> TimeTogether(const MachineView& machine, const CollectiveCosts& costs,
                                 const PlanRequest& request, const CallCosts& call, uint64_t bytes,
                                 const std::vector<int>& members) {
  if (!machine.contention_free() || costs.step_overhead != Time::Zero() || call.parts != 1 ||
      call.part_end != Time::Zero() || call.levels.empty() || request.blocks.size() != 1) {
    return std::nullopt;
  }
  const int n = request.members, pieces = request.pieces;
  // The size of a chunk, padded as in EqualChunk().
  const auto padded = [&](int chunks) {
    return (bytes + static_cast<uint64_t>(chunks) - 1) / static_cast<uint64_t>(chunks);
  };
  const bool all_reduce = request.type == CollectiveType::kAllReduce;
  if (request.algorithm == "nvls") {
    const int port = machine.SwitchBetween(members[0], members[1]);
    if (port < 0) return std::nullopt;
    const bool gathers = request.type == CollectiveType::kAllGather;
    const uint64_t chunk = padded(gathers ? pieces : pieces * n);
    const PricedMessage piece = Price(machine, call, members[0], port, chunk * static_cast<uint64_t>(n));
    const PricedMessage share = Price(machine, call, members[0], port, chunk);
    for (const int m : members) {
      if (machine.SwitchBetween(m, members[m == members[0] ? 1 : 0]) != port) return std::nullopt;
      if (!(Price(machine, call, m, port, chunk) == share) ||
          !(Price(machine, call, port, m, chunk) == share)) {
        return std::nullopt;
      }
    }
    if (gathers) return GatherInSwitch(call.begin, n, pieces, share);
    return all_reduce ? InSwitch(call.begin, pieces, piece, share)
                      : ScatterFromSwitch(call.begin, n, pieces, share);
  }
  if (!all_reduce || request.algorithm != "double_binary_tree" || n < 2) return std::nullopt;
  const uint64_t chunk = padded(2 * pieces);
  const PricedMessage piece = Price(machine, call, members[0], members[1], chunk);
  for (size_t i = 0; i + 1 < members.size(); ++i) {
    if (!(Price(machine, call, members[i], members[i + 1], chunk) == piece) ||
        !(Price(machine, call, members[i + 1], members[i], chunk) == piece)) {
      return std::nullopt;
    }
  }
  return Chain(call.begin, n, pieces, piece, ReduceTime(costs, chunk));
}

}  // namespace chakra
