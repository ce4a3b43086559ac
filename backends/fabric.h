// A fabric carries flows between devices in simulated time.
//
// The engine pulls: the engine asks when something may next happen, advances the
// fabric to that instant, and takes what ended. A fabric knows devices, bytes and
// time. A fabric never calls back. Same calls, same answers.
//
// A fabric may also derive from PathPrices (path_prices.h) and FabricReport
// (fabric_report.h). A fabric that derives from neither runs as well.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

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
  // Bytes that its links carry, where it stands for a message of `bytes` that is spread over several such
  // ways. `bytes` are what Traffic() counts.
  uint64_t wire_bytes = kPayload;
  static constexpr uint64_t kPayload = ~uint64_t{0};  // as `bytes`
  uint64_t OnLinks() const { return wire_bytes == kPayload ? bytes : wire_bytes; }
  Time delay;  // software's share: kReceived comes this much later, nothing else does
  // The flow's own limit, in bytes of OnLinks(): its sender makes no more, however fast links are. 0: none.
  // What the flow leaves of its links is for others.
  Bandwidth limit;
};

struct FlowEnd {
  enum Kind : uint8_t { kSent, kReceived };
  uint64_t tag;
  Time at;
  Kind kind;
};

// Flows that begin at one instant, one after the other. Each is made when it is asked for: a list of many
// costs nothing.
class FlowList {
 public:
  explicit FlowList(uint32_t size) : size_(size) {}
  virtual ~FlowList() = default;
  uint32_t size() const { return size_; }
  // Flow `i`, below size(): the same whenever it is asked for, until it has been received.
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
  // As Start() of each flow of the list, in its order. A fabric may keep the list and make a flow when its
  // sender comes to it. Until a flow has been received the caller starts none other with its tag.
  virtual void StartAll(std::shared_ptr<const FlowList> flows, Time now) {
    for (uint32_t i = 0; i < flows->size(); ++i) Start(flows->At(i), now);
  }

  // Bytes of memory that a flow of `bytes` takes at least while it is under way, where all that were started
  // with it still are. 0: next to nothing, or not known.
  virtual uint64_t FlowMemory(uint64_t /*bytes*/) const { return 0; }

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
};

}  // namespace chakra
