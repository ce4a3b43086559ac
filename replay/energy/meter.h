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
//
// Ranks of a job move alike: devices to which the same has happened so far are one group, which has one
// state. A device that is told something else leaves its group with a copy of that state. Sums are of whole
// numbers, so that they do not depend on groups.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "replay/energy/amounts.h"
#include "replay/energy/curve.h"
#include "replay/engine/observer.h"
#include "trace/base/units.h"
#include "trace/model/twins.h"

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
  // curve of each device, and the steps of those of nodes and racks, for timelines. `twins` (null: there are
  // none): ranks of whom nothing is told, since others stand for them; not with `keep_devices`.
  PowerMeter(const DeviceLevels& levels, const std::vector<std::vector<RowPower>>& rows,
             const std::vector<uint32_t>& graph_of_rank, const Places& places, bool keep_devices,
             const Twins* twins = nullptr);

  void Begin(uint32_t rank, uint32_t row, Time now) override;
  void Wait(uint32_t rank, uint32_t row, Time now) override;
  void Transfer(uint32_t rank, uint32_t row, Time now) override;
  void Arrive(uint32_t rank, uint32_t row, uint32_t call, uint32_t members, Time now) override;
  void End(uint32_t rank, uint32_t row, Time now) override;

  // Most devices have so far done what others did, at the same times: an event costs little.
  bool alike() const { return 4 * groups_.size() <= members_.size(); }

  // After the run, which ended at `end`. What follows is of a meter that has finished.
  void Finish(Time end);

  // Sums over all ranks of the time in which ...
  Picoseconds resident_ps() const { return resident_ps_; }  // they were there
  Picoseconds busy_ps() const { return busy_ps_; }          // a computation ran
  Picoseconds wait_ps() const { return wait_ps_; }          // none ran, but communication did
  // What all rows of one graph drew, over its ranks: by row, and by part.
  Femtojoules RowEnergy(size_t graph, uint32_t row) const;
  Femtojoules PartEnergy(Part part) const { return parts_[static_cast<size_t>(part)]; }
  Femtojoules DeviceEnergy(size_t rank) const { return GroupOf(rank).sums.energy(); }
  Milliwatts DevicePeak(size_t rank) const { return GroupOf(rank).sums.peak(GroupOf(rank).power); }
  Milliwatts DeviceLeast(size_t rank) const { return GroupOf(rank).sums.least(GroupOf(rank).power); }
  // Sum of all devices'.
  Femtojoules energy() const { return whole_.energy(); }
  const PowerCurve& whole() const { return whole_; }
  // Of a meter that keeps devices.
  const PowerCurve& device(size_t rank) const { return curves_[rank]; }
  const std::vector<PowerCurve>& nodes() const { return nodes_; }
  const std::vector<PowerCurve>& racks() const { return racks_; }

 private:
  // A row that runs and adds something, and since when.
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
  // How many devices of a group are in a node and its rack.
  struct Place {
    uint32_t node, rack;
    int64_t devices;
  };
  // Another way that devices of a group went in the present instant, from the event `at` on.
  struct Parting {
    size_t at;
    uint32_t group;
  };
  // Devices of one graph to which the same has happened at the same times: one state machine for all of them.
  // Whatever is counted here is of one device.
  struct Group {
    // What Tell() asks of it stands first, in one line of cache.
    const Role* roles = nullptr;  // of its graph's rows
    bool changes = false;         // in the present instant
    // What the present instant does is listed until it is known that it does so to all; else done at once.
    bool lists = false;
    uint32_t base = 0;                 // Member::told before the present instant
    std::vector<Event> events;         // of the present instant; each member was told the first of them
    uint64_t told = 0;                 // sum of how many, over the members
    const Milliwatts* adds = nullptr;  // of its graph's rows
    uint32_t graph = 0;
    uint32_t computing = 0;      // operations
    uint32_t communicating = 0;  // likewise, waiting or moving data
    Milliwatts added = 0;        // by what runs
    Milliwatts power = 0;        // as of `since`
    Milliwatts excess = 0;       // that was cut from it
    Time since, busy, wait;      // the last change; time in which it computed, or else communicated
    PowerSums sums;
    absl::InlinedVector<Running, 3> running;  // those that add something
    std::vector<Parting> partings;            // in the present instant
    std::vector<uint32_t> ranks;              // the members
    int64_t devices = 0;                      // they and their twins
    std::vector<Place> places;                // where these are, ascending by node
  };
  // A device: where it is in its group, and how many events it was told, modulo 2^32.
  struct Member {
    uint32_t group, index, told;
  };

  const Group& GroupOf(size_t rank) const {
    const bool twin = IsTwin(twins_, static_cast<int>(rank));
    return groups_[members_[twin ? static_cast<size_t>((*twins_)[rank]) : rank].group];
  }
  // `row` begins or ends: nothing where it has no role.
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
  // What an event does to the state of a group.
  void Apply(Group* g, Event event) {
    switch (event.kind) {
      case Kind::kBegin:
        if (g->roles[event.row] == Role::kComputes) ++g->computing;
        // Of unknown kind: it keeps its recorded time.
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
  // A device leaves its group: after `at` events of the present instant it had in common with it, `event`
  // came instead of the group's.
  void Part(uint32_t rank, size_t at, Event event);
  // Members of a group that were not told as many events as most become groups of their own.
  void PartByCount(uint32_t group);
  // A group of no member yet: the state of `group` before the present instant, with the first `events` of it.
  uint32_t Fork(uint32_t group, size_t events);
  // Into a group, of whose events of the present instant the device was told so many.
  void Enter(uint32_t rank, uint32_t group, size_t events);
  void Leave(uint32_t rank);
  // So many devices more of the member and of each of its twins.
  void AddDevices(Group* g, uint32_t rank, int64_t more) const;
  Place* PlaceOf(Group* g, uint32_t rank) const;
  // Does what was listed, which is of all members. False: nothing was.
  bool Play(Group* g);
  // After all changes of an instant: what follows from them. The next one is `now`.
  void Flush(Time now);
  // Counts a row that has ended.
  void Count(const Group& g, const Running& ended, Time now);
  void Settle(Group* g, Time now);
  // Returns by how much the power of each of the group's devices has changed.
  Milliwatts Update(Group* g);
  // Shares what was cut from what rows add among these.
  void Cut(Group* g, Milliwatts excess, Picoseconds ps);

  const DeviceLevels levels_;
  const std::vector<std::vector<RowPower>>& rows_;
  const Places& places_;
  const Twins* const twins_;
  std::vector<std::vector<uint32_t>> stands_for_;  // by rank: its twins; empty: there are none
  // What events need of rows_.
  std::vector<std::vector<Role>> roles_;
  std::vector<std::vector<Milliwatts>> adds_;
  std::vector<Member> members_;  // by rank
  std::vector<Group> groups_;
  Time instant_;
  std::vector<uint32_t> changed_;   // groups, in the present instant
  std::vector<PowerCurve> curves_;  // by rank; empty: not kept
  std::vector<PowerCurve> nodes_, racks_;
  PowerCurve whole_;
  std::vector<std::vector<Picoseconds>> active_ps_;  // by graph and row: of all that have ended
  std::vector<std::vector<Femtojoules>> cut_;        // likewise; empty: nothing was
  std::array<Femtojoules, kParts> parts_{};
  Picoseconds resident_ps_ = 0, busy_ps_ = 0, wait_ps_ = 0;
  struct Arrived {
    uint32_t rank, row;
  };
  // By call: one more than the index in waiting_ of those that have arrived; 0: none has.
  std::vector<uint32_t> arrived_;
  std::vector<std::vector<Arrived>> waiting_;
  std::vector<uint32_t> spare_;  // indices of waiting_ that are free
};

}  // namespace chakra::energy
