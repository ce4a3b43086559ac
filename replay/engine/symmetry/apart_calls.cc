#include "replay/engine/symmetry/apart_calls.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/symmetry/serial_groups.h"
#include "replay/nccl/fast_path.h"

namespace chakra {
namespace {

constexpr uint32_t kSharedLink = kNoRow - 1;
constexpr size_t kMostPairs = size_t{1} << 22;  // the maximum number of pairs that are examined before a
                                                // replay
constexpr size_t kMostPeaks = size_t{1} << 25;  // the maximum number of link peaks in all outcomes together
constexpr size_t kMostEnds = size_t{1} << 22;   // the maximum number of ends of members in all outcomes, if
                                                // no flow changes another's times
constexpr size_t kKeyPairs = size_t{1} << 14;   // a group with more pairs is treated as symmetric to no other

// The messages that a node of a plan sends in a call: number of messages by peer (numbered as in the node's
// steps) and bytes.
std::map<std::pair<int, uint64_t>, uint64_t> MessagesOf(const PlannedCall& planned, uint64_t bytes,
                                                        int node) {
  const Plan& plan = *planned.plan;
  const uint64_t chunk = EqualChunk(planned, bytes);
  const auto parts = static_cast<unsigned>(planned.costs.parts);
  const auto cut = [&](unsigned p) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(bytes) * p / parts);
  };
  std::map<std::pair<int, uint64_t>, uint64_t> messages;
  for (const Step& step : plan.program(node).steps) {
    if (!IsSend(step.op)) continue;
    if (chunk != kUnevenChunks) {
      messages[{step.peer, chunk * static_cast<uint64_t>(step.count)}] += parts;
      continue;
    }
    for (unsigned p = 0; p < parts; ++p)
      ++messages[{step.peer, StepBytesOf(plan, cut(p + 1) - cut(p), node, step)}];
  }
  return messages;
}

}  // namespace

bool ApartCalls::LinksOf(uint32_t call, const PlannedCall& planned, std::vector<Hop>* links) {
  const uint32_t group = matching_.calls[call].group;
  bool fixed = true;
  for (const auto& [from, to] : paths_.PairsOf(*planned.plan)) {
    const CallPath path = paths_.Of(group, planned, from, to);
    fixed = machine_->LinksBetween(path.src, path.dst, links) && fixed && path.lanes == nullptr;
    if (path.lanes == nullptr) continue;
    for (int lane = 0; lane < std::min(path.cards, path.lanes->Cards(path.from, path.to)); ++lane) {
      const auto [one, other] = path.lanes->Ends(path.from, path.to, lane);
      machine_->LinksBetween(one, other, links);
    }
  }
  return fixed;
}

bool ApartCalls::HasAllLinks(const std::vector<uint32_t>& of_plans,
                             const std::vector<const PlannedCall*>& plan_of) const {
  return !machine_->topology().has_network() &&
         std::all_of(of_plans.begin(), of_plans.end(), [&](uint32_t call) {
           const auto& levels = plan_of[call]->costs.levels;
           return std::all_of(levels.begin(), levels.end(), [](const auto& l) { return l.cards == 1; });
         });
}

void ApartCalls::FindShared(const std::vector<uint32_t>& unit_of, const std::vector<uint32_t>& of_plans,
                            const std::vector<const PlannedCall*>& plan_of) {
  std::vector<uint32_t> user(machine_->topology().links(), kNoRow);  // a unit, or kSharedLink
  std::vector<Hop> links;
  const auto mark = [&](uint32_t unit) {
    for (const Hop& hop : links) {
      uint32_t& u = user[hop.link];
      u = u == kNoRow || u == unit ? unit : kSharedLink;
    }
    links.clear();
  };
  std::set<std::pair<int, int>> seen;
  for (const MatchedMessage& m : matching_.messages) {
    if (m.kept || !seen.insert({m.src, m.dst}).second) continue;
    machine_->LinksBetween(m.src, m.dst, &links);
    mark(kSharedLink);
  }
  for (const uint32_t call : of_plans) {
    const uint32_t unit = unit_of[matching_.calls[call].group];
    if (!LinksOf(call, *plan_of[call], &links)) apart_[unit] = false;
    mark(unit);
  }
  for (const uint32_t call : of_plans) {
    const uint32_t unit = unit_of[matching_.calls[call].group];
    if (!apart_[unit]) continue;
    LinksOf(call, *plan_of[call], &links);
    apart_[unit] =
        std::all_of(links.begin(), links.end(), [&](const Hop& h) { return user[h.link] == unit; });
    links.clear();
  }
}

