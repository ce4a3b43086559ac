#include "replay/energy/meter.h"

#include <algorithm>
#include <utility>

namespace chakra::energy {

PowerMeter::PowerMeter(const DeviceLevels& levels, const std::vector<std::vector<RowPower>>& rows,
                       const std::vector<uint32_t>& graph_of_rank, const Places& places, bool keep_devices)
    : levels_(levels), rows_(rows), places_(places), cut_(rows.size()) {
  for (const std::vector<RowPower>& graph : rows) {
    std::vector<Added>& added = added_.emplace_back();
    for (const RowPower& row : graph) added.push_back({row.all(), row.role});
    active_ps_.emplace_back(graph.size());
  }
  devices_.resize(graph_of_rank.size());
  std::vector<Milliwatts> node(places.nodes), rack(places.racks);
  for (size_t r = 0; r < devices_.size(); ++r) {
    devices_[r].power = levels.resident;
    if (keep_devices) curves_.emplace_back(levels.resident, true);
    devices_[r].graph = graph_of_rank[r];
    devices_[r].rows = added_[graph_of_rank[r]].data();
    node[places.node[r]] += levels.resident;
    rack[places.rack[r]] += levels.resident;
  }
  for (const Milliwatts power : node) nodes_.emplace_back(power, keep_devices);
  for (const Milliwatts power : rack) racks_.emplace_back(power, keep_devices);
  whole_ = PowerCurve(levels.resident * static_cast<int64_t>(devices_.size()), true);
}

void PowerMeter::Begin(uint32_t rank, uint32_t row, Time now) {
  const Role role = devices_[rank].rows[row].role;
  if (role == Role::kNone) return;
  Device& d = Touch(rank, now);
  if (role == Role::kComputes) ++d.computing;
  if (role == Role::kCommunicates) ++d.communicating;  // of unknown kind: it keeps its recorded time
  Add(&d, row, now);
}

void PowerMeter::Wait(uint32_t rank, uint32_t /*row*/, Time now) { ++Touch(rank, now).communicating; }

void PowerMeter::Transfer(uint32_t rank, uint32_t row, Time now) { Add(&Touch(rank, now), row, now); }

void PowerMeter::Arrive(uint32_t rank, uint32_t row, uint32_t call, uint32_t members, Time now) {
  Wait(rank, row, now);
  if (members <= 1) return Transfer(rank, row, now);
  const auto [it, fresh] = arrived_.try_emplace(call);
  if (fresh && !spare_.empty()) {
    it->second = std::move(spare_.back());
    spare_.pop_back();
  }
  it->second.push_back({rank, row});
  if (it->second.size() < members) return;
  std::vector<Member> all = std::move(it->second);
  arrived_.erase(it);
  for (const Member& m : all) Transfer(m.rank, m.row, now);
  all.clear();
  spare_.push_back(std::move(all));
}

void PowerMeter::End(uint32_t rank, uint32_t row, Time now) {
  const Added& added = devices_[rank].rows[row];
  if (added.role == Role::kNone) return;
  Device& d = Touch(rank, now);
  if (added.role == Role::kComputes) --d.computing;
  if (added.role == Role::kCommunicates) --d.communicating;
  if (added.watts == 0) return;
  for (Running& running : d.running) {
    if (running.row != row) continue;
    d.added -= added.watts;
    Count(d, running, now);
    running = d.running.back();
    d.running.pop_back();
    return;
  }
}

void PowerMeter::Count(const Device& d, const Running& ended, Time now) {
  active_ps_[d.graph][ended.row] += (now - ended.since).picos();
}

void PowerMeter::Settle(Device* d, Time now) {
  const Time span = now - d->since;
  if (span == Time::Zero()) return;
  d->since = now;
  d->sums.Add(d->power, span);
  if (d->computing > 0) {
    d->busy += span;
  } else if (d->communicating > 0) {
    d->wait += span;
  }
  if (d->excess > 0) Cut(d, d->excess, span.picos());
}

void PowerMeter::Flush(Time now) {
  Milliwatts by = 0;
  for (const uint32_t rank : changed_) by += Update(rank);
  if (by != 0) whole_.Change(by, instant_);
  changed_.clear();
  instant_ = now;
}

Milliwatts PowerMeter::Update(uint32_t rank) {
  Device& d = devices_[rank];
  d.changes = false;
  Milliwatts power = levels_.resident + d.added;
  if (d.computing > 0) {
    power += levels_.busy;
  } else if (d.communicating > 0) {
    power += levels_.wait;
  }
  d.excess = std::max<Milliwatts>(0, power - levels_.most);
  const Milliwatts by = power - d.excess - d.power;
  if (by == 0) return 0;
  d.power += by;
  if (!curves_.empty()) curves_[rank].Change(by, instant_);
  if (places_.nodes > 1) nodes_[places_.node[rank]].Change(by, instant_);
  if (places_.racks > 1) racks_[places_.rack[rank]].Change(by, instant_);
  return by;
}

void PowerMeter::Cut(Device* d, Milliwatts excess, Picoseconds ps) {
  std::vector<Femtojoules>& cut = cut_[d->graph];
  if (cut.empty()) cut.resize(active_ps_[d->graph].size());
  const Femtojoules all = EnergyOf(excess, ps);
  Femtojoules left = all;
  for (size_t i = 0; i < d->running.size(); ++i) {
    const Femtojoules share =
        i + 1 == d->running.size() ? left : all * d->rows[d->running[i].row].watts / d->added;
    left -= share;
    cut[d->running[i].row] += share;
  }
}

void PowerMeter::Finish(Time end) {
  Flush(end);
  resident_ps_ = Picoseconds{end.picos()} * static_cast<int64_t>(devices_.size());
  for (uint32_t r = 0; r < devices_.size(); ++r) {
    Device& d = devices_[r];
    Settle(&d, end);
    for (const Running& running : d.running) Count(d, running, end);  // the run ended before it
    d.running.clear();
    if (!curves_.empty()) curves_[r].End(end);
    busy_ps_ += d.busy.picos();
    wait_ps_ += d.wait.picos();
  }
  whole_.End(end);
  // One node, or one rack, is the whole.
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
