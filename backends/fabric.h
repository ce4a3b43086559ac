// A fabric carries flows between devices in simulated time.
//
// The engine pulls: it asks for the next instant at which something may happen, advances the fabric to that
// instant, and takes the ends of flows. A fabric knows devices, bytes and time, and never calls back. The
// same calls give the same answers.
//
// A fabric may also derive from PathPrices (path_prices.h) and FabricReport (fabric_report.h). Both are
// optional.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

using FlowId = uint64_t;

struct Flow {
  int src = 0;  // device index, [0, devices of the topology), or a switch: see Topology::SwitchBetween()
  int dst = 0;  // may equal src: then the flow ends at once
  uint64_t bytes = 0;  // 0 costs latency only
  uint64_t tag = 0;    // chosen by the caller; comes back in FlowEnd
  int service_class = 0;
  bool want_sent = false;  // also report when the last byte has left src
  // Starts after all earlier flows of the same tag, like the messages of one connection. Matters only on
  // fabrics where flows share links.
  bool in_order = false;
  // Bytes that the links carry, if not `bytes`: a protocol adds bytes, or the flow simulates one of several
  // paths that a message of `bytes` is spread over. Traffic() counts `bytes`.
  uint64_t wire_bytes = kPayload;
  static constexpr uint64_t kPayload = ~uint64_t{0};  // the same as `bytes`
  uint64_t OnLinks() const { return wire_bytes == kPayload ? bytes : wire_bytes; }
  Time delay;  // time that software adds: kReceived is reported this much later, and nothing else changes
  // The highest rate at which the sender produces bytes of OnLinks(), however fast the links are. 0: no
  // limit. Other flows may use the bandwidth that this flow leaves.
  Bandwidth limit;
};

struct FlowEnd {
  enum Kind : uint8_t { kSent, kReceived };
  uint64_t tag;
  Time at;
  Kind kind;
};

// Flows that start at one instant, one after the other. A flow is made only when a fabric asks for it, so a
// list of many flows needs no memory for them.
class FlowList {
 public:
  explicit FlowList(uint32_t size) : size_(size) {}
  virtual ~FlowList() = default;
  uint32_t size() const { return size_; }
  // Flow `i` < size(). Returns the same flow at each call until the flow has been received.
  virtual Flow At(uint32_t i) const = 0;

 private:
  uint32_t size_;
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  // Starts a flow at `now`, which must not be before the last AdvanceTo().
  // Flows started at one instant are served in the order of the calls.
  virtual FlowId Start(const Flow& flow, Time now) = 0;
  // Starts each flow of the list, in order. A fabric may keep the list and make a flow only when its sender
  // comes to it. Until a flow has been received, the caller starts no other flow with the same tag.
  virtual void StartAll(std::shared_ptr<const FlowList> flows, Time now) {
    for (uint32_t i = 0; i < flows->size(); ++i) Start(flows->At(i), now);
  }

  // The minimum bytes of memory that a flow of `bytes` needs while it is under way, if all flows that started
  // with it are still under way. 0: negligible, or unknown.
  virtual uint64_t FlowMemory(uint64_t /*bytes*/) const { return 0; }

  // The earliest instant at which something may end or change; Time::Never() when idle. A fabric may compute
  // here how flows that started at one instant affect each other, once for all of them.
  virtual Time NextEvent() = 0;
  // The same, for a caller that starts nothing before the returned time or `limit`, whichever is earlier. The
  // fabric may already simulate up to that instant.
  virtual Time NextEvent(Time /*limit*/) { return NextEvent(); }

  // Advances to `t` (>= every earlier t) and appends all ends up to and including t, ordered by (time, order
  // of Start).
  virtual void AdvanceTo(Time t, std::vector<FlowEnd>* ended) = 0;
};

}  // namespace chakra
