#include "replay/energy/meter.h"

#include <algorithm>
#include <utility>

namespace chakra::energy {

PowerMeter::PowerMeter(const DeviceLevels& levels, const std::vector<std::vector<RowPower>>& rows,
                       const std::vector<uint32_t>& graph_of_rank, const Places& places, bool keep_devices)
    : levels_(levels), rows_(rows), graph_of_(graph_of_rank), places_(places), cut_(rows.size()) {
  devices_.resize(graph_of_rank.size());
  std::vector<Milliwatts> node(places.nodes), rack(places.racks);
  for (size_t r = 0; r < devices_.size(); ++r) {
    devices_[r].power = levels.resident;
    devices_[r].curve = PowerCurve(levels.resident, keep_devices);
    node[places.node[r]] += levels.resident;
    rack[places.rack[r]] += levels.resident;
  }
  for (const Milliwatts power : node) nodes_.emplace_back(power, keep_devices);
  for (const Milliwatts power : rack) racks_.emplace_back(power, keep_devices);
  whole_ = PowerCurve(levels.resident * static_cast<int64_t>(devices_.size()), true);
  for (const std::vector<RowPower>& graph : rows) active_ps_.emplace_back(graph.size());
}

void PowerMeter::Begin(uint32_t rank, uint32_t row, Time now) {
  const Role role = rows_[graph_of_[rank]][row].role;
  if (role == Role::kNone) return;
  Device& d = Touch(rank, now);
  if (role == Role::kComputes) ++d.computing;
  if (role == Role::kCommunicates) ++d.communicating;  // of unknown kind: it keeps its recorded time
  Add(d, rank, row, now);
}

void PowerMeter::Wait(uint32_t rank, uint32_t /*row*/, Time now) { ++Touch(rank, now).communicating; }

void PowerMeter::Transfer(uint32_t rank, uint32_t row, Time now) { Add(Touch(rank, now), rank, row, now); }

void PowerMeter::Arrive(uint32_t rank, uint32_t row, uint32_t call, uint32_t members, Time now) {
  Wait(rank, row, now);
  if (members <= 1) return Transfer(rank, row, now);
  std::vector<Member>& arrived = arrived_[call];
  arrived.push_back({rank, row});
  if (arrived.size() < members) return;
  const std::vector<Member> all = std::move(arrived);
  arrived_.erase(call);
  for (const Member& m : all) Transfer(m.rank, m.row, now);
}

void PowerMeter::End(uint32_t rank, uint32_t row, Time now) {
  const RowPower& power = rows_[graph_of_[rank]][row];
  if (power.role == Role::kNone) return;
  Device& d = Touch(rank, now);
  if (power.role == Role::kComputes) --d.computing;
  if (power.role == Role::kCommunicates) --d.communicating;
  const auto at = std::find(d.active.begin(), d.active.end(), row);
  if (at == d.active.end()) return;
  d.added -= power.all();
  active_ps_[graph_of_[rank]][row] += now.picos();
  *at = d.active.back();
  d.active.pop_back();
}

void PowerMeter::Add(Device& d, uint32_t rank, uint32_t row, Time now) {
  const uint32_t graph = graph_of_[rank];
  const Milliwatts adds = rows_[graph][row].all();
  if (adds == 0) return;
  d.added += adds;
  d.active.push_back(row);
  active_ps_[graph][row] -= now.picos();
}

void PowerMeter::Settle(uint32_t rank, Time now) {
  Device& d = devices_[rank];
  const Time span = now - d.since;
  d.since = now;
  if (d.computing > 0) {
    d.busy += span;
  } else if (d.communicating > 0) {
    d.wait += span;
  }
  if (d.excess > 0) Cut(rank, d.excess, span.picos());
}

void PowerMeter::Flush(Time now) {
  for (const uint32_t rank : changed_) Update(rank);
  changed_.clear();
  instant_ = now;
}

void PowerMeter::Update(uint32_t rank) {
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
  if (by == 0) return;
  d.power += by;
  d.curve.Change(by, instant_);
  if (places_.nodes > 1) nodes_[places_.node[rank]].Change(by, instant_);
  if (places_.racks > 1) racks_[places_.rack[rank]].Change(by, instant_);
  whole_.Change(by, instant_);
}

void PowerMeter::Cut(uint32_t rank, Milliwatts excess, Picoseconds ps) {
  const Device& d = devices_[rank];
  const std::vector<RowPower>& rows = rows_[graph_of_[rank]];
  const Femtojoules all = EnergyOf(excess, ps);
  Femtojoules left = all;
  for (size_t i = 0; i < d.active.size(); ++i) {
    const RowPower& row = rows[d.active[i]];
    const Femtojoules share = i + 1 == d.active.size() ? left : all * row.all() / d.added;
    const Femtojoules of_tensor = share * row.tensor / row.all(), of_issue = share * row.issue / row.all();
    left -= share;
    cut_[graph_of_[rank]][d.active[i]] += share;
    parts_[static_cast<size_t>(Part::kTensor)] -= of_tensor;
    parts_[static_cast<size_t>(Part::kIssue)] -= of_issue;
    parts_[static_cast<size_t>(row.part())] -= share - of_tensor - of_issue;
  }
}

void PowerMeter::Finish(Time end) {
  Flush(end);
  resident_ps_ = Picoseconds{end.picos()} * static_cast<int64_t>(devices_.size());
  for (uint32_t r = 0; r < devices_.size(); ++r) {
    Device& d = devices_[r];
    Settle(r, end);
    d.curve.End(end);
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
      parts_[static_cast<size_t>(Part::kTensor)] += EnergyOf(power.tensor, active_ps_[g][row]);
      parts_[static_cast<size_t>(Part::kIssue)] += EnergyOf(power.issue, active_ps_[g][row]);
      parts_[static_cast<size_t>(power.part())] += EnergyOf(power.other, active_ps_[g][row]);
    }
  }
}

Femtojoules PowerMeter::RowEnergy(size_t graph, uint32_t row) const {
  const Femtojoules energy = EnergyOf(rows_[graph][row].all(), active_ps_[graph][row]);
  if (cut_[graph].empty()) return energy;
  const auto cut = cut_[graph].find(row);
  return cut == cut_[graph].end() ? energy : energy - cut->second;
}

}  // namespace chakra::energy
