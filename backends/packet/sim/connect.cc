// PacketSim: connections and their ways.
#include <algorithm>

#include "backends/packet/sim/sim.h"

namespace chakra::packet {
namespace {

// Ports of a way there and back, at most: others may read the table of paths while ways are added to it, but
// not while it moves.
constexpr size_t kRoom = 512;

}  // namespace

template <typename Events>
PacketSim<Events>::PacketSim(PacketNetwork* network, const PacketOptions& options, bool lossy, int threads)
    : Shard(network, this, options, lossy, 0, this),
      mtu_(options.mtu),
      timeouts_(lossy || !options.Lossless()),
      telemetry_(KindOf(options.transport).telemetry),
      cnp_gap_(KindOf(options.transport).cnp_gap.picos()),
      threads_(threads),
      parts_({this}) {
  PacketTables* tables = this;
  for (uint32_t part = 1; part <= network->parts(); ++part) {
    switches_.push_back(std::make_unique<Shard>(network, tables, options, lossy, part, this));
    parts_.push_back(switches_.back().get());
  }
}

template <typename Events>
uint32_t PacketSim<Events>::NewMessage() {
  ++open_messages_;
  if (free_messages_.empty()) {
    messages_.emplace_back();
    return static_cast<uint32_t>(messages_.size() - 1);
  }
  const uint32_t i = free_messages_.back();
  free_messages_.pop_back();
  messages_[i] = Message();
  return i;
}

template <typename Events>
uint32_t PacketSim<Events>::Connect(int src, int dst, uint64_t tag, uint8_t traffic_class, uint32_t ways) {
  uint32_t i;
  if (free_connections_.empty()) {
    i = static_cast<uint32_t>(connections_.size());
    connections_.emplace_back();
    senders_.emplace_back();
    transports_.emplace_back();
    receivers_.emplace_back();
    if (options_.recovery == PacketOptions::Recovery::kSelective) windows_.emplace_back();
  } else {
    i = free_connections_.back();
    free_connections_.pop_back();
    senders_[i] = Sender();
    receivers_[i] = Receiver();
    if (options_.recovery == PacketOptions::Recovery::kSelective) windows_[i] = SentWindow();
  }
  Connection& c = connections_[i];
  c = Connection{tag, c.generation, ways, src, dst, traffic_class};
  FindWays(i);
  return i;
}

// Switches read the table of paths.
template <typename Events>
void PacketSim<Events>::MakeRoom(size_t entries) {
  if (this->paths.capacity() - this->paths.size() >= entries) return;
  Settle();
  this->paths.reserve(std::max({2 * this->paths.capacity(), 8 * kRoom, this->paths.size() + entries}));
}

// Those that it may take. No event does this: ports come to be here.
template <typename Events>
void PacketSim<Events>::FindWays(uint32_t i) {
  const Connection& c = connections_[i];
  const auto paths = static_cast<uint32_t>(options_.paths);
  const bool one = options_.spread == PacketOptions::Spread::kConnection;
  const bool adaptive = options_.spread == PacketOptions::Spread::kAdaptive;
  bool is_new = false;
  const auto first = static_cast<uint32_t>(one ? c.tag % paths : 0);
  for (uint32_t path = first; path < (one ? first + 1 : paths); ++path) {
    Way& way = ways_[c.ways + path];
    if (way.known && way.epoch == epoch_) continue;
    MakeRoom(kRoom);
    if (adaptive) this->paths.push_back(kNoIndex);  // of its alternatives
    finder_->Find(c, path);
    way.known = true;
    way.epoch = epoch_;
    is_new = true;
  }
  if (adaptive && is_new) LinkAlternatives(c.ways);
}

template <typename Events>
void PacketSim<Events>::Send(uint32_t m, int64_t now) {
  now_ = now;
  const uint32_t i = messages_[m].connection;
  Sender& s = senders_[i];
  if (s.tail == kNoIndex) {
    s.head = m;
    s.head_first = s.next;
  } else {
    messages_[s.tail].next = m;
  }
  s.tail = m;
  if (s.message == kNoIndex) {
    s.message = m;
    s.message_first = s.next;
  }
  if (!connections_[i].begun && !BeginConnection(i)) return;
  MayBeReady(i);
}

// Of a way; where packets take all ways, the rates of their ports together.
template <typename Events>
PathFacts PacketSim<Events>::Facts(const Connection& c, const Way& way) const {
  PathFacts f;
  f.mtu = mtu_;
  f.wire = wire_;
  f.hops = way.hops;
  int64_t rtt = 0;
  Bandwidth narrowest;
  for (uint32_t h = 0; h < way.hops; ++h) {
    const uint32_t i = path_ports_[way.ports + h];
    const Bandwidth b = network_->info(i).bandwidth;
    if (h == 0 || b < narrowest) narrowest = b;
    const double rate = RateAt(c, way, h);
    if (h == 0) f.nic_rate = rate;
    f.rate = h == 0 ? rate : std::min(f.rate, rate);
    rtt += network_->port(i).latency;
    if (!options_.cut_through) {
      rtt += TransferTime(wire_, b).picos();
    } else if (h + 1 < way.hops) {
      rtt += TransferTime(options_.header, b).picos();
    }
  }
  if (options_.cut_through) rtt += TransferTime(wire_, narrowest).picos();
  for (uint32_t h = 0; h < way.hops_back; ++h) {
    const uint32_t back = path_ports_[way.back + h];
    rtt += network_->port(back).latency + TransferTime(options_.ack, network_->info(back).bandwidth).picos();
  }
  f.base_rtt = Time::Picos(rtt);
  return f;
}

// Of the ports that the packets of a connection leave over at a hop; bytes a picosecond.
template <typename Events>
double PacketSim<Events>::RateAt(const Connection& c, const Way& way, uint32_t hop) const {
  if (options_.spread == PacketOptions::Spread::kConnection) {
    return network_->info(path_ports_[way.ports + hop]).rate;
  }
  std::vector<uint32_t> ports;
  for (uint32_t p = 0; p < static_cast<uint32_t>(options_.paths); ++p) {
    const Way& w = ways_[c.ways + p];
    if (w.found && hop < w.hops) ports.push_back(path_ports_[w.ports + hop]);
  }
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  double rate = 0;
  for (const uint32_t i : ports) rate += network_->info(i).rate;
  return rate;
}

// False: no way, yet.
template <typename Events>
bool PacketSim<Events>::BeginConnection(uint32_t i) {
  if (!Choose(i)) return false;
  Connection& c = connections_[i];
  Sender& s = senders_[i];
  PathFacts facts = Facts(c, ways_[c.ways + s.path]);
  facts.seed =
      options_.seed ^ (static_cast<uint64_t>(c.src) << 40) ^ (static_cast<uint64_t>(c.dst) << 16) ^ c.tag;
  transports_[i] = BeginTransport(options_.transport, facts, &s.control);
  c.begun = true;
  AfterTransport(i);
  return true;
}

template <typename Events>
bool PacketSim<Events>::Choose(uint32_t i) {
  Connection& c = connections_[i];
  Sender& s = senders_[i];
  if (s.chosen && s.chosen_epoch == epoch_) return true;
  const auto paths = static_cast<uint32_t>(options_.paths);
  s.path = 0;
  switch (options_.spread) {
    case PacketOptions::Spread::kConnection:
      s.path = static_cast<uint16_t>(c.tag % paths);
      break;
    case PacketOptions::Spread::kPacket:
    case PacketOptions::Spread::kAdaptive:
      s.path = static_cast<uint16_t>(s.turns++ % paths);
      break;
    case PacketOptions::Spread::kTransport:
      if (!c.begun) break;
      WithTransport(&transports_[i],
                    [&](auto& t) { s.path = static_cast<uint16_t>(t.PickPath(Time::Picos(now_), paths)); });
      break;
  }
  const Way& way = ways_[c.ways + s.path];
  s.chosen = way.found;
  s.chosen_epoch = epoch_;
  if (way.found) {
    s.port = path_ports_[way.ports];
  } else if (!c.cut_off) {
    c.cut_off = true;
    cut_off_.push_back(i);
  }
  return way.found;
}

// A message of which both ends are done.
template <typename Events>
void PacketSim<Events>::Forget(uint32_t m) {
  if (messages_[m].received && messages_[m].acknowledged) free_messages_.push_back(m);
}

template <typename Events>
void PacketSim<Events>::Reroute(int64_t now) {
  Settle();
  now_ = now;
  ++epoch_;
  for (uint32_t i = 0; i < connections_.size(); ++i) {
    if (senders_[i].head != kNoIndex) FindWays(i);
  }
  std::vector<uint32_t> waiting;
  waiting.swap(cut_off_);
  for (const uint32_t i : waiting) {
    connections_[i].cut_off = false;
    if (senders_[i].head == kNoIndex) continue;
    if (connections_[i].begun || BeginConnection(i)) MayBeReady(i);
  }
}

template class PacketSim<HeapEvents>;
template class PacketSim<BucketEvents>;

}  // namespace chakra::packet
