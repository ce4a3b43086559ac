// Messages of collective calls that are spread over several NICs of a node, one part for each NIC.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/machine.h"
#include "replay/engine/match/match.h"
#include "replay/engine/symmetry/node_lanes.h"
#include "replay/nccl/library.h"

namespace chakra {

// The spread messages of one call, by connection of its plan. The messages of a connection arrive in the
// order in which they were sent. A message has arrived when its parts on all NICs have arrived.
class SpreadMessages {
 public:
  bool empty() const { return spread_.empty(); }
  void clear() { spread_.clear(); }

  // A message of `connection` starts over `cards` NICs. A connection always uses the same number of NICs.
  void Start(uint64_t connection, int cards) {
    Spread& spread = spread_[connection];
    spread.arrived.resize(static_cast<size_t>(cards), 0);
    spread.unsent = static_cast<uint32_t>(cards);
  }
  // The part of a message on one NIC has left or arrived. Returns true if the whole message now has. Always
  // true for a connection whose messages are not spread.
  bool Ended(uint64_t connection, uint32_t card, FlowEnd::Kind kind) {
    const auto found = spread_.find(connection);
    if (found == spread_.end()) return true;
    Spread& spread = found->second;
    if (kind == FlowEnd::kSent) return --spread.unsent == 0;
    ++spread.arrived[card];
    const uint32_t least = *std::min_element(spread.arrived.begin(), spread.arrived.end());
    if (least == spread.complete) return false;
    spread.complete = least;
    return true;
  }

 private:
  struct Spread {
    std::vector<uint32_t> arrived;  // by NIC: messages that have arrived
    uint32_t complete = 0;          // messages that have arrived on all NICs
    uint32_t unsent = 0;            // NICs that still send their part of the last message
  };
  absl::flat_hash_map<uint64_t, Spread> spread_;
};

// The part of a message on each NIC. The message was planned with a limit of `of_planned` on each of
// `planned` NICs, but only `there` NICs exist.
struct CardShare {
  int cards = 1;
  Bandwidth limit;

  CardShare(Bandwidth of_planned, int planned, int there) : cards(std::min(planned, there)) {
    const auto all = static_cast<__int128>(of_planned.bytes_per_second()) * planned;
    limit = Bandwidth::BytesPerSecond(static_cast<int64_t>(all / cards));
  }
  // The bytes on NIC `card`; NIC 0 has the most.
  uint64_t Of(uint64_t bytes, int card) const {
    const auto n = static_cast<uint64_t>(cards);
    return bytes / n + (static_cast<uint64_t>(card) < bytes % n ? 1 : 0);
  }
};

// The NodeLanes of each group, made on first use.
class GroupLanes {
 public:
  // `machine` and `matching` are owned by the caller and must outlive this object.
  GroupLanes(const MachineView& machine, const Matching& matching) : machine_(machine), matching_(matching) {}

  // The lanes of `group`. A node of the group ends below the first level that `costs` spreads over NICs.
  // Precondition: `costs` has such a level.
  const NodeLanes& Of(uint32_t group, const CallCosts& costs) {
    const auto found = lanes_.find(group);
    if (found != lanes_.end()) return found->second;
    int level = 0;
    while (costs.levels[static_cast<size_t>(level)].cards == 1) ++level;
    return lanes_.try_emplace(group, machine_, matching_.groups[group].members, level).first->second;
  }

  // The delay of a part, sent from `from` to `to`, of a message from `src` to `dst`. With the delay, the part
  // arrives no earlier than a message from `src` to `dst` with the part's bytes would: inside the nodes, the
  // path is that of the whole message.
  Time DelayOf(int src, int dst, int from, int to, uint64_t bytes, Bandwidth limit) {
    const FlowCost whole = WayOf(src, dst), part = WayOf(from, to);
    if (whole.transfer <= part.transfer || whole.transfer == Time::Never())
      return std::max(Time::Zero(), whole.latency - part.latency);
    return std::max(Time::Zero(), machine_.Cost(src, dst, bytes, limit).received() -
                                      machine_.Cost(from, to, bytes, limit).received());
  }

 private:
  // The cost of 1 MiB between two end points.
  FlowCost WayOf(int src, int dst) {
    const uint64_t pair = static_cast<uint64_t>(src) << 32 | static_cast<uint32_t>(dst);
    const auto [it, is_new] = ways_.try_emplace(pair);
    if (is_new) it->second = machine_.Cost(src, dst, 1 << 20);
    return it->second;
  }

  const MachineView& machine_;
  const Matching& matching_;
  std::map<uint32_t, NodeLanes> lanes_;
  absl::flat_hash_map<uint64_t, FlowCost> ways_;
};

}  // namespace chakra