void ApartCalls::Find(const std::vector<bool>& serial, const std::vector<const PlannedCall*>& plan_of,
                      Simulate simulate) {
  simulate_ = simulate;
  free_ = machine_->contention_free();
  if (free_) {
    // Paths through a network may differ from message to message.
    if (machine_->topology().has_network()) return;
    apart_.assign(matching_.groups.size(), true);
    can_.assign(plan_of.size(), false);
    for (size_t c = 0; c < plan_of.size(); ++c)
      can_[c] = plan_of[c] != nullptr && plan_of[c]->plan != nullptr && !plan_of[c]->plan->rotational;
    return;
  }
  if (machine_->MakeApart() == nullptr) return;
  const std::vector<uint32_t> unit_of = GroupsOfSameRanks(matching_);
  const size_t groups = matching_.groups.size();
  std::vector<uint32_t> of_plans;  // one call for each plan and group
  std::set<std::tuple<const Plan*, uint32_t, bool>> seen;
  std::set<uint32_t> units, used;
  size_t pairs = 0;
  can_.assign(plan_of.size(), false);
  last_.assign(groups, kNoRow);
  for (uint32_t c = 0; c < plan_of.size(); ++c) {
    if (plan_of[c] == nullptr) continue;
    const Plan* plan = plan_of[c]->plan;
    const uint32_t group = matching_.calls[c].group;
    if (plan == nullptr) return;
    used.insert(group);
    units.insert(unit_of[group]);
    uint32_t& last = last_[group];
    if (last == kNoRow || matching_.calls[c].position > matching_.calls[last].position) last = c;
    can_[c] = plan->rotational || !plan->switches.empty();
    const auto& levels = plan_of[c]->costs.levels;
    const bool spread = std::any_of(levels.begin(), levels.end(), [](const auto& l) { return l.cards > 1; });
    if (!seen.insert({plan, group, spread}).second) continue;
    of_plans.push_back(c);
    pairs += paths_.CountPairs(*plan);
  }
  apart_ = serial;
  const bool alone = units.size() == 1 && std::all_of(matching_.messages.begin(), matching_.messages.end(),
                                                      [](const MatchedMessage& m) { return m.kept; });
  if (alone && HasAllLinks(of_plans, plan_of)) {
    // All links belong to the only unit.
  } else if (pairs > kMostPairs) {
    apart_.clear();
    return;
  } else {
    FindShared(unit_of, of_plans, plan_of);
  }
  for (size_t g = 0; g < groups; ++g) apart_[g] = apart_[unit_of[g]];
  std::vector<uint32_t> used_of(groups);  // by unit: groups that make calls
  for (const uint32_t g : used) ++used_of[unit_of[g]];
  for (const uint32_t g : used) {
    if (used_of[unit_of[g]] > 1) last_[g] = kNoRow;
    if (last_[g] != kNoRow) can_[last_[g]] = true;
  }
}

std::string ApartCalls::KeyOf(uint32_t call, const PlannedCall& planned) {
  const CollectiveCall& c = matching_.calls[call];
  const CallCosts& costs = planned.costs;
  std::string key = absl::StrCat(reinterpret_cast<uintptr_t>(planned.plan), " ", static_cast<int>(c.type),
                                 " ", c.root, " ", c.bytes, " ", costs.begin.picos(), " ", costs.parts, " ",
                                 costs.at_once, " ", costs.part_end.picos());
  for (const CallCosts::Level& l : costs.levels) {
    absl::StrAppend(&key, " ", l.latency.picos(), ",", l.wire, ",", l.limit.bytes_per_second());
  }
  if (free_) return key + PathsOf(c.group, planned);
  const Plan& plan = *planned.plan;
  if (paths_.CountPairs(plan) > kKeyPairs) return absl::StrCat(key, " group ", c.group);
  absl::flat_hash_map<uint32_t, uint32_t> number;  // of links, in the order of their first use
  std::vector<Hop> links;
  for (const auto& [from, to] : paths_.PairsOf(plan)) {
    const CallPath path = paths_.Of(c.group, planned, from, to);
    links.clear();
    machine_->LinksBetween(path.src, path.dst, &links);
    absl::StrAppend(&key, ";", costs.levels.empty() ? 0 : path.level);
    for (const Hop& hop : links) {
      const auto n = static_cast<uint32_t>(number.size());
      absl::StrAppend(&key, " ", number.try_emplace(hop.link, n).first->second, "/", hop.link_class);
    }
  }
  return key;
}

