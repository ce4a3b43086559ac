// A fabric carries flows between ranks in simulated time.
//
// The engine pulls: it asks when something may next happen, advances the fabric
// to that instant, and takes what ended. A fabric knows ranks, bytes and time;
// it never calls back. Same calls, same answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/link_use.h"
#include "trace/base/units.h"

namespace chakra {

using FlowId = uint64_t;

struct Flow {
  int src = 0;         // device indices: [0, devices of the topology); or see SwitchBetween()
  int dst = 0;         // may equal src: ends at once
  uint64_t bytes = 0;  // 0 costs latency only
  uint64_t tag = 0;    // the caller's own; comes back in FlowEnd
  int service_class = 0;
  bool want_sent = false;  // also report when the last byte has left src
  // After all earlier flows of the same tag, as the messages of a connection go.
  // Only where flows share links do they need it.
  bool in_order = false;
  // Bytes that the links carry for it, what protocols add included. `bytes` are
  // what Traffic() counts.
  uint64_t wire_bytes = kPayload;
  static constexpr uint64_t kPayload = ~uint64_t{0};  // as `bytes`
  uint64_t OnLinks() const { return wire_bytes == kPayload ? bytes : wire_bytes; }
  Time delay;  // software's share: kReceived comes this much later, nothing else does
};

struct FlowEnd {
  enum Kind : uint8_t { kSent, kReceived };
  uint64_t tag;
  Time at;
  Kind kind;
};

// Uncontended cost of one message.
struct FlowCost {
  Time latency;   // from first byte sent to first byte received
  Time transfer;  // bytes over the narrowest link (store and forward: sum over links)
  Time sent;      // from first to last byte leaving the source: bytes over the narrowest link
                  // (store and forward: over the first)
  Time received() const { return latency + transfer; }
};

// What links of one kind take of a FlowCost.
struct LinkCost {
  size_t link_class = 0;  // of Topology::link_classes()
  Time latency, transfer;
};

struct DimensionTraffic {
  std::string name;
  std::string kind;
  int size = 0;
  uint64_t bytes = 0;  // payload times links crossed in this dimension
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  // Starts a flow at `now`, which must not be before the last AdvanceTo().
  // Flows started at one instant are served in the order of the calls.
  virtual FlowId Start(const Flow& flow, Time now) = 0;

  // The earliest instant at which something may end or change; Time::Never()
  // when idle. What flows that were started at one instant do to each other may
  // be worked out here, once for all of them.
  virtual Time NextEvent() = 0;
  // The same for a caller that will start nothing before the answer or `limit`,
  // whichever is earlier: what happens up to there may be carried out.
  virtual Time NextEvent(Time /*limit*/) { return NextEvent(); }

  // Advances to `t` (>= every earlier t) and appends what ended up to and at
  // t, ordered by (time, order of Start).
  virtual void AdvanceTo(Time t, std::vector<FlowEnd>* ended) = 0;

  // True when flows never delay each other, so that Cost() is exact whatever
  // else is in flight. The engine may then answer whole collectives in closed
  // form, and tell of their bytes by Account().
  virtual bool contention_free() const { return false; }
  virtual FlowCost Cost(int src, int dst, uint64_t bytes) const = 0;
  // The same by the links of the path: their latencies and transfers add up to its. Bytes take their time on
  // the narrowest link (store and forward: on each), and so does what is no link's own latency.
  virtual std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes) const {
    const FlowCost cost = Cost(src, dst, bytes);
    return {{0, cost.latency, cost.transfer}};
  }
  // Counts `times` messages of `bytes` from src to dst that were not simulated.
  virtual void Account(int src, int dst, uint64_t bytes, uint64_t times) = 0;

  // The hierarchy of the machine, nearest first: the highest level that a path
  // between two devices crosses, and a device's number within its block there.
  virtual int Level(int /*a*/, int /*b*/) const { return 0; }
  virtual int Coordinate(int device, int /*level*/) const { return device; }
  // The one switch between two devices, as an end point of flows to and from
  // the devices that hang on it (>= devices()); -1: there is no such switch.
  virtual int SwitchBetween(int /*a*/, int /*b*/) const { return -1; }

  virtual std::vector<DimensionTraffic> Traffic() const = 0;
  // The `most` busiest links, up to the last AdvanceTo(). Nothing from a fabric
  // that does not follow links.
  virtual LinkUses Links(size_t /*most*/) const { return {}; }
  // What packets did; no transport from a fabric that sends none.
  virtual PacketTotals Packets() const { return {}; }
  // Why flows that are under way will never end, when NextEvent() is Never(); "" where nothing is known.
  virtual std::string WhyStuck() const { return ""; }
  virtual int devices() const = 0;
};

}  // namespace chakra
