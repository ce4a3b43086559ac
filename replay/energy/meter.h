// Meters a run: each device is a state machine whose changes the engine tells.
//
// At each instant a device draws
//
//   min(most, resident + (busy | wait | 0) + sum over running operations of what each adds)
//
// busy: a computation runs; wait: none runs, but communication waits or moves data. What a computation adds
// is in proportion to how much of the peak, of the multiprocessors and of the memory bandwidth it uses
// (row_power.h), so that its energy does not depend on what runs beside it. Where the sum is above `most`,
// what operations add is cut in proportion.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "replay/energy/amounts.h"
#include "replay/energy/curve.h"
#include "replay/engine/observer.h"
#include "trace/base/units.h"

namespace chakra::energy {

// What makes an operation draw power.
enum class Part : uint8_t { kTensor, kIssue, kMemory, kLink, kCopy };
inline constexpr int kParts = 5;

// What a row does to its device.
enum class Role : uint8_t { kNone, kComputes, kCommunicates, kCopies };

// What a row adds while it runs; of communication while it moves data.
struct RowPower {
  Milliwatts tensor = 0;  // of Part::kTensor
  Milliwatts issue = 0;   // of Part::kIssue
  Milliwatts other = 0;   // of part()
  Role role = Role::kNone;
  Milliwatts all() const { return tensor + issue + other; }
  Part part() const {
    return role == Role::kCommunicates ? Part::kLink : role == Role::kCopies ? Part::kCopy : Part::kMemory;
  }
};

// Of a device, in milliwatts. resident + max(busy, wait) <= most.
struct DeviceLevels {
  Milliwatts resident = 0, busy = 0, wait = 0, most = 0;
};

// Where devices are: by rank, from 0.
struct Places {
  std::vector<uint32_t> node, rack;
  uint32_t nodes = 0, racks = 0;
};

class PowerMeter final : public RunObserver {
 public:
  // By distinct graph and row: what rows add. All is borrowed until the meter is gone. `keep_devices`: the
  // curve of each device, and the steps of those of nodes and racks, for timelines.
  PowerMeter(const DeviceLevels& levels, const std::vector<std::vector<RowPower>>& rows,
             const std::vector<uint32_t>& graph_of_rank, const Places& places, bool keep_devices);

  void Begin(uint32_t rank, uint32_t row, Time now) override;
  void Wait(uint32_t rank, uint32_t row, Time now) override;
  void Transfer(uint32_t rank, uint32_t row, Time now) override;
  void Arrive(uint32_t rank, uint32_t row, uint32_t call, uint32_t members, Time now) override;
  void End(uint32_t rank, uint32_t row, Time now) override;

  // After the run, which ended at `end`. What follows is of a meter that has finished.
  void Finish(Time end);

  // Sums over all ranks of the time in which ...
  Picoseconds resident_ps() const { return resident_ps_; }  // they were there
  Picoseconds busy_ps() const { return busy_ps_; }          // a computation ran
  Picoseconds wait_ps() const { return wait_ps_; }          // none ran, but communication did
  // What all rows of one graph drew, over its ranks: by row, and by part.
  Femtojoules RowEnergy(size_t graph, uint32_t row) const;
  Femtojoules PartEnergy(Part part) const { return parts_[static_cast<size_t>(part)]; }
  Femtojoules DeviceEnergy(size_t rank) const { return devices_[rank].sums.energy(); }
  Milliwatts DevicePeak(size_t rank) const {
    const Device& d = devices_[rank];
    return d.sums.peak(d.power);
  }
  Milliwatts DeviceLeast(size_t rank) const {
    const Device& d = devices_[rank];
    return d.sums.least(d.power);
  }
  // Sum of all devices'.
  Femtojoules energy() const { return whole_.energy(); }
  const PowerCurve& whole() const { return whole_; }
  // Of a meter that keeps devices.
  const PowerCurve& device(size_t rank) const { return curves_[rank]; }
  const std::vector<PowerCurve>& nodes() const { return nodes_; }
  const std::vector<PowerCurve>& racks() const { return racks_; }

 private:
  // What a row adds, and how: all that events need of it.
  struct Added {
    Milliwatts watts = 0;
    Role role = Role::kNone;
  };
  // A row that runs and adds something, and since when.
  struct Running {
    uint32_t row;
    Time since;
  };
  struct Device {
    Milliwatts added = 0;         // by what runs
    Milliwatts power = 0;         // as of `since`
    Milliwatts excess = 0;        // that was cut from it
    const Added* rows = nullptr;  // of its graph
    uint32_t graph = 0;
    uint32_t computing = 0;      // operations
    uint32_t communicating = 0;  // likewise, waiting or moving data
    bool changes = false;        // in the present instant
    Time since, busy, wait;      // the last change; time in which it computed, or else communicated
    PowerSums sums;
    absl::InlinedVector<Running, 3> running;  // those that add something
  };

  // Before the first change of a device in an instant: counts what has been since the last one.
  Device& Touch(uint32_t rank, Time now) {
    if (now > instant_) Flush(now);
    Device& d = devices_[rank];
    if (d.changes) return d;
    d.changes = true;
    changed_.push_back(rank);
    Settle(&d, now);
    return d;
  }
  // After all changes of an instant: what follows from them. The next one is `now`.
  void Flush(Time now);
  static void Add(Device* d, uint32_t row, Time now) {
    const Milliwatts adds = d->rows[row].watts;
    if (adds == 0) return;
    d->added += adds;
    d->running.push_back({row, now});
  }
  // Counts a row that has ended.
  void Count(const Device& d, const Running& ended, Time now);
  void Settle(Device* d, Time now);
  // Returns by how much the device's power has changed.
  Milliwatts Update(uint32_t rank);
  // Shares what was cut from what rows add among these.
  void Cut(Device* d, Milliwatts excess, Picoseconds ps);

  const DeviceLevels levels_;
  const std::vector<std::vector<RowPower>>& rows_;
  const Places& places_;
  std::vector<std::vector<Added>> added_;  // as rows_
  std::vector<Device> devices_;
  Time instant_;
  std::vector<uint32_t> changed_;   // devices, in the present instant
  std::vector<PowerCurve> curves_;  // by rank; empty: not kept
  std::vector<PowerCurve> nodes_, racks_;
  PowerCurve whole_;
  std::vector<std::vector<Picoseconds>> active_ps_;  // by graph and row: of all that have ended
  std::vector<std::vector<Femtojoules>> cut_;        // likewise; empty: nothing was
  std::array<Femtojoules, kParts> parts_{};
  Picoseconds resident_ps_ = 0, busy_ps_ = 0, wait_ps_ = 0;
  struct Member {
    uint32_t rank, row;
  };
  absl::flat_hash_map<uint32_t, std::vector<Member>> arrived_;  // by call that waits for members
  std::vector<std::vector<Member>> spare_;                      // memory of calls that have begun
};

}  // namespace chakra::energy
