#include "replay/engine/symmetry/rails.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replay/engine/symmetry/card_lanes.h"

namespace chakra {
namespace {

// Which link of a rail is which link of the first rail.
class RailLinks {
 public:
  RailLinks(size_t links, int rails)
      : links_(links), user_(links, kNobody), first_(links), image_(static_cast<size_t>(rails) * links) {}

  // Links that carry what is not cut. False: one is a rail's.
  bool Other(const std::vector<Hop>& hops) {
    return std::all_of(hops.begin(), hops.end(), [&](const Hop& hop) {
      int& user = user_[hop.link];
      if (user == kNobody) user = kOthers;
      return user == kOthers;
    });
  }
  // On rail `rail` the path `there` is what `first` is on the first rail. False: that contradicts another
  // call.
  bool Map(int rail, const std::vector<Hop>& first, const std::vector<Hop>& there) {
    if (first.size() != there.size()) return false;
    for (size_t h = 0; h < first.size(); ++h) {
      if (first[h].link_class != there[h].link_class) return false;
      const uint32_t from = first[h].link, to = there[h].link;
      uint32_t& image = image_[static_cast<size_t>(rail) * links_ + from];
      if (image == 0 && user_[to] == kNobody) {
        image = to + 1;
        user_[to] = rail;
        first_[to] = from;
      }
      if (image != to + 1 || user_[to] != rail || first_[to] != from) return false;
    }
    return true;
  }

 private:
  static constexpr int kNobody = -1, kOthers = -2;
  size_t links_;
  std::vector<int> user_;        // by link: a rail, or kOthers
  std::vector<uint32_t> first_;  // by link of a rail: the link of the first rail whose image it is
  std::vector<uint32_t> image_;  // by rail and link of the first rail: 1 + the link there; 0: none yet
};

// Each once.
std::vector<int> PeersOf(const Program& program) {
  std::vector<int> peers;
  for (const Step& step : program.steps) {
    if (IsSend(step.op)) peers.push_back(step.peer);
  }
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

class Rails {
 public:
  Rails(Machine& machine, const PlannedCall& planned, const std::vector<int>& members, const NodeLanes& lanes)
      : machine_(machine),
        plan_(*planned.plan),
        levels_(planned.costs.levels),
        members_(members),
        lanes_(lanes),
        rails_(lanes.PerNode()),
        links_(machine.topology().links(), rails_) {}

  bool Alike() {
    if (rails_ < 2) return false;
    std::vector<int> peers;  // as the steps of a node have them
    for (int node = 0; node < plan_.nodes(); ++node) {
      if (node == 0 || !plan_.rotational) peers = PeersOf(plan_.program(node));
      for (const int peer : peers) {
        if (!AlikeBetween(node, plan_.rotational ? (node + peer) % plan_.members : peer)) return false;
      }
    }
    return true;
  }

 private:
  int Endpoint(int node) const {
    if (node < plan_.members) return members_[static_cast<size_t>(node)];
    const PlanSwitch& s = plan_.switches[static_cast<size_t>(node - plan_.members)];
    return machine_.SwitchBetween(members_[static_cast<size_t>(s.a)], members_[static_cast<size_t>(s.b)]);
  }

  bool AlikeBetween(int node, int peer) {
    const int src = Endpoint(node), dst = Endpoint(peer);
    const bool cut = node < plan_.members && peer < plan_.members &&
                     levels_[static_cast<size_t>(machine_.Level(src, dst))].cards > 1;
    first_.clear();
    if (!cut) return machine_.LinksBetween(src, dst, &first_) && links_.Other(first_);
    if (levels_[static_cast<size_t>(machine_.Level(src, dst))].cards != rails_) return false;
    const auto a = static_cast<uint32_t>(node), b = static_cast<uint32_t>(peer);
    const auto [one, other] = lanes_.OnRail(a, b, 0);
    if (one == other || !machine_.LinksBetween(one, other, &first_)) return false;
    for (int rail = 0; rail < rails_; ++rail) {
      const auto [from, to] = lanes_.OnRail(a, b, rail);
      there_.clear();
      if (!machine_.LinksBetween(from, to, &there_) || !links_.Map(rail, first_, there_)) return false;
    }
    return true;
  }

  Machine& machine_;
  const Plan& plan_;
  const std::vector<CallCosts::Level>& levels_;
  const std::vector<int>& members_;
  const NodeLanes& lanes_;
  int rails_;
  RailLinks links_;
  std::vector<Hop> first_, there_;
};

}  // namespace

bool RailsAlike(Machine& machine, const PlannedCall& planned, const Matching& matching) {
  const auto& levels = planned.costs.levels;
  const bool cut = std::any_of(levels.begin(), levels.end(), [](const auto& l) { return l.cards > 1; });
  if (planned.plan == nullptr || !cut || machine.contention_free()) return false;
  GroupLanes lanes(machine, matching);
  return Rails(machine, planned, matching.groups[0].members, lanes.Of(0, planned.costs)).Alike();
}

}  // namespace chakra
