// RepeatingSim: the events of a region, which are either simulated or copied from an earlier episode.
#include <algorithm>
#include <utility>

#include "backends/packet/skip/region.h"
#include "trace/base/stop.h"

namespace chakra::packet {
namespace {

constexpr uint64_t kMostAgain = 1'000'000;  // limit of events that were simulated in vain

}  // namespace

// The next time at which something may happen in the region; ps.
int64_t RepeatingSim::Next(uint32_t r) {
  Region& region = *regions_[r];
  if (region.flows.empty()) return kNever;
  if (region.live != nullptr) return std::min(region.end, region.live->sim.at());
  Episodes::Node& node = episodes_[region.node];
  if (region.output < node.outputs.size()) return region.start + node.outputs[region.output].at;
  if (node.idle != kNever) return region.start + node.idle;
  if (IsAhead(node, region)) {
    if (std::find(node.waits.begin(), node.waits.end(), r) == node.waits.end()) node.waits.push_back(r);
    return kNever;
  }
  return region.start + node.known + 1;
}

void RepeatingSim::Schedule(uint32_t r) {
  // Most flows make the next event later. The existing entry then stays, and is checked at its time.
  const int64_t next = Next(r);
  Region& region = *regions_[r];
  if (next >= region.due) return;
  region.due = next;
  due_.push({next, r, ++region.stamp});
}

void RepeatingSim::Wake(uint32_t node) {
  std::vector<uint32_t> waits;
  waits.swap(episodes_[node].waits);
  for (const uint32_t r : waits) Schedule(r);
}

// The region stops reading or writing its node.
void RepeatingSim::Leave(uint32_t r, int64_t now) {
  const uint32_t n = regions_[r]->node;
  if (n == kNoIndex) return;
  Episodes::Node& node = episodes_[n];
  std::erase(node.waits, r);
  if (node.writer != r) return;
  node.writer = kNoIndex;
  node.known = std::max(node.known, now - regions_[r]->start);
  Wake(n);
}

bool RepeatingSim::IsAhead(const Episodes::Node& node, const Region& region) const {
  return node.writer != kNoIndex && regions_[node.writer]->start <= region.start;
}

void RepeatingSim::WriteFrom(uint32_t r, int64_t done) {
  const Region& region = *regions_[r];
  if (region.node == kNoIndex) return;
  Episodes::Node& node = episodes_[region.node];
  if (node.writer == kNoIndex && node.idle == kNever && node.known <= done - region.start) node.writer = r;
}

void RepeatingSim::Tell(Region* region, uint32_t flow, FlowEnd::Kind kind, int64_t at) {
  Region::Flow& f = region->flows[flow];
  bool& done = kind == FlowEnd::kReceived ? f.received : f.sent;
  if (done) return;
  done = true;
  told_.push_back({at, f.order, f.tag, kind});
  if (kind != FlowEnd::kReceived) return;
  --region->open;
  --open_messages_;
}

void RepeatingSim::FollowTo(uint32_t r, int64_t at) {
  Region& region = *regions_[r];
  const Episodes::Node& node = episodes_[region.node];
  bool any = false;
  while (region.output < node.outputs.size() && region.start + node.outputs[region.output].at <= at) {
    const Episodes::Output& o = node.outputs[region.output++];
    Tell(&region, o.flow, o.kind, at);
    any = true;
  }
  if (any) return;
  if (node.idle == kNever) {
    // Nothing to do if another region already simulates this.
    if (IsAhead(node, region)) return;
    Simulate(r, at - 1);
    return RunLive(r, at - 1, true);  // the episode may be over
  }
  // Merged regions may each have reported a flow at another instant than they would together.
  for (uint32_t f = 0; f < region.flows.size() && region.open > 0; ++f) {
    if (region.flows[f].want_sent) Tell(&region, f, FlowEnd::kSent, at);
    Tell(&region, f, FlowEnd::kReceived, at);
  }
  End(r, at);
}

// Passes on the reports of the simulation. `late`: the time for all of them; kNever: their own times. False:
// there were none.
bool RepeatingSim::Take(uint32_t r, int64_t late) {
  Region& region = *regions_[r];
  std::vector<Told>& told = region.live->sim.told();
  if (told.empty()) return false;
  Episodes::Node* node = region.node == kNoIndex ? nullptr : &episodes_[region.node];
  const bool writes = late == kNever && node != nullptr && node->writer == r;
  for (const Told& t : told) {
    const auto flow = static_cast<uint32_t>(t.tag);
    Tell(&region, flow, t.kind, late == kNever ? t.at : late);
    if (!writes) continue;
    node->outputs.push_back({t.at - region.start, flow, t.kind});
    node->known = t.at - region.start;
  }
  told.clear();
  if (writes) Wake(region.node);
  return true;
}

void RepeatingSim::RunLive(uint32_t r, int64_t limit, bool stop) {
  Region& region = *regions_[r];
  SteadySim& sim = region.live->sim;
  while (region.open > 0) {
    sim.Run(limit, true, kNever);
    if (!Take(r, kNever)) break;
    // All reports of this instant, and no more.
    if (stop) limit = std::min(limit, told_.front().at);
  }
  if (region.open > 0) return;
  // Runs the last acknowledgements instant by instant, so that the end does not depend on the caller.
  while (region.end == kNever) {
    if (StopRequested()) return;
    if (sim.Quiet()) {
      region.end = sim.now() + landing_;
    } else if (sim.at() <= limit) {
      sim.Run(sim.at(), true, kNever);
      Take(r, kNever);
    } else {
      return;
    }
  }
  if (region.end > limit) return;
  sim.Run(region.end, true, kNever);
  End(r, region.end);
}

std::unique_ptr<RepeatingSim::Simulation> RepeatingSim::TakeSimulation() {
  std::unique_ptr<Simulation> s;
  if (idle_.empty()) {
    s = std::make_unique<Simulation>(network_, options_);
  } else {
    s = std::move(idle_.back());
    idle_.pop_back();
  }
  s->before = s->sim.counters();
  return s;
}

void RepeatingSim::Simulate(uint32_t r, int64_t done) {
  Region& region = *regions_[r];
  region.live = TakeSimulation();
  SteadySim& sim = region.live->sim;
  sim.Restart(region.start);
  for (const uint32_t port : region.ports) network_->Reset(port);
  for (const uint32_t c : region.connections) places_[c].inner = kNoIndex;
  for (uint32_t f = 0; f < region.flows.size(); ++f) {
    sim.Run(region.start + region.flows[f].at, false, kNever);
    SendInside(&region, f);
  }
  sim.Run(done, false, kNever);
  Take(r, done);
  WriteFrom(r, done);
}

void RepeatingSim::SendInside(Region* region, uint32_t flow) {
  const Region::Flow& f = region->flows[flow];
  const uint32_t outer = region->connections[f.connection];
  const Connection& c = connections_[outer];
  Place& place = places_[outer];
  SteadySim& sim = region->live->sim;
  if (place.inner == kNoIndex || sim.connection(place.inner).generation != place.inner_generation) {
    Ways& ways = sim.ways();
    const auto [it, is_new] = region->live->ways.try_emplace(c.ways, ways.size());
    if (is_new) ways.AddPair();
    const Way& way = WayOf(c);
    Way& inner = ways[it->second + static_cast<uint32_t>(c.tag % static_cast<uint64_t>(options_.paths))];
    if (!inner.known) {
      inner = way;
      inner.known = true;
      inner.ports = ways.paths().AddCopy(ways_.paths(), way.ports, way.hops);
      inner.back = ways.paths().AddCopy(ways_.paths(), way.back, way.hops_back);
    }
    place.inner = sim.Connect(c.src, c.dst, c.tag, c.traffic_class, it->second);
    place.inner_generation = sim.connection(place.inner).generation;
  }
  const uint32_t m = sim.NewMessage();
  Message& message = sim.message(m);
  message.tag = flow;
  message.order = f.order;
  message.bytes = f.bytes;
  message.packets = f.packets;
  message.delay = f.delay;
  message.limit = f.limit;
  message.want_sent = f.want_sent;
  message.connection = place.inner;
  sim.Send(m, region->start + f.at);
}

// Discards the simulation of a region, as if it had not run.
void RepeatingSim::Abandon(Region* region) {
  // Except for its events, which were computed.
  PacketTotals before = region->live->before;
  const uint64_t events = region->live->sim.counters().events;
  again_ += events - before.events;
  before.events = events;
  retired_ += before;
  region->live->sim.LeaveBuffers(region->ports);
  for (size_t i = 0; i < region->ports.size(); ++i) {
    const uint32_t port = region->ports[i];
    network_->Reset(port);
    SetTotals(region->before[i], network_, port);
    network_->backlog(port).most = 0;
  }
  region->live.reset();
  if (again_ > kMostAgain && again_ > counters().events / 2) one_region_ = true;
}

}  // namespace chakra::packet
