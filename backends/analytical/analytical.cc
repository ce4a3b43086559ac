#include "backends/analytical/analytical.h"

#include "backends/analytical/options.h"
#include "backends/registry.h"

namespace chakra {

AnalyticalFabric::AnalyticalFabric(const Topology& topology, const FabricOptions& options)
    : cost_(topology, options.Get<PathOptions>().store_and_forward, options.routing), recent_(kRecent) {}

inline void AnalyticalFabric::Push(Time at, uint64_t tag, FlowEnd::Kind kind) {
  if (at == Time::Never()) return;
  uint32_t i = free_;
  if (i != kNone) {
    free_ = ends_[i].next;
  } else {
    i = static_cast<uint32_t>(ends_.size());
    ends_.emplace_back();
  }
  ends_[i] = End{tag, kNone, kind};
  Recent& recent = RecentOf(at);
  if (recent.at == at) {
    ends_[recent.tail].next = i;
  } else {
    recent.at = at;
    heap_.Push(Instant{at, instants_++, i});
  }
  recent.tail = i;
}

FlowId AnalyticalFabric::Start(const Flow& flow, Time now) {
  const FlowCost answer = cost_.PriceAndAccount(flow);
  if (flow.want_sent) Push(now + answer.sent, flow.tag, FlowEnd::kSent);
  const Time received = now + answer.latency + answer.transfer + flow.delay;
  Push(received, flow.tag, FlowEnd::kReceived);
  return flows_++;
}

void AnalyticalFabric::AdvanceTo(Time t, std::vector<FlowEnd>* ended) {
  while (!heap_.empty() && heap_.top().at <= t) {
    const Instant instant = heap_.top();
    heap_.Pop();
    Recent& recent = RecentOf(instant.at);
    if (recent.at == instant.at) recent = Recent{};
    uint32_t i = instant.head;
    uint32_t last = i;
    for (; i != kNone; i = ends_[i].next) {
      ended->push_back(FlowEnd{ends_[i].tag, instant.at, ends_[i].kind});
      last = i;
    }
    ends_[last].next = free_;
    free_ = instant.head;
  }
}

const FabricKind& AnalyticalKind() {
  static const FabricKind kind = {
      .name = "analytical",
      .help = "latency plus bytes over the narrowest link of the path; flows never delay each other",
      .make = [](const Topology& topology, const FabricOptions& options) -> std::unique_ptr<Fabric> {
        return std::make_unique<AnalyticalFabric>(topology, options);
      },
      .takes = {&PathOptions::kSet}};
  return kind;
}

}  // namespace chakra
