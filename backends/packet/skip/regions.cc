// RepeatingSim: which flows belong to a region, and how regions are distinguished.
#include <algorithm>
#include <utility>

#include "backends/packet/skip/region.h"

namespace chakra::packet {

uint32_t RepeatingSim::NewRegion(int64_t now) {
  uint32_t i;
  if (free_regions_.empty()) {
    i = static_cast<uint32_t>(regions_.size());
    regions_.push_back(std::make_unique<Region>());
  } else {
    i = free_regions_.back();
    free_regions_.pop_back();
  }
  regions_[i]->start = now;
  regions_[i]->node = Episodes::kRoot;
  return i;
}

const Way& RepeatingSim::WayOf(const Connection& c) const {
  return ways_[c.ways + static_cast<uint32_t>(c.tag % static_cast<uint64_t>(options_.paths))];
}

std::vector<uint32_t> RepeatingSim::PortsOf(const Connection& c) const {
  const Way& way = WayOf(c);
  std::vector<uint32_t> ports;
  if (way.found) way.AppendPorts(ways_.paths(), &ports);
  return ports;
}

bool RepeatingSim::Join(uint32_t r, uint32_t connection) {
  Place& place = places_[connection];
  if (place.region == r) return false;
  place.region = r;
  place.number = static_cast<uint32_t>(regions_[r]->connections.size());
  regions_[r]->connections.push_back(connection);
  return true;
}

// Returns the region of these ports; if they belong to several regions, merges these.
uint32_t RepeatingSim::RegionFor(const std::vector<uint32_t>& ports, int64_t now) {
  if (region_of_.size() < network_->ports()) {
    region_of_.resize(network_->ports(), kNoIndex);
    number_of_.resize(network_->ports());
    signature_of_.resize(network_->ports(), kNoIndex);
  }
  std::vector<uint32_t> touched;
  const auto touch = [&](uint32_t r) {
    if (r != kNoIndex && std::find(touched.begin(), touched.end(), r) == touched.end()) touched.push_back(r);
  };
  for (const uint32_t port : ports) touch(region_of_[port]);
  if (one_region_) {
    for (uint32_t r = 0; r < regions_.size(); ++r) {
      if (!regions_[r]->flows.empty()) touch(r);
    }
  }
  if (touched.empty()) return NewRegion(now);
  return touched.size() == 1 ? touched[0] : Merge(touched, now);
}

// Returns a number that is the same for all ports with the same properties.
uint32_t RepeatingSim::PortSignature(uint32_t port) {
  if (signature_of_[port] != kNoIndex) return signature_of_[port];
  const PortInfo& info = network_->info(port);
  const std::vector<uint64_t> facts = {static_cast<uint64_t>(info.bandwidth.bytes_per_second()),
                                       static_cast<uint64_t>(network_->port(port).latency),
                                       info.link_class,
                                       network_->node(network_->port(port).node).is_switch,
                                       network_->node(info.peer).is_switch,
                                       network_->node(network_->port(port).node).pool,
                                       network_->node(info.peer).pool};
  const auto number = static_cast<uint32_t>(signatures_.size());
  return signature_of_[port] = signatures_.try_emplace(facts, number).first->second;
}

// Appends the port's number in the region to input_, and its properties if it is new there.
void RepeatingSim::AddPort(Region* region, uint32_t index, uint32_t port) {
  if (region_of_[port] == index) return input_.push_back(number_of_[port]);
  region_of_[port] = index;
  number_of_[port] = static_cast<uint32_t>(region->ports.size());
  region->ports.push_back(port);
  network_->Reset(port);  // its times were on the clock of another simulation
  region->before.push_back(TotalsOf(*network_, port));
  region->most_before.push_back(std::exchange(network_->backlog(port).most, 0));
  input_.push_back(number_of_[port]);
  input_.push_back(PortSignature(port));
  if (options_.buffer == 0) return;
  for (const uint32_t node : {network_->port(port).node, network_->info(port).peer}) {
    const auto number = static_cast<uint32_t>(region->nodes.size());
    input_.push_back(region->nodes.try_emplace(node, number).first->second);
  }
}

void RepeatingSim::Describe(uint32_t r, bool is_new_connection) {
  Region& region = *regions_[r];
  const Region::Flow& f = region.flows.back();
  const Connection& c = connections_[region.connections[f.connection]];
  input_.assign({static_cast<uint64_t>(f.at), f.bytes, f.packets, static_cast<uint64_t>(f.delay),
                 static_cast<uint64_t>(f.limit.bytes_per_second()), f.connection, c.traffic_class,
                 f.want_sent});
  if (!is_new_connection) return;
  const std::vector<uint32_t> ports = PortsOf(c);
  input_.push_back(WayOf(c).hops);
  for (const uint32_t port : ports) AddPort(&region, r, port);
}

// Merges several regions into one, with one common history.
uint32_t RepeatingSim::Merge(const std::vector<uint32_t>& regions, int64_t now) {
  const uint32_t r = NewRegion(now);
  std::vector<std::pair<Region::Flow, uint32_t>> flows;  // with their connections
  for (const uint32_t old : regions) {
    Region& from = *regions_[old];
    regions_[r]->start = std::min(regions_[r]->start, from.start);
    regions_[r]->open += from.open;
    for (Region::Flow f : from.flows) {
      f.at += from.start;
      flows.push_back({f, from.connections[f.connection]});
    }
    for (const uint32_t c : from.connections) places_[c] = Place();
    Leave(old, now);
    if (from.live != nullptr) Abandon(&from);
    for (size_t i = 0; i < from.ports.size(); ++i) {
      uint64_t& most = network_->backlog(from.ports[i]).most;
      most = std::max(most, from.most_before[i]);
    }
    Release(old);
  }
  std::sort(flows.begin(), flows.end(),
            [](const auto& a, const auto& b) { return a.first.input < b.first.input; });
  Region& region = *regions_[r];
  for (auto& [f, c] : flows) {
    const bool is_new = Join(r, c);
    f.connection = places_[c].number;
    f.at -= region.start;
    region.flows.push_back(f);
    Describe(r, is_new);
    if (region.node != kNoIndex) region.node = episodes_.Follow(region.node, f.at, input_);
  }
  // All ends up to now have been reported.
  if (region.node == kNoIndex) {
    Simulate(r, now);
  } else {
    const auto& outputs = episodes_[region.node].outputs;
    while (region.output < outputs.size() && outputs[region.output].at <= now - region.start) ++region.output;
  }
  return r;
}

void RepeatingSim::Step(uint32_t r, int64_t now) {
  Region& region = *regions_[r];
  const int64_t at = region.flows.back().at;
  if (region.node != kNoIndex) {
    Leave(r, now);
    region.node = episodes_.Follow(region.node, at, input_);
    region.output = 0;
  }
  if (region.live != nullptr) {
    SendInside(&region, static_cast<uint32_t>(region.flows.size() - 1));
    WriteFrom(r, now);
  } else if (region.node == kNoIndex) {
    Simulate(r, now);
  }
}

// Ends the region; nothing is under way in it.
void RepeatingSim::End(uint32_t r, int64_t now) {
  Region& region = *regions_[r];
  const uint32_t node = region.node;
  const bool writes = node != kNoIndex && episodes_[node].writer == r;
  extra_.resize(std::max(extra_.size(), network_->ports()));
  const bool follows = region.live == nullptr;
  Episodes::Ledger ledger;
  if (follows) {
    ledger = episodes_[node].ledger;
    extra_totals_ += ledger.totals;
    extra_totals_.skipped += ledger.totals.packets;
    extra_totals_.repeats += region.flows.size();
  } else {
    SteadySim& sim = region.live->sim;
    AddDifference(region.live->before, sim.counters(), 1, &ledger.totals);
    for (size_t i = 0; i < region.ports.size(); ++i) {
      const uint32_t port = region.ports[i];
      PortTotals total;
      AddDifference(region.before[i], TotalsOf(*network_, port), 1, &total);
      total += sim.Extra(port);
      extra_[port] += sim.Extra(port);
      ledger.ports.push_back(total);
      ledger.most_queued.push_back(network_->backlog(port).most);
    }
    idle_.push_back(std::move(region.live));
  }
  for (size_t i = 0; i < region.ports.size(); ++i) {
    const uint32_t port = region.ports[i];
    network_->backlog(port).most = std::max(region.most_before[i], ledger.most_queued[i]);
    if (follows) extra_[port] += ledger.ports[i];
  }
  if (writes) {
    episodes_[node].idle = now - region.start;
    episodes_[node].ledger = std::move(ledger);
  }
  Leave(r, now);
  for (const uint32_t c : region.connections) {
    places_[c] = Place();
    ++connections_[c].generation;
    free_connections_.push_back(c);
  }
  Release(r);
}

// Frees the ports of the region, and the region itself.
void RepeatingSim::Release(uint32_t r) {
  const uint64_t stamp = regions_[r]->stamp;
  for (const uint32_t port : regions_[r]->ports) region_of_[port] = kNoIndex;
  *regions_[r] = Region();
  regions_[r]->stamp = stamp + 1;
  free_regions_.push_back(r);
}

}  // namespace chakra::packet
