#include "backends/packet/packet_fabric.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "backends/analytical/options.h"
#include "backends/registry.h"
#include "trace/base/stop.h"

namespace chakra::packet {
namespace {

// The options of paths among which packets choose; the paths are hashed like those of connections.
RoutingOptions PathsOf(RoutingOptions routing, const PacketOptions& options) {
  routing.stripes = false;  // here packets, not messages, take different paths
  routing.queue_pairs = std::max(routing.queue_pairs, options.paths);
  if (routing.policy == RoutingPolicy::kSpray || routing.policy == RoutingPolicy::kFlowlet) {
    routing.policy = RoutingPolicy::kEcmp;
  }
  return routing;
}

// Maximum number of pairs whose paths are kept. The paths of further pairs are found again for each flow that
// is made later.
constexpr size_t kPairsKept = size_t{1} << 16;

// Whether no result changes if a connection is made later than it could begin. That is not so in general: the
// order of events depends on the numbers of connections, and what a connection sees of the network depends on
// the instant.
bool MayMakeLater(const FabricOptions& options, const PacketOptions& packet) {
  const RoutingPolicy policy = options.routing.policy;
  return std::holds_alternative<FixedWindow::Config>(packet.transport) && packet.Lossless() &&
         options.changes.empty() && packet.spread == PacketOptions::Spread::kConnection &&
         packet.recovery == PacketOptions::Recovery::kGoBackN &&
         (policy == RoutingPolicy::kEcmp || policy == RoutingPolicy::kDestination);
}

// Whether the port over which a path leaves a device follows from the lowest and the highest dimension in
// which its ends differ.
bool HasOnePortEachWay(const Topology& topology) {
  for (const TopologyDimension& d : topology.dimensions()) {
    if (d.kind == TopologyDimension::Kind::kSwitch) continue;
    if (d.network == nullptr || &d != &topology.dimensions().back()) return false;
    for (uint32_t v = 0; v < d.network->graph.devices(); ++v) {
      if (d.network->graph.degree(v) != 1) return false;
    }
  }
  return true;
}

// With policies that split messages, packets are spread over as many paths as flowlets have.
PacketOptions WithSpread(const FabricOptions& options) {
  PacketOptions p = options.Get<PacketOptions>();
  const bool spray = options.routing.policy == RoutingPolicy::kSpray;
  if ((spray || options.routing.policy == RoutingPolicy::kFlowlet) &&
      p.spread == PacketOptions::Spread::kConnection) {
    p.spread = PacketOptions::Spread::kPacket;
    p.paths = std::max(p.paths, spray ? 64 : options.routing.paths);
    p.recovery = PacketOptions::Recovery::kSelective;
  }
  p.paths = std::max(p.paths, options.routing.queue_pairs);
  return p;
}

}  // namespace

template <typename Sim>
PacketFabricOn<Sim>::PacketFabricOn(const Topology& topology, const FabricOptions& options)
    : options_(WithSpread(options)),
      cost_(topology, false, PathsOf(options.routing, options_)),
      network_(topology, options_),
      sim_(&network_, options_, !options.changes.empty(), options.threads),
      made_(&sim_),
      changes_(options.changes),
      series_(options_.series.picos() > 0 ? options_.series : Time::Micros(options.link_series ? 10 : 0)) {
  std::stable_sort(changes_.begin(), changes_.end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
  sim_.set_finder(this);
  sim_.set_overlap(true);
  if constexpr (requires { sim_.set_maker(this); }) {
    sim_.set_maker(this);
    makes_later_ = MayMakeLater(options, options_);
    const size_t dimensions = topology.dimensions().size();
    if (makes_later_ && HasOnePortEachWay(topology)) {
      first_ports_.assign(static_cast<size_t>(topology.devices()) * dimensions * dimensions, kNoIndex);
    }
  }
  for (const LinkClass& c : topology.link_classes()) {
    if (slowest_ == Bandwidth() || c.bandwidth < slowest_) slowest_ = c.bandwidth;
  }
  if (cost_.router() != nullptr) cost_.router()->set_load(this);
  if (!changes_.empty() && changes_.front().at == Time::Zero()) ChangeLinks();
}

template <typename Sim>
absl::Status PacketFabricOn<Sim>::Check(const Topology& topology, const FabricOptions& options) {
  return CheckPacketFabric(topology, Resolved(options));
}

template <typename Sim>
FabricOptions PacketFabricOn<Sim>::Resolved(const FabricOptions& options) {
  FabricOptions resolved = options;
  const PacketOptions packet = WithSpread(options);
  resolved.Set(packet);
  resolved.routing = PathsOf(options.routing, packet);
  return resolved;
}

template <typename Sim>
void PacketFabricOn<Sim>::SetShare(uint32_t link, double share) {
  const int64_t at = now_.picos() + network_.lookahead();
  shares_.push_back({shares_.empty() ? at : std::max(at, shares_.back().at), link, share});
}

template <typename Sim>
double PacketFabricOn<Sim>::ShowShare(uint32_t link, double share) {
  sim_.Settle();
  const double before = network_.Share(link);
  network_.SetShare(link, share);
  if (const uint32_t port = network_.Find(link); port != kNoIndex) network_.SetBandwidth(port, share);
  return before;
}

template <typename Sim>
void PacketFabricOn<Sim>::ChangeShares() {
  for (const int64_t at = shares_.front().at; !shares_.empty() && shares_.front().at == at;
       shares_.pop_front()) {
    ApplyShare(shares_.front().link, shares_.front().share, at);
  }
}

template <typename Sim>
void PacketFabricOn<Sim>::ApplyShare(uint32_t link, double share, int64_t at) {
  network_.SetShare(link, share);
  const uint32_t port = network_.Find(link);
  if constexpr (requires { sim_.ChangeLink(port, share, at); }) {
    if (port != kNoIndex) sim_.ChangeLink(port, share, at);
  }
}

template <typename Sim>
uint32_t PacketFabricOn<Sim>::PortOf(const Hop& hop) {
  if (network_.Find(hop.link) == kNoIndex) sim_.Settle();
  return network_.PortOf(hop);
}

template <typename Sim>
bool PacketFabricOn<Sim>::FindPath(int src, int dst, uint64_t tag) {
  path_.clear();
  if (cost_.router() != nullptr && !cost_.topology().IsSwitch(src) && !cost_.topology().IsSwitch(dst)) {
    const Route& route = cost_.router()->FindWay(src, dst, tag);
    if (!route.found) return false;
    for (const RouteHop& h : route.hops) path_.push_back(PortOf(h.hop));
    return true;
  }
  hops_.clear();
  cost_.topology().Path(src, dst, &hops_);
  for (const Hop& h : hops_) path_.push_back(PortOf(h));
  return true;
}

template <typename Sim>
bool PacketFabricOn<Sim>::AddPath(int src, int dst, uint64_t tag, uint32_t* first, uint8_t* hops) {
  PathTable& ports = sim_.ways().paths();
  const bool found = FindPath(src, dst, tag);
  *first = found ? ports.AddPath(path_) : ports.size();
  *hops = static_cast<uint8_t>(path_.size());
  return found;
}

template <typename Sim>
void PacketFabricOn<Sim>::Find(const Connection& c, uint32_t way_of_connection) {
  Way& way = sim_.ways()[c.ways + way_of_connection];
  way.found = AddPath(c.src, c.dst, way_of_connection, &way.ports, &way.hops) &&
              AddPath(c.dst, c.src, way_of_connection, &way.back, &way.hops_back);
}

template <typename Sim>
uint32_t PacketFabricOn<Sim>::WaysOf(int src, int dst) {
  const uint64_t key = static_cast<uint64_t>(src) << 32 | static_cast<uint32_t>(dst);
  const auto [it, is_new] = ways_.try_emplace(key, sim_.ways().size());
  if (is_new) sim_.ways().AddPair();
  return it->second;
}

template <typename Sim>
FlowId PacketFabricOn<Sim>::Start(const Flow& flow, Time now) {
  if (now > now_) RunTo(now.picos(), false);
  now_ = now;
  const uint64_t order = orders_++;
  if (flow.src == flow.dst) {
    if (flow.want_sent) sim_.told().push_back({now.picos(), order, flow.tag, FlowEnd::kSent});
    sim_.TellAt(flow.tag, order, now + flow.delay);
    return order;
  }
  // No message ends later than if all took turns on the slowest link. Instants beyond the simulated time
  // could wrap around, so a message that starts with more than half of that time of work ahead never ends.
  const uint64_t packets = flow.bytes / std::max<uint64_t>(options_.mtu, 1) + 1;
  if (slowest_ > Bandwidth()) work_ += TransferTime(flow.bytes + packets * options_.header, slowest_);
  if (now + work_ > Time::Picos(Time::Never().picos() / 2)) return order;
  const uint32_t m = sim_.NewMessage();
  uint32_t connection = flow.in_order ? OpenConnection(flow) : kNoIndex;
  if (connection == kNoIndex) {
    connection = sim_.Connect(flow.src, flow.dst, flow.tag, ClassOf(flow), WaysOf(flow.src, flow.dst));
    if (flow.in_order) {
      in_order_[flow.tag] = {connection, sim_.connection(connection).generation};
      made_.Erase(flow.tag);
    }
  }
  Fill(flow, order, connection, &sim_.message(m));
  sim_.Send(m, now.picos());
  return order;
}

template <typename Sim>
uint8_t PacketFabricOn<Sim>::ClassOf(const Flow& flow) const {
  const auto data_classes = static_cast<uint32_t>(options_.classes - 1);
  return static_cast<uint8_t>(1 + static_cast<uint32_t>(std::max(0, flow.service_class)) % data_classes);
}

template <typename Sim>
uint32_t PacketFabricOn<Sim>::OpenConnection(const Flow& flow) const {
  uint32_t connection = made_.Find(flow.tag);
  if (connection == kNoIndex) {
    const auto it = in_order_.find(flow.tag);
    if (it == in_order_.end()) return kNoIndex;
    connection = it->second.first;
    if (sim_.connection(connection).generation != it->second.second) return kNoIndex;
  }
  // A caller may use the same tag later for another pair.
  const Connection& c = sim_.connection(connection);
  return c.src == flow.src && c.dst == flow.dst ? connection : kNoIndex;
}

template <typename Sim>
void PacketFabricOn<Sim>::Fill(const Flow& flow, uint64_t order, uint32_t connection, Message* m) {
  cost_.Account(flow.src, flow.dst, flow.bytes, 1);
  Message& message = *m;
  message.tag = flow.tag;
  message.order = order;
  message.bytes = flow.OnLinks();
  message.packets = std::max<uint64_t>(1, (message.bytes + options_.mtu - 1) / options_.mtu);
  message.delay = flow.delay.picos();
  message.limit = flow.limit;
  message.want_sent = flow.want_sent;
  message.connection = connection;
  if (options_.spread == PacketOptions::Spread::kConnection) {
    const uint64_t chosen = flow.tag % static_cast<uint64_t>(options_.paths);
    const Way& way = sim_.ways()[sim_.connection(connection).ways + static_cast<uint32_t>(chosen)];
    for (uint32_t h = 0; h < way.hops; ++h) ++network_.info(sim_.ways().paths()[way.ports + h]).flows;
  }
}

template <typename Sim>
uint64_t PacketFabricOn<Sim>::FlowMemory(uint64_t bytes) const {
  // A NIC takes one packet of each message in turn, so with several packets each all messages would begin.
  if (makes_later_ && bytes <= options_.mtu) return 0;
  if (options_.SkipsRepeats()) return sizeof(Message) + sizeof(Connection);
  return sizeof(Message) + sizeof(Connection) + sizeof(Sender) + sizeof(Receiver);
}

template <typename Sim>
void PacketFabricOn<Sim>::StartAll(std::shared_ptr<const FlowList> flows, Time now) {
  if (!makes_later_) return Fabric::StartAll(std::move(flows), now);
  if (now > now_) RunTo(now.picos(), false);
  now_ = now;
  StartLater(flows, now);
}

template <typename Sim>
uint32_t& PacketFabricOn<Sim>::FirstPortTowards(int src, int dst) {
  const Topology& topology = cost_.topology();
  const auto dimensions = static_cast<int>(topology.dimensions().size());
  int lowest = 0;
  while (topology.Coordinate(src, lowest) == topology.Coordinate(dst, lowest)) ++lowest;
  const int place = (src * dimensions + lowest) * dimensions + topology.Level(src, dst);
  return first_ports_[static_cast<size_t>(place)];
}

template <typename Sim>
uint32_t PacketFabricOn<Sim>::FirstPort(const Flow& flow) {
  const bool all = network_.ports() == cost_.topology().links();
  const bool ends = !cost_.topology().IsSwitch(flow.src) && !cost_.topology().IsSwitch(flow.dst);
  uint32_t* known = first_ports_.empty() || !ends ? nullptr : &FirstPortTowards(flow.src, flow.dst);
  if (all && known != nullptr && *known != kNoIndex) return *known;
  const uint64_t way = flow.tag % static_cast<uint64_t>(options_.paths);
  if (!FindPath(flow.src, flow.dst, way) || path_.empty()) return kNoIndex;
  const uint32_t first = path_.front();
  // Ports get the same numbers as when flows are made at once, because these numbers decide the order at one
  // instant.
  if (!all && !FindPath(flow.dst, flow.src, way)) return kNoIndex;
  if (known != nullptr) *known = first;
  return first;
}

template <typename Sim>
void PacketFabricOn<Sim>::StartLater(const std::shared_ptr<const FlowList>& flows, Time now) {
  if constexpr (requires { sim_.NewExpected(); }) {
    struct Waiting {
      uint32_t port;
      uint8_t traffic_class;
      uint32_t number;  // as returned by SendLater()
    };
    std::vector<Waiting> waiting;
    const uint64_t first = orders_;
    for (uint32_t i = 0; i < flows->size(); ++i) {
      const Flow flow = flows->At(i);
      const bool at_once = flow.src == flow.dst || (flow.in_order && OpenConnection(flow) != kNoIndex);
      const uint32_t port = at_once ? kNoIndex : FirstPort(flow);
      if (port == kNoIndex) {
        Start(flow, now);
        waiting.clear();  // the flow just started comes between the earlier and the later ones
        continue;
      }
      ++orders_;
      const uint8_t traffic_class = ClassOf(flow);
      auto w = std::find_if(waiting.begin(), waiting.end(), [&](const Waiting& o) {
        return o.port == port && o.traffic_class == traffic_class;
      });
      if (w == waiting.end()) w = waiting.insert(w, {port, traffic_class, kNoIndex});
      w->number = sim_.SendLater(w->number, port, traffic_class, flows, first, i, now.picos());
    }
  }
}

template <typename Sim>
uint32_t PacketFabricOn<Sim>::Make(const FlowList& flows, uint64_t order, uint32_t i) {
  if constexpr (requires { sim_.NewExpected(); }) {
    const Flow flow = flows.At(i);
    const uint32_t m = sim_.NewExpected();
    const uint64_t pair = static_cast<uint64_t>(flow.src) << 32 | static_cast<uint32_t>(flow.dst);
    const auto known = ways_.find(pair);
    uint32_t ways = known != ways_.end() ? known->second : kNoIndex;
    if (ways == kNoIndex)
      ways = ways_.size() < kPairsKept ? WaysOf(flow.src, flow.dst) : sim_.ways().AddPair();
    const uint32_t c = sim_.Connect(flow.src, flow.dst, flow.tag, ClassOf(flow), ways);
    if (flow.in_order) {
      made_.Put(c, flow.tag);
      in_order_.erase(flow.tag);
    }
    Fill(flow, order, c, &sim_.message(m));
    return m;
  } else {
    return kNoIndex;
  }
}

template <typename Sim>
void PacketFabricOn<Sim>::Ended(const Connection& c) {
  const uint32_t made = made_.Find(c.tag);
  if (made != kNoIndex && &sim_.connection(made) == &c) made_.Erase(c.tag);
  const auto known = ways_.find(static_cast<uint64_t>(c.src) << 32 | static_cast<uint32_t>(c.dst));
  if (known == ways_.end() || known->second != c.ways) sim_.ways().GiveBack(c.ways);
}

template <typename Sim>
void PacketFabricOn<Sim>::ChangeLinks() {
  if constexpr (requires { sim_.Reroute(0); }) {
    const Time at = changes_[next_change_].at;
    bool reroute = false;
    for (; next_change_ < changes_.size() && changes_[next_change_].at == at; ++next_change_) {
      const LinkChange& change = changes_[next_change_];
      const bool was_up = network_.Share(change.link) > 0;
      if (cost_.router() != nullptr && was_up != (change.bandwidth > 0)) {
        cost_.router()->SetAlive(change.link, change.bandwidth > 0);
        reroute = true;
      }
      std::erase_if(shares_, [&](const ShareChange& share) { return share.link == change.link; });
      sim_.Settle();
      network_.SetLoss(change.link, change.loss);
      ApplyShare(change.link, change.bandwidth, at.picos());
    }
    if (reroute) sim_.Reroute(at.picos());
  }
}

template <typename Sim>
int64_t PacketFabricOn<Sim>::NextAt() {
  const int64_t at = sim_.at();
  const bool waits = at != Time::Never().picos() || sim_.open_messages() > 0;
  if (!waits || next_change_ == changes_.size()) return at;
  return std::min(at, changes_[next_change_].at.picos());
}

template <typename Sim>
void PacketFabricOn<Sim>::RunTo(int64_t t, bool stop) {
  while (!StopRequested()) {
    const int64_t at = sim_.at();
    const bool idle = at == Time::Never().picos();
    if (idle && sim_.open_messages() == 0 && stop) return;
    const int64_t change =
        next_change_ < changes_.size() ? changes_[next_change_].at.picos() : Time::Never().picos();
    const int64_t share = shares_.empty() ? Time::Never().picos() : shares_.front().at;
    const int64_t due = std::min(change, share);
    if (due <= std::min(at, t) && due != Time::Never().picos()) {
      if (change <= share) {
        ChangeLinks();
      } else {
        ChangeShares();
      }
      continue;
    }
    if (at > t || idle) return;
    // Packets stop just before the instant of the next change.
    int64_t bound = due - 1;
    if (series_.on()) {
      if (at >= series_.next()) series_.Note(network_, at);
      bound = std::min(bound, series_.next() - 1);
    }
    sim_.Run(std::min(t, bound), stop, bound);
    if (stop && !sim_.told().empty()) return;
  }
}

template <typename Sim>
Time PacketFabricOn<Sim>::NextEvent(Time limit) {
  if (StopRequested()) return Time::Never();
  if (sim_.told().empty() && limit > now_) RunTo(limit.picos(), true);
  if (!sim_.told().empty()) return Time::Picos(sim_.told().front().at);
  return Time::Picos(NextAt());
}

template <typename Sim>
void PacketFabricOn<Sim>::AdvanceTo(Time t, std::vector<FlowEnd>* ended) {
  RunTo(t.picos(), false);
  now_ = std::max(now_, t);
  auto& told = sim_.told();
  std::sort(told.begin(), told.end(), [](const auto& a, const auto& b) {
    if (a.at != b.at) return a.at < b.at;
    return a.order != b.order ? a.order < b.order : a.kind < b.kind;
  });
  for (const auto& e : told) ended->push_back({e.tag, Time::Picos(e.at), e.kind});
  told.clear();
}

template <typename Sim>
FlowCost PacketFabricOn<Sim>::Cost(int src, int dst, uint64_t bytes) const {
  if (src == dst) return FlowCost();
  const PacketOptions& p = options_;
  const std::vector<RouteHop> hops = cost_.Hops(src, dst);
  if (hops.empty()) return {Time::Never(), Time::Never(), Time::Never()};
  const uint64_t packets = std::max<uint64_t>(1, (bytes + p.mtu - 1) / p.mtu);
  const uint64_t first = packets > 1 ? p.Wire() : bytes + p.header;
  FlowCost cost;
  Time widest;  // time of the first packet on the narrowest link
  for (size_t i = 0; i < hops.size(); ++i) {
    const LinkClass& c = cost_.topology().link_classes()[hops[i].hop.link_class];
    const Time whole = TransferTime(first, c.bandwidth);
    // See Ports::ArrivalAfter().
    const bool passes =
        p.cut_through && i + 1 < hops.size() &&
        cost_.topology().link_classes()[hops[i + 1].hop.link_class].bandwidth <= c.bandwidth &&
        cost_.topology().LinkEnds(hops[i].hop.link).to >= static_cast<uint64_t>(cost_.topology().devices());
    const Time packet = passes ? std::min(whole, TransferTime(p.header, c.bandwidth)) : whole;
    const Time all = TransferTime(bytes + packets * p.header, c.bandwidth);
    cost.latency += c.latency + packet + (i > 0 ? p.switch_latency : Time::Zero());
    if (all > cost.transfer) {
      cost.transfer = all;
      widest = whole;
    }
    if (i == 0) cost.sent = all;
  }
  cost.latency -= widest;
  return cost;
}

template <typename Sim>
double PacketFabricOn<Sim>::FlowsOn(uint32_t link) const {
  sim_.Settle();
  const uint32_t port = network_.Find(link);
  if (port == kNoIndex) return 0;
  return static_cast<double>(network_.backlog(port).bytes) / options_.Wire();
}

template <typename Sim>
PacketTotals PacketFabricOn<Sim>::Packets() const {
  sim_.CountAll(now_.picos());
  PacketTotals totals = sim_.counters();
  const TransportKind& kind = KindOf(options_.transport);
  totals.transport = std::string(kind.name);
  totals.skip_error = kind.skip_error;
  return totals;
}

template <typename Sim>
LinkUses PacketFabricOn<Sim>::Links(size_t most) const {
  sim_.CountAll(now_.picos());
  LinkUses uses;
  std::vector<std::pair<double, uint32_t>> by_load;
  for (uint32_t i = 0; i < network_.ports(); ++i) {
    if (network_.port(i).packets + sim_.Extra(i).packets == 0) continue;
    ++uses.links;
    const uint64_t bytes = network_.port(i).sent + sim_.Extra(i).bytes;
    by_load.push_back({-static_cast<double>(bytes) / network_.info(i).rate, i});
  }
  std::sort(by_load.begin(), by_load.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first
                              : network_.info(a.second).link < network_.info(b.second).link;
  });
  if (by_load.size() > most) by_load.resize(most);
  PortSeries series = series_;
  if (series.on()) {
    series.Finish(network_, now_.picos());
    uses.bucket = series.bucket();
  }
  for (const auto& [load, i] : by_load) {
    const PortInfo& p = network_.info(i);
    PortTotals total = TotalsOf(network_, i);
    // With skipping, the clock of the packets is not now_.
    if (options_.skip == PacketOptions::Skip::kOff) total.paused = network_.Paused(i, now_.picos());
    total += sim_.Extra(i);
    const LinkClass& c = cost_.topology().link_classes()[p.link_class];
    LinkUse use;
    use.link = p.link;
    use.name = network_.PortName(i);
    use.link_class = c.name;
    use.dimension = p.dimension;
    use.bandwidth = c.bandwidth;
    use.bytes = total.bytes;
    use.flows = p.flows;
    static_cast<LinkCounts&>(use) = total;
    use.most_queued = network_.backlog(i).most;
    if (series.on()) series.Tell(i, static_cast<double>(c.bandwidth.bytes_per_second()), &use);
    uses.busiest.push_back(std::move(use));
  }
  return uses;
}

template class PacketFabricOn<PacketSim<HeapEvents>>;
template class PacketFabricOn<PacketSim<BucketEvents>>;
template class PacketFabricOn<SteadySim>;
template class PacketFabricOn<RepeatingSim>;

std::unique_ptr<Fabric> MakePacketFabric(const Topology& topology, const FabricOptions& options) {
  const auto packet = options.Get<PacketOptions>();
  if (packet.SkipsRepeats()) return std::make_unique<PacketFabricOn<RepeatingSim>>(topology, options);
  if (packet.SkipsSteady()) return std::make_unique<PacketFabricOn<SteadySim>>(topology, options);
  return std::make_unique<PacketFabric>(topology, options);
}

}  // namespace chakra::packet

namespace chakra {

const FabricKind& PacketKind() {
  static const FabricKind kind = {
      .name = "packet",
      .help = "every packet on every link, through the queues of ports and switches, with transports",
      .make = packet::MakePacketFabric,
      .takes = {&packet::PacketOptions::kSet},
      .ignores = {&PathOptions::kSet},  // switching is an option of packets
      .follows_links = true,
      .check = packet::PacketFabric::Check};
  return kind;
}

}  // namespace chakra
