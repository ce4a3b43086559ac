#include "replay/energy/meter.h"

#include <algorithm>
#include <utility>

namespace chakra::energy {

PowerMeter::PowerMeter(const DeviceLevels& levels, const std::vector<std::vector<RowPower>>& rows,
                       const std::vector<uint32_t>& graph_of_rank, const Places& places, bool keep_devices,
                       const SymmetricRanks* symmetric)
    : levels_(levels), rows_(rows), places_(places), symmetric_(symmetric), cut_(rows.size()) {
  if (symmetric_ != nullptr && !symmetric_->empty()) {
    stands_for_.resize(symmetric_->size());
    for (uint32_t r = 0; r < symmetric_->size(); ++r) {
      if (IsSymmetricRank(symmetric_, static_cast<int>(r)))
        stands_for_[static_cast<size_t>((*symmetric_)[r])].push_back(r);
    }
  }
  for (const std::vector<RowPower>& graph : rows) {
    std::vector<Role>& roles = roles_.emplace_back();
    std::vector<Milliwatts>& adds = adds_.emplace_back();
    for (const RowPower& row : graph) {
      roles.push_back(row.role);
      adds.push_back(row.all());
    }
    active_ps_.emplace_back(graph.size());
  }
  members_.resize(graph_of_rank.size());
  groups_.resize(rows.size());
  for (uint32_t graph = 0; graph < groups_.size(); ++graph) {
    groups_[graph].power = levels.resident;
    groups_[graph].graph = graph;
    groups_[graph].roles = roles_[graph].data();
    groups_[graph].adds = adds_[graph].data();
  }
  std::vector<Milliwatts> node(places.nodes), rack(places.racks);
  for (uint32_t r = 0; r < members_.size(); ++r) {
    if (!IsSymmetricRank(symmetric_, static_cast<int>(r))) Enter(r, graph_of_rank[r], 0);
    if (keep_devices) curves_.emplace_back(levels.resident, true);
    node[places.node[r]] += levels.resident;
    rack[places.rack[r]] += levels.resident;
  }
  for (Group& group : groups_) group.lists = group.ranks.size() > 1;
  for (const Milliwatts power : node) nodes_.emplace_back(power, keep_devices);
  for (const Milliwatts power : rack) racks_.emplace_back(power, keep_devices);
  whole_ = PowerCurve(levels.resident * static_cast<int64_t>(members_.size()), true);
}

void PowerMeter::Begin(uint32_t rank, uint32_t row, Time now) { TellRole(rank, {row, Kind::kBegin}, now); }

void PowerMeter::Wait(uint32_t rank, uint32_t row, Time now) { Tell(rank, {row, Kind::kWait}, now); }

void PowerMeter::Transfer(uint32_t rank, uint32_t row, Time now) { Tell(rank, {row, Kind::kTransfer}, now); }

void PowerMeter::End(uint32_t rank, uint32_t row, Time now) { TellRole(rank, {row, Kind::kEnd}, now); }

void PowerMeter::Arrive(uint32_t rank, uint32_t row, uint32_t call, uint32_t members, Time now) {
  Wait(rank, row, now);
  if (members <= 1) return Transfer(rank, row, now);
  if (call >= arrived_.size()) arrived_.resize(std::max<size_t>(call + 1, 2 * arrived_.size()));
  if (arrived_[call] == 0) {
    if (spare_.empty()) {
      spare_.push_back(static_cast<uint32_t>(waiting_.size()));
      waiting_.emplace_back();
    }
    arrived_[call] = spare_.back() + 1;
    spare_.pop_back();
  }
  const uint32_t at = arrived_[call] - 1;
  std::vector<Arrived>& all = waiting_[at];
  all.push_back({rank, row});
  if (all.size() < members) return;
  for (const Arrived& a : all) Transfer(a.rank, a.row, now);
  all.clear();
  arrived_[call] = 0;
  spare_.push_back(at);
}

void PowerMeter::Remove(Group* g, uint32_t row) {
  if (g->roles[row] == Role::kComputes) --g->computing;
  if (g->roles[row] == Role::kCommunicates) --g->communicating;
  if (g->adds[row] == 0) return;
  for (Running& running : g->running) {
    if (running.row != row) continue;
    g->added -= g->adds[row];
    Count(*g, running, instant_);
    running = g->running.back();
    g->running.pop_back();
    return;
  }
}

PowerMeter::Place* PowerMeter::PlaceOf(Group* g, uint32_t rank) const {
  const uint32_t node = places_.node[rank];
  const auto at = std::lower_bound(g->places.begin(), g->places.end(), node,
                                   [](const Place& place, uint32_t n) { return place.node < n; });
  if (at != g->places.end() && at->node == node) return &*at;
  return &*g->places.insert(at, {node, places_.rack[rank], 0});
}

void PowerMeter::Enter(uint32_t rank, uint32_t group, size_t events) {
  Group& g = groups_[group];
  members_[rank] = {group, static_cast<uint32_t>(g.ranks.size()), g.base + static_cast<uint32_t>(events)};
  g.ranks.push_back(rank);
  g.told += events;
  AddDevices(&g, rank, 1);
}

void PowerMeter::Leave(uint32_t rank) {
  const Member m = members_[rank];
  Group& g = groups_[m.group];
  g.told -= m.told - g.base;
  g.ranks[m.index] = g.ranks.back();
  members_[g.ranks[m.index]].index = m.index;
  g.ranks.pop_back();
  AddDevices(&g, rank, -1);
}

void PowerMeter::AddDevices(Group* g, uint32_t rank, int64_t more) const {
  const auto add = [&](uint32_t device) {
    g->devices += more;
    PlaceOf(g, device)->devices += more;
  };
  add(rank);
  if (stands_for_.empty()) return;
  for (const uint32_t is_symmetric : stands_for_[rank]) add(is_symmetric);
}

uint32_t PowerMeter::Fork(uint32_t group, size_t events) {
  const auto fork = static_cast<uint32_t>(groups_.size());
  Group& from = groups_[group];
  // Copies everything except the members, which may be many.
  std::vector<uint32_t> ranks = std::exchange(from.ranks, {});
  std::vector<Place> places = std::exchange(from.places, {});
  Group copy = from;
  from.ranks = std::move(ranks);
  from.places = std::move(places);
  copy.events.resize(events);
  copy.partings.clear();
  copy.told = 0;
  copy.devices = 0;
  copy.lists = true;
  copy.changes = true;
  groups_.push_back(std::move(copy));
  changed_.push_back(fork);
  return fork;
}

void PowerMeter::Part(uint32_t rank, size_t at, Event event) {
  const uint32_t group = members_[rank].group;
  --members_[rank].told;  // for `event`, which the group did not have
  Leave(rank);
  for (const Parting& parting : groups_[group].partings) {
    if (parting.at == at && groups_[parting.group].events[at] == event)
      return Enter(rank, parting.group, at + 1);
  }
  const uint32_t fork = Fork(group, at);
  groups_[fork].events.push_back(event);
  groups_[group].partings.push_back({at, fork});
  Enter(rank, fork, at + 1);
}

void PowerMeter::PartByCount(uint32_t group) {
  const uint32_t base = groups_[group].base;
  std::vector<uint32_t> members(groups_[group].events.size() + 1), fork(members.size());
  for (const uint32_t rank : groups_[group].ranks) ++members[members_[rank].told - base];
  const auto most = static_cast<size_t>(std::max_element(members.begin(), members.end()) - members.begin());
  std::vector<uint32_t> others;
  for (const uint32_t rank : groups_[group].ranks) {
    if (members_[rank].told - base != most) others.push_back(rank);
  }
  for (const uint32_t rank : others) {
    const size_t told = members_[rank].told - base;
    if (fork[told] == 0) fork[told] = Fork(group, told);
    Leave(rank);
    Enter(rank, fork[told], told);
  }
  groups_[group].events.resize(most);
}

void PowerMeter::Count(const Group& g, const Running& ended, Time now) {
  active_ps_[g.graph][ended.row] += Picoseconds{(now - ended.since).picos()} * g.devices;
}

void PowerMeter::Settle(Group* g, Time now) {
  const Time span = now - g->since;
  if (span == Time::Zero()) return;
  g->since = now;
  g->sums.Add(g->power, span);
  if (g->computing > 0) {
    g->busy += span;
  } else if (g->communicating > 0) {
    g->wait += span;
  }
  if (g->excess > 0) Cut(g, g->excess, span.picos());
}

void PowerMeter::Flush(Time now) {
  // Groups that split off during this loop are appended to changed_.
  for (size_t i = 0; i < changed_.size(); ++i) {
    Group* g = &groups_[changed_[i]];
    if (g->lists && g->told != g->events.size() * g->ranks.size()) {
      PartByCount(changed_[i]);
      g = &groups_[changed_[i]];
    }
    g->changes = false;
    if (g->lists && !Play(g)) continue;
    const Milliwatts by = Update(g);
    if (by != 0) whole_.Change(by * g->devices, instant_);
  }
  changed_.clear();
  instant_ = now;
}

bool PowerMeter::Play(Group* g) {
  g->lists = g->ranks.size() > 1;
  g->partings.clear();
  if (g->events.empty()) return false;
  Settle(g, instant_);
  for (const Event event : g->events) Apply(g, event);
  g->base += static_cast<uint32_t>(g->events.size());
  g->told = 0;
  g->events.clear();
  return true;
}

Milliwatts PowerMeter::Update(Group* g) {
  Milliwatts power = levels_.resident + g->added;
  if (g->computing > 0) {
    power += levels_.busy;
  } else if (g->communicating > 0) {
    power += levels_.wait;
  }
  g->excess = std::max<Milliwatts>(0, power - levels_.most);
  const Milliwatts by = power - g->excess - g->power;
  if (by == 0) return 0;
  g->power += by;
  if (!curves_.empty()) {
    for (const uint32_t rank : g->ranks) curves_[rank].Change(by, instant_);
  }
  if (places_.nodes == 1 && places_.racks == 1) return by;
  for (const Place& place : g->places) {
    if (places_.nodes > 1) nodes_[place.node].Change(by * place.devices, instant_);
    if (places_.racks > 1) racks_[place.rack].Change(by * place.devices, instant_);
  }
  return by;
}

void PowerMeter::Cut(Group* g, Milliwatts excess, Picoseconds ps) {
  std::vector<Femtojoules>& cut = cut_[g->graph];
  if (cut.empty()) cut.resize(active_ps_[g->graph].size());
  const Femtojoules all = EnergyOf(excess, ps);
  Femtojoules left = all;
  for (size_t i = 0; i < g->running.size(); ++i) {
    const Femtojoules share = i + 1 == g->running.size() ? left : all * g->adds[g->running[i].row] / g->added;
    left -= share;
    cut[g->running[i].row] += share * g->devices;
  }
}

void PowerMeter::Finish(Time end) {
  Flush(end);
  resident_ps_ = Picoseconds{end.picos()} * static_cast<int64_t>(members_.size());
  for (Group& g : groups_) {
    Settle(&g, end);
    for (const Running& running : g.running) Count(g, running, end);  // the run ended before the row
    g.running.clear();
    busy_ps_ += Picoseconds{g.busy.picos()} * g.devices;
    wait_ps_ += Picoseconds{g.wait.picos()} * g.devices;
  }
  for (PowerCurve& curve : curves_) curve.End(end);
  whole_.End(end);
  // A single node or rack is the whole machine.
  for (std::vector<PowerCurve>* curves : {&nodes_, &racks_}) {
    if (curves->size() == 1) curves->front() = whole_;
    for (PowerCurve& curve : *curves) curve.End(end);
  }
  for (size_t g = 0; g < rows_.size(); ++g) {
    for (size_t row = 0; row < rows_[g].size(); ++row) {
      const RowPower& power = rows_[g][row];
      if (power.all() == 0) continue;
      const Femtojoules cut = cut_[g].empty() ? 0 : cut_[g][row];
      const Femtojoules of_tensor = cut * power.tensor / power.all(),
                        of_issue = cut * power.issue / power.all();
      const Picoseconds active = active_ps_[g][row];
      parts_[static_cast<size_t>(Part::kTensor)] += EnergyOf(power.tensor, active) - of_tensor;
      parts_[static_cast<size_t>(Part::kIssue)] += EnergyOf(power.issue, active) - of_issue;
      parts_[static_cast<size_t>(power.part())] +=
          EnergyOf(power.other, active) - (cut - of_tensor - of_issue);
    }
  }
}

Femtojoules PowerMeter::RowEnergy(size_t graph, uint32_t row) const {
  const Femtojoules energy = EnergyOf(rows_[graph][row].all(), active_ps_[graph][row]);
  return cut_[graph].empty() ? energy : energy - cut_[graph][row];
}

}  // namespace chakra::energy