std::string ApartCalls::PathsOf(uint32_t group, const PlannedCall& planned) {
  const Topology& topology = machine_->topology();
  const auto dimensions = static_cast<int>(topology.dimensions().size());
  std::map<std::vector<int>, uint32_t> kinds;
  std::vector<int> way;
  std::string key;
  for (const auto& [from, to] : paths_.PairsOf(*planned.plan)) {
    const CallPath path = paths_.Of(group, planned, from, to);
    way.assign(1, path.level);
    const bool at_switch = topology.IsSwitch(path.src) || topology.IsSwitch(path.dst);
    for (int d = 0; d < dimensions && !at_switch; ++d) {
      const int a = machine_->Coordinate(path.src, d), b = machine_->Coordinate(path.dst, d);
      way.push_back(a == b ? 0 : topology.LinksWithin(d, a, b));
    }
    const uint32_t kind = kinds.try_emplace(way, static_cast<uint32_t>(kinds.size())).first->second;
    key.append(reinterpret_cast<const char*>(&kind), sizeof(kind));
  }
  for (const auto& [links, kind] : kinds) absl::StrAppend(&key, ";", kind, ":", absl::StrJoin(links, " "));
  return key;
}

ApartCalls::Outcome ApartCalls::Simulated(uint32_t call, const PlannedCall& planned) {
  const CollectiveCall& c = matching_.calls[call];
  const GroupInfo& group = matching_.groups[c.group];
  Outcome outcome;
  outcome.members = group.members;
  outcome.matching.groups.push_back({group.name, group.members, group.size, {}, {}});
  outcome.matching.calls.push_back(c);
  outcome.matching.calls[0].group = 0;
  simulate_(free_ ? machine_ : machine_->MakeApart().get(), costs_, planner_, planned, &outcome);
  return outcome;
}

const ApartCalls::Outcome* ApartCalls::Of(uint32_t call, const PlannedCall& planned) {
  const CollectiveCall& c = matching_.calls[call];
  const bool alone = free_ || last_[c.group] == call;  // the members may end at different times
  // If the members do not all end together for one size, they hardly do for other sizes.
  if (!alone && apart_ends_.contains(planned.plan)) return nullptr;
  const Outcome*& known = known_[{&planned, c.group, c.bytes}];
  if (known == nullptr) {
    std::unique_ptr<Outcome>& outcome = outcomes_[KeyOf(call, planned)];
    const bool full =
        free_ ? ends_ > kMostEnds : outcomes_.size() * machine_->topology().links() > kMostPeaks;
    if (outcome == nullptr && full) {
      outcome = std::make_unique<Outcome>();  // without ends
    } else if (outcome == nullptr) {
      outcome = std::make_unique<Outcome>(Simulated(call, planned));
      ends_ += outcome->ends.size();
    }
    known = outcome.get();
    if (!known->together && !known->ends.empty()) apart_ends_.insert(planned.plan);
  }
  return !known->ends.empty() && (known->together || alone) ? known : nullptr;
}

void ApartCalls::Count(uint32_t call, const PlannedCall& planned, const Outcome* outcome, uint64_t times) {
  const CollectiveCall& c = matching_.calls[call];
  const auto [at, fresh] = use_of_.try_emplace({&planned, c.group, c.bytes}, uses_.size());
  if (fresh) uses_.push_back({&planned, call, outcome});
  uses_[at->second].times += times;
}

void ApartCalls::Report() {
  for (const Use& use : uses_) {
    const Plan& plan = *use.planned->plan;
    const CallCosts& costs = use.planned->costs;
    const CollectiveCall& call = matching_.calls[use.call];
    const std::vector<int>& members = matching_.groups[call.group].members;
    const bool alike = plan.rotational && EqualChunk(*use.planned, call.bytes) != kUnevenChunks;
    std::map<std::pair<int, uint64_t>, uint64_t> messages;
    for (int node = 0; node < plan.nodes(); ++node) {
      if (node == 0 || !alike) messages = MessagesOf(*use.planned, call.bytes, node);
      const auto at = [&](const std::vector<int>& of, int n) { return EndpointOf(*machine_, plan, of, n); };
      const int src = at(members, node);
      for (const auto& [way, count] : messages) {
        const int peer = plan.rotational ? (node + way.first) % plan.members : way.first;
        const int dst = at(members, peer);
        if (machine_->contention_free()) {
          machine_->Account(src, dst, way.second, count * use.times);
          continue;
        }
        const uint64_t wire =
            costs.levels.empty() ? way.second : costs.OnWire(way.second, machine_->Level(src, dst));
        machine_->CountApart(src, dst, way.second, wire, count * use.times, at(use.outcome->members, node),
                             at(use.outcome->members, peer), use.outcome->peaks);
      }
    }
  }
}

}  // namespace chakra
