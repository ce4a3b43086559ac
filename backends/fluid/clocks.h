// Computes the ends of flows that change each other's rates, with a clock for each link.
//
// All flows that a link holds have the link's level as their rate for a unit of weight. So the clock of a
// link advances at the rate of the level: it counts the bytes that a flow of weight 1 has moved. A flow ends
// when the clock of its holder shows its reading at the start of the flow plus the flow's bytes over its
// weight. A change of the level moves no end on the clock, but only the instant of the next end. (Zhang,
// "VirtualClock", 1990, and Parekh and Gallager, "A generalized processor sharing approach", 1993, have such
// clocks for queues.)
//
// A flow that gets another holder moves to the clock of that link with its remaining bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/fluid/end_queue.h"
#include "backends/fluid/event_queue.h"
#include "backends/fluid/levels.h"
#include "trace/base/units.h"

namespace chakra {

class FluidClocks {
 public:
  // Adds a link of `capacity` > 0 bytes a picosecond; links are numbered from 0.
  uint32_t AddLink(double capacity);
  // Adds a flow of `left` > 0 bytes from now on. `item`: the caller's number for it. See
  // FluidLevels::AddFlow().
  uint32_t Add(const std::vector<FluidHop>& hops, double weight, double left, uint32_t item);
  void Remove(uint32_t flow);
  // Computes what has changed at `now`, which must not be before that of an earlier call.
  void Solve(Time now);
  // As Solve(), but does not yet give the bandwidth of removed flows to others. Precondition: no flow was
  // added since Solve().
  void Skip(Time now);

  // next() is the next end; Never() if there is none. TakeEnds() appends the flows that end at next(), as
  // items, in no particular order. The caller removes these flows.
  Time next() const { return ends_.empty() ? Time::Never() : ends_.at(); }
  void TakeEnds(std::vector<uint32_t>* items);
  // Sets the next end at the flow's holder to `end`, if the holder holds only this flow.
  void SetEnd(uint32_t flow, Time end) {
    if (levels_.held(flows_[flow].link) == 1) SetNext(flows_[flow].link, end);
  }

  // The bytes that a flow has left at `now`, which must not be before the last Solve().
  double Left(uint32_t flow, Time now) const;
  uint32_t item(uint32_t flow) const { return flows_[flow].item; }
  bool dirty() const { return levels_.dirty(); }
  const FluidLevels& levels() const { return levels_; }

 private:
  static constexpr uint32_t kNone = FluidLevels::kNone;
  // Has a mantissa of 64 bits if the machine supports it: a clock may show 2^20 times the bytes of one flow.
  using Bytes = long double;
  struct End {
    Bytes at;
    uint32_t flow;
    uint32_t stamp;  // out of date if not equal to the flow's
  };
  struct Clock {
    Bytes shows = 0;  // reading of the clock at `since`
    Time since;
    double pace = 0;        // the level since `since`
    std::vector<End> ends;  // a heap
    size_t old = 0;         // number of its entries for flows that left
    bool tidy = true;       // the first entry is not out of date
    bool changed = false;
  };
  struct FlowRecord {
    Bytes end;  // on the clock of `link`
    uint32_t link = kNone;
    uint32_t stamp = 0;
    uint32_t item = 0;
  };

  Bytes Shows(const Clock& clock, Time now) const {
    return clock.shows + Bytes{clock.pace} * static_cast<Bytes>((now - clock.since).picos());
  }
  void SetTo(Clock* clock, Time now) {
    if (clock->since == now) return;
    clock->shows = Shows(*clock, now);
    clock->since = now;
  }
  // `loosely`: see EndQueue::SetLoosely().
  void SetNext(uint32_t link, Time end, bool loosely = false) {
    if (end == Time::Never()) {
      ends_.Remove(link);
    } else if (loosely) {
      ends_.SetLoosely(link, end, link);
    } else {
      ends_.Set(link, end, link);
    }
  }
  void MarkChanged(uint32_t link);
  // Finds the next ends on clocks that changed.
  void FindEnds(Time now);
  // Removes a flow from its clock; its entry stays for a while.
  void Forget(uint32_t flow);
  void Put(uint32_t flow, uint32_t link, Bytes end);
  // Removes entries of flows that left from the front of the heap.
  void Tidy(Clock* clock);
  Time EndOf(const Clock& clock, const End& end) const;

  FluidLevels levels_;
  std::vector<Clock> clocks_;  // by link
  EndQueue ends_;              // by link: the next end
  std::vector<FlowRecord> flows_;
  std::vector<uint32_t> changed_;
  std::vector<EventQueue::Event> first_;  // links of the next ends
};

}  // namespace chakra
