#include "backends/packet/skip/repeating_sim.h"

#include <algorithm>

#include "backends/packet/skip/region.h"
#include "trace/base/stop.h"

namespace chakra::packet {

RepeatingSim::RepeatingSim(PacketNetwork* network, const PacketOptions& options, bool /*lossy*/,
                           int /*threads*/)
    : network_(network), options_(options), ways_(network, options) {
  int64_t latency = 0;
  for (const LinkClass& c : network->topology().link_classes()) {
    latency = std::max(latency, (c.latency + TransferTime(PacketNetwork::kPauseFrame, c.bandwidth)).picos());
  }
  landing_ = latency + options.switch_latency.picos() + 1;
}

RepeatingSim::~RepeatingSim() = default;

uint32_t RepeatingSim::Connect(int src, int dst, uint64_t tag, uint8_t traffic_class, uint32_t ways) {
  uint32_t i;
  if (free_connections_.empty()) {
    i = static_cast<uint32_t>(connections_.size());
    connections_.emplace_back();
    places_.emplace_back();
  } else {
    i = free_connections_.back();
    free_connections_.pop_back();
  }
  Connection& c = connections_[i];
  c = Connection{tag, c.generation, ways, src, dst, kNoIndex, traffic_class};
  places_[i] = Place();
  ways_.Find(c);
  return i;
}

void RepeatingSim::Send(uint32_t /*message*/, int64_t now) {
  const Message& message = message_;
  ++open_messages_;
  const uint32_t connection = message.connection;
  uint32_t r = places_[connection].region;
  if (r == kNoIndex) r = RegionFor(PortsOf(connections_[connection]), now);
  const bool is_new = Join(r, connection);
  Region& region = *regions_[r];
  region.flows.push_back({now - region.start, message.order, inputs_++, places_[connection].number,
                          message.want_sent, false, false, message.tag, message.bytes, message.packets,
                          message.delay, message.limit});
  ++region.open;
  region.end = kNever;
  Describe(r, is_new);
  Step(r, now);
  Schedule(r);
}

int64_t RepeatingSim::at() {
  while (!due_.empty() && regions_[due_.top().region]->stamp != due_.top().stamp) due_.pop();
  return std::min(local_.at(), due_.empty() ? kNever : due_.top().at);
}

void RepeatingSim::Run(int64_t limit, bool stop, int64_t /*bound*/) {
  for (;;) {
    const int64_t next = at();
    if (next > limit || next == kNever || StopRequested()) return;
    // Finishes all events of one instant.
    if (stop && !told_.empty() && next > told_.front().at) return;
    if (local_.at() == next) {
      local_.Tell(&told_);
      continue;
    }
    const uint32_t r = due_.top().region;
    due_.pop();
    regions_[r]->due = kNever;
    if (Next(r) > next) {
      // The next event was moved to a later time.
    } else if (regions_[r]->live == nullptr) {
      FollowTo(r, next);
    } else {
      // Not beyond the next event of other regions, which may have to be reported first.
      int64_t to = std::min(limit, at());
      if (stop && !told_.empty()) to = std::min(to, told_.front().at);
      RunLive(r, to, stop);
    }
    Schedule(r);
  }
}

std::string RepeatingSim::WhyStuck() const {
  for (const auto& region : regions_) {
    if (region->live == nullptr) continue;
    if (std::string why = region->live->sim.WhyStuck(region->ports); !why.empty()) return why;
  }
  return "";
}

uint64_t RepeatingSim::MemoryBytes() const {
  uint64_t bytes = network_->MemoryBytes() + episodes_.MemoryBytes();
  const auto add = [&](const Simulation& s) { bytes += s.sim.MemoryBytes() - network_->MemoryBytes(); };
  for (const auto& s : idle_) add(*s);
  for (const auto& region : regions_) {
    if (region->live != nullptr) add(*region->live);
    bytes += region->flows.capacity() * sizeof(Region::Flow);
  }
  return bytes;
}

PacketTotals RepeatingSim::counters() const {
  PacketTotals all = retired_;
  all += extra_totals_;
  for (const auto& s : idle_) all += s->sim.counters();
  for (const auto& region : regions_) {
    if (region->live != nullptr) all += region->live->sim.counters();
  }
  return all;
}

PortTotals RepeatingSim::Extra(uint32_t port) const {
  PortTotals all = port < extra_.size() ? extra_[port] : PortTotals();
  const uint32_t r = port < region_of_.size() ? region_of_[port] : kNoIndex;
  if (r != kNoIndex && regions_[r]->live != nullptr) all += regions_[r]->live->sim.Extra(port);
  return all;
}

void RepeatingSim::CountAll(int64_t /*now*/) {
  if (open_messages() == 0) Run(kNever - 1, false, kNever);
}

}  // namespace chakra::packet
