#include "backends/topology/routing/router.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"

namespace chakra {
namespace {

constexpr size_t kCached = size_t{1} << 15;  // a power of two
// The number of Valiant paths that UGAL considers (as in Besta and Hoefler, SC 2014).
constexpr uint64_t kWaysAside = 4;
constexpr size_t kMostCachedHops = size_t{1} << 22;  // 100 MB

constexpr std::pair<const char*, RoutingPolicy> kPolicies[] = {
    {"ecmp", RoutingPolicy::kEcmp},       {"destination", RoutingPolicy::kDestination},
    {"flowlet", RoutingPolicy::kFlowlet}, {"spray", RoutingPolicy::kSpray},
    {"valiant", RoutingPolicy::kValiant}, {"ugal", RoutingPolicy::kUgal},
};

// The finalizer of MurmurHash3 (Appleby, public domain), applied to a running hash.
uint64_t Mix(uint64_t h, uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdu;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 33);
}

size_t Pick(uint64_t hash, size_t n) {
  return static_cast<size_t>((static_cast<unsigned __int128>(hash) * n) >> 64);
}

bool IsNvSwitch(const NetworkGraph& g, uint32_t v) {
  return v >= g.devices() && g.kind(v) == VertexKind::kNvSwitch;
}

// Whether a device has links to several NVSwitches, or must choose between an NVSwitch and a port.
bool HasStripes(const Network& network) {
  const NetworkGraph& g = network.graph;
  std::vector<uint32_t> links(g.devices());
  for (const VertexGroup& group : g.groups()) {
    if (group.kind != VertexKind::kNvSwitch) continue;
    for (uint32_t arc = g.begin(group.first); arc < g.end(group.first + group.count - 1); ++arc) {
      const uint32_t to = g.target(arc);
      if (to >= g.devices()) continue;
      const bool chooses = network.guide == nullptr && g.degree(to) > 1;
      if (++links[to] > 1 || chooses) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> RoutingPolicyNames() {
  std::vector<std::string> names;
  for (const auto& [name, policy] : kPolicies) names.emplace_back(name);
  return names;
}

absl::StatusOr<RoutingPolicy> ParseRoutingPolicy(absl::string_view name) {
  for (const auto& [known, policy] : kPolicies) {
    if (name == known) return policy;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no routing \"", name, "\"", SuggestName(name, RoutingPolicyNames())));
}

Router::Router(const Topology& topology, const RoutingOptions& options)
    : topology_(topology), options_(options), cache_(kCached) {
  for (const TopologyDimension& d : topology_.dimensions()) {
    finders_.push_back(d.network == nullptr ? Finder() : MakeFinder(d.network->graph));
  }
  options_.routes.resize(finders_.size());
  for (const TopologyDimension& d : topology_.dimensions()) {
    striped_.push_back(options_.stripes && d.network != nullptr && HasStripes(*d.network));
  }
}

Router::Finder Router::MakeFinder(const NetworkGraph& graph) const {
  Finder finder;
  if (options_.up_down) {
    finder.up_down = std::make_unique<UpDown>(graph);
  } else {
    finder.paths = std::make_unique<ShortestPaths>(graph);
  }
  return finder;
}

Router::Place Router::At(int dimension, uint32_t copy) {
  const auto d = static_cast<size_t>(dimension);
  const Network& network = *topology_.dimensions()[d].network;
  const auto hurt = hurt_.find({dimension, copy});
  if (hurt != hurt_.end() && hurt->second.dead > 0) {
    return {dimension, copy, &network.graph, nullptr, &hurt->second.finder, nullptr};
  }
  const Guide* guide = options_.up_down ? nullptr : network.guide.get();
  return {dimension, copy, &network.graph, guide, &finders_[d], options_.routes[d].get()};
}

void Router::SetAlive(uint32_t link, bool alive) {
  const auto [dimension, copy, arc] = topology_.NetworkArc(link);
  const NetworkGraph& graph = topology_.dimensions()[static_cast<size_t>(dimension)].network->graph;
  Copy& hurt = hurt_[{dimension, copy}];
  if (hurt.alive.empty()) {
    hurt.alive.assign(graph.arcs(), true);
    hurt.finder = MakeFinder(graph);
  }
  if (hurt.alive[arc] == alive) return;
  hurt.alive[arc] = alive;
  hurt.dead += alive ? -1 : 1;
  if (hurt.finder.up_down != nullptr) {
    hurt.finder.up_down->SetAlive(&hurt.alive);
  } else {
    hurt.finder.paths->SetAlive(&hurt.alive);
  }
  ++epoch_;
}

void Router::Next(const Place& place, uint32_t at, uint32_t to) {
  arcs_.clear();
  if (place.guide != nullptr) {
    place.guide->Next(at, to, &arcs_);
  } else if (place.finder->up_down != nullptr) {
    place.finder->up_down->Next(at, to, &arcs_);
  } else {
    place.finder->paths->Next(at, to, &arcs_);
  }
}

size_t Router::Choose(const Place& place, uint32_t at, uint32_t to, uint64_t key, bool by_destination) const {
  if (arcs_.size() < 2) return 0;
  return by_destination ? to % arcs_.size() : Pick(Mix(Mix(key, place.copy), at), arcs_.size());
}

bool Router::Walk(const Place& place, uint32_t from, uint32_t to, uint64_t key, bool by_destination) {
  for (uint32_t at = from; at != to;) {
    Next(place, at, to);
    if (arcs_.empty()) return false;
    const size_t which = Choose(place, at, to, key, by_destination);
    way_.push_back(arcs_[which]);
    at = place.graph->target(arcs_[which]);
  }
  return true;
}

// Cuts out the arcs between two visits of one vertex.
void Router::CutLoops(const NetworkGraph& graph, uint32_t from) {
  for (size_t i = 0; i < way_.size(); ++i) {
    const uint32_t here = i == 0 ? from : graph.target(way_[i - 1]);
    for (size_t j = way_.size(); j > i; --j) {
      if (graph.target(way_[j - 1]) != here) continue;
      way_.erase(way_.begin() + static_cast<std::ptrdiff_t>(i),
                 way_.begin() + static_cast<std::ptrdiff_t>(j));
      break;
    }
  }
}

bool Router::WalkAside(const Place& place, uint32_t from, uint32_t to, uint64_t key) {
  const NetworkGraph& g = *place.graph;
  const auto device = static_cast<uint32_t>(Pick(Mix(key, 0x76616c69616e74u), g.devices()));
  const uint32_t middle = g.devices_forward() || g.degree(device) == 0 ? device : g.target(g.begin(device));
  const bool reached = (g.Forwards(middle) && Walk(place, from, middle, key, false));
  if (!reached) way_.clear();
  if (!Walk(place, reached ? middle : from, to, Mix(key, 1), false)) return false;
  CutLoops(g, from);
  return true;
}

void Router::Append(const Place& place, double share, Route* route) const {
  Time latency;
  for (const uint32_t arc : way_) {
    latency += place.graph->link_class(arc).latency;
    const Hop hop = topology_.NetworkHop(place.dimension, place.copy, arc);
    if (share < 1) {
      const auto same = std::find_if(route->hops.begin(), route->hops.end(),
                                     [&](const RouteHop& h) { return h.hop.link == hop.link; });
      if (same != route->hops.end()) {
        same->share = std::min(1.0, same->share + share);
        continue;
      }
    }
    route->hops.push_back({hop, share});
  }
  route->latency = std::max(route->latency, latency);
}

std::vector<std::pair<uint32_t, double>> Router::TakeArcs(const Place& place, uint32_t at, uint32_t to,
                                                          uint64_t key, RoutingPolicy policy) const {
  const NetworkGraph& g = *place.graph;
  std::vector<std::pair<uint32_t, double>> taken;
  for (const uint32_t arc : arcs_) {
    if (options_.stripes && IsNvSwitch(g, g.target(arc))) taken.push_back({arc, 0});
  }
  const bool by_rate = !taken.empty();
  if (!by_rate && policy != RoutingPolicy::kSpray)
    return {{arcs_[Choose(place, at, to, key, policy == RoutingPolicy::kDestination)], 1}};
  for (size_t i = 0; i < arcs_.size() && !by_rate; ++i) taken.push_back({arcs_[i], 0});
  double all = 0;
  for (auto& [arc, share] : taken) {
    share = by_rate ? static_cast<double>(g.link_class(arc).bandwidth.bytes_per_second()) : 1;
    all += share;
  }
  for (auto& [arc, share] : taken) share /= all;
  return taken;
}

// Splits the message at each vertex. Minimal paths have no loops, so a vertex is complete as soon as all
// vertices that lead to it are complete.
bool Router::Spread(const Place& place, uint32_t from, uint32_t to, uint64_t key, RoutingPolicy policy,
                    Route* route) {
  struct Visit {
    uint32_t vertex;
    int waiting = 0;
    double share = 0;
    Time latency;
    std::vector<std::pair<uint32_t, double>> arcs;
  };
  std::vector<Visit> visits = {{from, 0, 1, Time(), {}}};
  absl::flat_hash_map<uint32_t, size_t> index = {{from, 0}};
  for (size_t i = 0; i < visits.size(); ++i) {
    if (visits[i].vertex == to) continue;
    Next(place, visits[i].vertex, to);
    if (arcs_.empty()) return false;
    std::vector<std::pair<uint32_t, double>> arcs = TakeArcs(place, visits[i].vertex, to, key, policy);
    for (const auto& [arc, unused] : arcs) {
      const auto [it, fresh] = index.try_emplace(place.graph->target(arc), visits.size());
      if (fresh) visits.push_back({it->first, 0, 0, Time(), {}});
      ++visits[it->second].waiting;
    }
    visits[i].arcs = std::move(arcs);
  }
  std::vector<size_t> ready = {0};
  for (size_t i = 0; i < ready.size(); ++i) {
    const Visit v = visits[ready[i]];
    for (const auto& [arc, of] : v.arcs) {
      const double part = v.share * of;
      route->hops.push_back({topology_.NetworkHop(place.dimension, place.copy, arc), part});
      Visit& next = visits[index[place.graph->target(arc)]];
      next.share += part;
      next.latency = std::max(next.latency, v.latency + place.graph->link_class(arc).latency);
      if (--next.waiting == 0) ready.push_back(index[next.vertex]);
    }
  }
  // Parts that add up to the whole message count as exactly 1.
  for (RouteHop& h : route->hops) {
    if (h.share > 1 - 1e-12) h.share = 1;
  }
  route->latency = visits[index[to]].latency;
  return true;
}

void Router::Through(int dimension, int src, int dst, uint64_t key, RoutingPolicy policy, Route* route) {
  const Place place = At(dimension, topology_.NetworkCopy(dimension, src));
  const uint32_t from = topology_.NetworkDevice(dimension, src), to = topology_.NetworkDevice(dimension, dst);
  Route part;
  way_.clear();
  const bool fixed = place.routes != nullptr && place.routes->Lookup(from, to, &way_);
  if (fixed) policy = RoutingPolicy::kEcmp;
  switch (policy) {
    case RoutingPolicy::kSpray:
      part.found = Spread(place, from, to, key, policy, &part);
      break;
    case RoutingPolicy::kFlowlet:
      for (int i = 0; i < options_.paths && part.found; ++i) {
        way_.clear();
        part.found = Walk(place, from, to, Mix(key, static_cast<uint64_t>(i)), false);
        if (part.found) Append(place, 1.0 / options_.paths, &part);
      }
      for (RouteHop& h : part.hops) {
        if (h.share > 1 - 1e-9) h.share = 1;
      }
      break;
    case RoutingPolicy::kValiant:
      way_.clear();
      part.found = WalkAside(place, from, to, key);
      if (part.found) Append(place, 1, &part);
      break;
    case RoutingPolicy::kEcmp:
    case RoutingPolicy::kDestination:
    case RoutingPolicy::kUgal:
      if (!fixed && striped_[static_cast<size_t>(dimension)]) {
        part.found = Spread(place, from, to, key, policy, &part);
        break;
      }
      part.found = fixed || Walk(place, from, to, key, policy == RoutingPolicy::kDestination);
      if (part.found) Append(place, 1, &part);
      break;
  }
  route->found = route->found && part.found;
  route->latency += part.latency;
  for (const RouteHop& h : part.hops) {
    route->split = route->split || h.share < 1;
    route->hops.push_back(h);
  }
}

void Router::Implicit(int src, int dst, Route* route) const {
  PathCursor cursor{src, dst};
  Hop hop;
  while (topology_.NextHop(&cursor, &hop)) {
    route->hops.push_back({hop, 1});
    route->latency += topology_.link_classes()[hop.link_class].latency;
  }
}

void Router::Compute(int src, int dst, uint64_t key, RoutingPolicy policy, Route* route) {
  route->hops.clear();
  route->latency = Time::Zero();
  route->found = true;
  route->split = false;
  if (topology_.IsSwitch(src) || topology_.IsSwitch(dst)) return Implicit(src, dst, route);
  const auto& dimensions = topology_.dimensions();
  const int count = static_cast<int>(dimensions.size());
  int d = 0, at = src;
  const auto differ = [&](int i) { return topology_.Coordinate(at, i) != topology_.Coordinate(dst, i); };
  // A network that holds all devices also corrects the dimensions below.
  for (int top = count - 1; top >= 0; --top) {
    const TopologyDimension& dim = dimensions[static_cast<size_t>(top)];
    if (dim.network == nullptr || dim.each_rail || !differ(top)) continue;
    int there = at;
    for (int i = 0; i <= top; ++i) there = topology_.Moved(there, i, topology_.Coordinate(dst, i));
    Through(top, at, there, key, policy, route);
    at = there;
    d = top + 1;
    break;
  }
  for (; d < count; ++d) {
    if (!differ(d)) continue;
    const int there = topology_.Moved(at, d, topology_.Coordinate(dst, d));
    if (dimensions[static_cast<size_t>(d)].network != nullptr) {
      Through(d, at, there, key, policy, route);
    } else {
      Implicit(at, there, route);
    }
    at = there;
  }
  if (!route->found) route->hops.clear();
}

double Router::Cost(const Route& route) const {
  double most = 0;
  for (const RouteHop& h : route.hops) most = std::max(most, load_->FlowsOn(h.hop.link));
  return most * static_cast<double>(route.hops.size());
}

const Route& Router::Find(int src, int dst, uint64_t tag) {
  const auto ways = static_cast<size_t>(options_.queue_pairs);
  return FindWay(src, dst, ways > 1 ? Pick(Mix(tag, options_.seed), ways) : 0);
}

const Route& Router::FindWay(int src, int dst, uint64_t queue_pair) {
  const uint64_t pair = Mix(Mix(options_.seed, static_cast<uint64_t>(src)), static_cast<uint64_t>(dst));
  const uint64_t key = Mix(pair, queue_pair);
  Cached& cached = cache_[key % kCached];
  if (cached.epoch != epoch_ || cached.src != src || cached.dst != dst || cached.queue_pair != queue_pair) {
    if (cached_hops_ > kMostCachedHops) {
      for (Cached& c : cache_) c = Cached();
      cached_hops_ = 0;
    }
    cached_hops_ -= cached.route.hops.capacity();
    cached.src = src;
    cached.dst = dst;
    cached.queue_pair = queue_pair;
    cached.epoch = epoch_;
    Compute(src, dst, key, options_.policy, &cached.route);
    cached_hops_ += cached.route.hops.capacity();
  }
  if (options_.policy != RoutingPolicy::kUgal || load_ == nullptr || !cached.route.found) return cached.route;
  const Route* best = &cached.route;
  double least = Cost(cached.route) - options_.ugal_bias;
  for (uint64_t i = 1; i <= kWaysAside; ++i) {
    Compute(src, dst, Mix(key, i), RoutingPolicy::kValiant, &candidate_);
    if (!candidate_.found || Cost(candidate_) >= least) continue;
    least = Cost(candidate_);
    std::swap(candidate_, aside_);
    best = &aside_;
  }
  return *best;
}

}  // namespace chakra
