// Meters a run: each device is a state machine that is driven by the engine's events.
//
// At each instant a device draws
//
//   min(most, resident + (busy | wait | 0) + sum over running operations of what each adds)
//
// busy: a computation runs. wait: no computation runs, but communication waits or moves data. A computation
// adds power in proportion to its use of the peak, of the multiprocessors and of the memory bandwidth
// (row_power.h), so its energy does not depend on what else runs. If the sum is above `most`, the powers of
// the operations are cut in proportion.
//
// Ranks of a job often do the same at the same times. Devices that had the same events so far are one group
// with one state. A device with another event leaves its group with a copy of the state. All sums are of
// whole numbers, so results do not depend on the groups.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "replay/energy/amounts.h"
#include "replay/energy/curve.h"
#include "replay/engine/observer.h"
#include "trace/base/units.h"
#include "trace/model/symmetric_ranks.h"

namespace chakra::energy {

// The causes of an operation's power.
enum class Part : uint8_t { kTensor, kIssue, kMemory, kLink, kCopy };
inline constexpr int kParts = 5;

// What a row makes its device do.
enum class Role : uint8_t { kNone, kComputes, kCommunicates, kCopies };

// The power that a row adds while it runs; for communication, while it moves data.
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

// Levels of a device, in milliwatts. resident + max(busy, wait) <= most.
struct DeviceLevels {
  Milliwatts resident = 0, busy = 0, wait = 0, most = 0;
};

// The node and rack of each rank's device, numbered from 0.
struct Places {
  std::vector<uint32_t> node, rack;
  uint32_t nodes = 0, racks = 0;
};

class PowerMeter final : public RunObserver {
 public:
  // `rows`: by distinct graph and row, the power that rows add. Nothing is owned; all must outlive the meter.
  // `keep_devices`: keep the curve of each device, and the steps of nodes and racks, for timelines.
  // `symmetric`: symmetric ranks, whose events the meter does not get, since other ranks are simulated for
  // them; null: none. Not with `keep_devices`.
  PowerMeter(const DeviceLevels& levels, const std::vector<std::vector<RowPower>>& rows,
             const std::vector<uint32_t>& graph_of_rank, const Places& places, bool keep_devices,
             const SymmetricRanks* symmetric = nullptr);

  void Begin(uint32_t rank, uint32_t row, Time now) override;
  void Wait(uint32_t rank, uint32_t row, Time now) override;
  void Transfer(uint32_t rank, uint32_t row, Time now) override;
  void Arrive(uint32_t rank, uint32_t row, uint32_t call, uint32_t members, Time now) override;
  void End(uint32_t rank, uint32_t row, Time now) override;

  // Whether most devices have had the same events as others so far; an event then costs little.
  bool alike() const { return 4 * groups_.size() <= members_.size(); }

  // Call after the run, which ended at `end`. The functions below need a finished meter.
  void Finish(Time end);

  // Sums over all ranks of the time in which ...
  Picoseconds resident_ps() const { return resident_ps_; }  // the device was part of the run
  Picoseconds busy_ps() const { return busy_ps_; }          // a computation ran
  Picoseconds wait_ps() const { return wait_ps_; }          // no computation ran, but communication did
  // The energy of a row of a graph, and of a part of all rows, summed over ranks.
  Femtojoules RowEnergy(size_t graph, uint32_t row) const;
  Femtojoules PartEnergy(Part part) const { return parts_[static_cast<size_t>(part)]; }
  Femtojoules DeviceEnergy(size_t rank) const { return GroupOf(rank).sums.energy(); }
  Milliwatts DevicePeak(size_t rank) const { return GroupOf(rank).sums.peak(GroupOf(rank).power); }
  Milliwatts DeviceLeast(size_t rank) const { return GroupOf(rank).sums.least(GroupOf(rank).power); }
  // The sum over all devices.
  Femtojoules energy() const { return whole_.energy(); }
  const PowerCurve& whole() const { return whole_; }
  // Only for a meter that keeps devices.
  const PowerCurve& device(size_t rank) const { return curves_[rank]; }
  const std::vector<PowerCurve>& nodes() const { return nodes_; }
  const std::vector<PowerCurve>& racks() const { return racks_; }

 private:
  // A running row that adds power, and its start.
  struct Running {
    uint32_t row;
    Time since;
  };
  enum class Kind : uint32_t { kBegin, kWait, kTransfer, kEnd };
  struct Event {
    uint32_t row;
    Kind kind;
    bool operator==(const Event& other) const { return row == other.row && kind == other.kind; }
  };
  // The number of a group's devices in one node and its rack.
  struct Place {
    uint32_t node, rack;
    int64_t devices;
  };
  // Devices of a group that had other events in the present instant, from event number `at` on: their new
  // group.
  struct Parting {
    size_t at;
    uint32_t group;
  };
  // Devices of one graph with the same events at the same times: one state machine for all of them. Counts
  // and times below are those of one device.
  struct Group {
    // The members that Tell() uses come first, in one cache line.
    const Role* roles = nullptr;  // by row of the graph
    bool changes = false;         // has events in the present instant
    // True: events of the present instant are listed until all members had them. False: they are applied at
    // once.
    bool lists = false;
    uint32_t base = 0;  // Member::told before the present instant
    // The events of the present instant; each member had the first (Member::told - base) of them.
    std::vector<Event> events;
    uint64_t told = 0;                 // the sum over members of the number of events in the present instant
    const Milliwatts* adds = nullptr;  // by row of the graph
    uint32_t graph = 0;
    uint32_t computing = 0;      // number of running computations
    uint32_t communicating = 0;  // number of communications that wait or move data
    Milliwatts added = 0;        // by running rows
    Milliwatts power = 0;        // since `since`
    Milliwatts excess = 0;       // power that was cut
    Time since, busy, wait;  // time of the last change; time with computation, and with only communication
    PowerSums sums;
    absl::InlinedVector<Running, 3> running;  // rows that add power
    std::vector<Parting> partings;            // in the present instant
    std::vector<uint32_t> ranks;              // the members
    int64_t devices = 0;                      // members and their symmetric ranks
    std::vector<Place> places;                // of these devices, in order of node
  };
  // A device: its group, its index in the group, and the number of events it had, modulo 2^32.
  struct Member {
    uint32_t group, index, told;
  };

