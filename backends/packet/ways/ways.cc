#include "backends/packet/ways/ways.h"

#include <algorithm>
#include <utility>

namespace chakra::packet {
namespace {

// Maximum number of ports of a path and its path back.
constexpr size_t kRoom = 512;

}  // namespace

Ways::Ways(const PacketNetwork* network, const PacketOptions& options)
    : network_(network), options_(options), count_(static_cast<uint32_t>(options.paths)) {}

uint32_t Ways::AddPair() {
  if (given_back_ != kNoIndex) {
    const uint32_t pair = std::exchange(given_back_, ways_[given_back_].ports);
    ways_[pair] = Way();
    return pair;
  }
  const uint32_t first = size();
  ways_.resize(ways_.size() + count_);
  return first;
}

void Ways::GiveBack(uint32_t first) {
  for (uint32_t i = first; i < first + count_; ++i) {
    if (ways_[i].found) {
      paths_.GiveBack(ways_[i].ports, ways_[i].hops);
      paths_.GiveBack(ways_[i].back, ways_[i].hops_back);
    }
    ways_[i] = Way();
  }
  ways_[first].ports = std::exchange(given_back_, first);
}

void Ways::Find(const Connection& c) {
  const bool one = options_.spread == PacketOptions::Spread::kConnection;
  const bool adaptive = options_.spread == PacketOptions::Spread::kAdaptive;
  bool is_new = false;
  const auto first = static_cast<uint32_t>(one ? c.tag % count_ : 0);
  for (uint32_t path = first; path < (one ? first + 1 : count_); ++path) {
    Way& way = ways_[c.ways + path];
    if (way.known && way.epoch == epoch_) continue;
    paths_.MakeRoom(kRoom);
    if (adaptive) paths_.AddPlaceOfAlternatives();
    finder_->Find(c, path);
    way.known = true;
    way.epoch = epoch_;
    is_new = true;
  }
  if (adaptive && is_new) paths_.LinkAlternatives({&ways_[c.ways], count_});
}

PathFacts Ways::Facts(const Connection& c, const Way& way) const {
  const uint32_t wire = options_.Wire();
  PathFacts f;
  f.mtu = options_.mtu;
  f.wire = wire;
  f.hops = way.hops;
  int64_t rtt = 0;
  Bandwidth narrowest;
  for (uint32_t h = 0; h < way.hops; ++h) {
    const uint32_t i = paths_[way.ports + h];
    const Bandwidth b = network_->info(i).bandwidth;
    if (h == 0 || b < narrowest) narrowest = b;
    const double rate = RateAt(c, way, h);
    if (h == 0) f.nic_rate = rate;
    f.rate = h == 0 ? rate : std::min(f.rate, rate);
    rtt += network_->port(i).latency;
    if (!options_.cut_through) {
      rtt += TransferTime(wire, b).picos();
    } else if (h + 1 < way.hops) {
      rtt += TransferTime(options_.header, b).picos();
    }
  }
  if (options_.cut_through) rtt += TransferTime(wire, narrowest).picos();
  for (uint32_t h = 0; h < way.hops_back; ++h) {
    const uint32_t back = paths_[way.back + h];
    rtt += network_->port(back).latency + TransferTime(options_.ack, network_->info(back).bandwidth).picos();
  }
  f.base_rtt = Time::Picos(rtt);
  return f;
}

// The rate of all ports over which the packets of a connection leave at a hop; bytes a picosecond.
double Ways::RateAt(const Connection& c, const Way& way, uint32_t hop) const {
  if (options_.spread == PacketOptions::Spread::kConnection) {
    return network_->info(paths_[way.ports + hop]).rate;
  }
  std::vector<uint32_t> ports;
  for (uint32_t p = 0; p < count_; ++p) {
    const Way& w = ways_[c.ways + p];
    if (w.found && hop < w.hops) ports.push_back(paths_[w.ports + hop]);
  }
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  double rate = 0;
  for (const uint32_t i : ports) rate += network_->info(i).rate;
  return rate;
}

std::vector<uint32_t> Ways::PortsOf(const Connection& c) const {
  std::vector<uint32_t> ports;
  for (uint32_t path = 0; path < count_; ++path) {
    const Way& way = ways_[c.ways + path];
    if (way.found) way.AppendPorts(paths_, &ports);
  }
  return ports;
}

int64_t Ways::BaseRtt(const Connection& c) const {
  int64_t longest = 0;
  for (uint32_t path = 0; path < count_; ++path) {
    const Way& way = ways_[c.ways + path];
    if (way.found) longest = std::max(longest, Facts(c, way).base_rtt.picos());
  }
  return longest;
}

}  // namespace chakra::packet