  const Group& GroupOf(size_t rank) const {
    const bool is_symmetric = IsSymmetricRank(symmetric_, static_cast<int>(rank));
    return groups_[members_[is_symmetric ? static_cast<size_t>((*symmetric_)[rank]) : rank].group];
  }
  // `row` begins or ends. Rows without a role are ignored.
  void TellRole(uint32_t rank, Event event, Time now) {
    if (groups_[members_[rank].group].roles[event.row] != Role::kNone) Tell(rank, event, now);
  }
  void Tell(uint32_t rank, Event event, Time now) {
    if (now > instant_) Flush(now);
    Member& m = members_[rank];
    Group& g = groups_[m.group];
    if (!g.changes) {
      g.changes = true;
      changed_.push_back(m.group);
      if (!g.lists) Settle(&g, instant_);
    }
    if (!g.lists) return Apply(&g, event);
    const size_t at = m.told++ - g.base;
    if (at == g.events.size()) {
      g.events.push_back(event);
    } else if (!(g.events[at] == event)) {
      return Part(rank, at, event);
    }
    ++g.told;
  }
  // Applies an event to the state of a group.
  void Apply(Group* g, Event event) {
    switch (event.kind) {
      case Kind::kBegin:
        if (g->roles[event.row] == Role::kComputes) ++g->computing;
        // Communication of unknown kind, which keeps its recorded time.
        if (g->roles[event.row] == Role::kCommunicates) ++g->communicating;
        return Add(g, event.row);
      case Kind::kWait:
        ++g->communicating;
        return;
      case Kind::kTransfer:
        return Add(g, event.row);
      case Kind::kEnd:
        return Remove(g, event.row);
    }
  }
  void Add(Group* g, uint32_t row) {
    const Milliwatts adds = g->adds[row];
    if (adds == 0) return;
    g->added += adds;
    g->running.push_back({row, instant_});
  }
  void Remove(Group* g, uint32_t row);
  // Moves a device out of its group: it had `at` events of the present instant in common with the group, then
  // `event`.
  void Part(uint32_t rank, size_t at, Event event);
  // Moves members with fewer or more events than most members to groups of their own.
  void PartByCount(uint32_t group);
  // Makes a group without members: the state of `group` before the present instant, and the first `events` of
  // its events.
  uint32_t Fork(uint32_t group, size_t events);
  // Adds a device to a group. The device had the first `events` of the group's events in the present instant.
  void Enter(uint32_t rank, uint32_t group, size_t events);
  void Leave(uint32_t rank);
  // Adds `more` to the number of devices of a member and of each rank that is symmetric to it.
  void AddDevices(Group* g, uint32_t rank, int64_t more) const;
  Place* PlaceOf(Group* g, uint32_t rank) const;
  // Applies the listed events, which all members had. Returns false if there were none.
  bool Play(Group* g);
  // Ends an instant: applies its events and updates powers. The next instant is `now`.
  void Flush(Time now);
  // Counts the time of a row that has ended.
  void Count(const Group& g, const Running& ended, Time now);
  void Settle(Group* g, Time now);
  // Returns the change of power of each of the group's devices.
  Milliwatts Update(Group* g);
  // Distributes the power that was cut among the running rows.
  void Cut(Group* g, Milliwatts excess, Picoseconds ps);

  const DeviceLevels levels_;
  const std::vector<std::vector<RowPower>>& rows_;
  const Places& places_;
  const SymmetricRanks* const symmetric_;
  std::vector<std::vector<uint32_t>> stands_for_;  // by rank: the ranks that are symmetric to it; empty: none
  // The parts of rows_ that events need.
  std::vector<std::vector<Role>> roles_;
  std::vector<std::vector<Milliwatts>> adds_;
  std::vector<Member> members_;  // by rank
  std::vector<Group> groups_;
  Time instant_;
  std::vector<uint32_t> changed_;   // groups, in the present instant
  std::vector<PowerCurve> curves_;  // by rank; empty: devices are not kept
  std::vector<PowerCurve> nodes_, racks_;
  PowerCurve whole_;
  // By graph and row: the total time of ended runs of the row.
  std::vector<std::vector<Picoseconds>> active_ps_;
  std::vector<std::vector<Femtojoules>> cut_;  // by graph and row: the energy that was cut; empty: none
  std::array<Femtojoules, kParts> parts_{};
  Picoseconds resident_ps_ = 0, busy_ps_ = 0, wait_ps_ = 0;
  struct Arrived {
    uint32_t rank, row;
  };
  // By call: 1 + the index in waiting_ of the members that have arrived; 0: none has.
  std::vector<uint32_t> arrived_;
  std::vector<std::vector<Arrived>> waiting_;
  std::vector<uint32_t> spare_;  // indices of waiting_ that are free
};

}  // namespace chakra::energy
