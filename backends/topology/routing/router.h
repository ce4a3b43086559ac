// Which links a message takes through a machine with networks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "backends/topology/paths/shortest_paths.h"
#include "backends/topology/routing/route_file.h"
#include "backends/topology/routing/up_down.h"
#include "backends/topology/topology.h"

namespace chakra {

// How one of the ways that minimal routing offers is chosen.
enum class RoutingPolicy {
  kEcmp,         // at each vertex by a hash of the flow, salted by vertex (equal-cost multi-path)
  kDestination,  // at each vertex by the destination's number: one fixed way to each (d mod k)
  kFlowlet,      // RoutingOptions::paths ways by as many hashes, an equal part of the bytes on each
  kSpray,        // all ways, split evenly at each vertex: ideal packet spraying
  kValiant,      // minimal to a random vertex that has devices, then minimal (Valiant, SIAM J. Comput. 1982)
  // The minimal way or the best of four of Valiant's, as fewer flows times links say (UGAL: Singh, PhD
  // thesis, Stanford 2005); from all links of both ways, not the first alone (UGAL-G). Without load
  // (analytical) minimal.
  kUgal,
};

struct RoutingOptions {
  RoutingPolicy policy = RoutingPolicy::kEcmp;
  int paths = 8;         // kFlowlet: 1 to 1024
  int queue_pairs = 1;   // a pair's messages are spread over as many hashes, by tag; >= 1
  uint64_t seed = 1;     // of every hash
  double ugal_bias = 0;  // kUgal: minimal when links x flows <= Valiant's + this
  bool up_down = false;  // ways up, then down alone (UpDown) in place of the network's own minimal ones
  // Static routes, by dimension; null: none. While links of a copy of a network are down, they do not count
  // there.
  std::vector<std::shared_ptr<const RouteFile>> routes;
};

// "ecmp", "destination", "flowlet", "spray", "valiant", "ugal"
std::vector<std::string> RoutingPolicyNames();
// Errors: an unknown name, with the nearest.
absl::StatusOr<RoutingPolicy> ParseRoutingPolicy(absl::string_view name);

struct RouteHop {
  Hop hop;
  double share = 1;  // of the message; less than 1 on ways that are split
};

struct Route {
  std::vector<RouteHop> hops;  // each link once; in order where no way is split
  Time latency;                // of the longest of its ways
  bool found = true;           // false: dead links cut dst off
  bool split = false;
};

// How much is on a link at this moment.
class LinkLoad {
 public:
  virtual ~LinkLoad() = default;
  virtual double FlowsOn(uint32_t link) const = 0;
};

// Not thread-safe: it remembers routes and distances, within bounds.
class Router {
 public:
  Router(const Topology& topology, const RoutingOptions& options);

  // From device to device. Valid until the next call. Without networks on the
  // way, the path of Topology.
  const Route& Find(int src, int dst, uint64_t tag);
  // The same for one of the ways of a pair, in [0, RoutingOptions::queue_pairs): each has a hash of its own.
  const Route& FindWay(int src, int dst, uint64_t way);

  // A link (of a network) goes down or comes back, in one direction. Where links
  // of a copy of a network are down, its messages take the shortest ways that are
  // left, whatever its own rules for minimal ones are.
  void SetAlive(uint32_t link, bool alive);
  // kUgal asks it; must outlive the router. None at first.
  void set_load(const LinkLoad* load) { load_ = load; }

 private:
  struct Finder {  // of ways by search; one of the two
    std::unique_ptr<ShortestPaths> paths;
    std::unique_ptr<UpDown> up_down;
  };
  struct Copy {  // of a network with dead links
    std::vector<bool> alive;
    uint32_t dead = 0;
    Finder finder;
  };
  struct Cached {
    int src = -1, dst = -1;
    uint64_t queue_pair = 0;
    uint64_t epoch = 0;
    Route route;
  };
  struct Place {  // in a copy of the network of a dimension
    int dimension;
    uint32_t copy;
    const NetworkGraph* graph;
    const Guide* guide;  // null: the finder's ways
    Finder* finder;
    const RouteFile* routes;  // may be null
  };

  void Compute(int src, int dst, uint64_t key, RoutingPolicy policy, Route* route);
  void Through(int dimension, int src, int dst, uint64_t key, RoutingPolicy policy, Route* route);
  void Implicit(int src, int dst, Route* route) const;
  Finder MakeFinder(const NetworkGraph& graph) const;
  Place At(int dimension, uint32_t copy);
  void Next(const Place& place, uint32_t at, uint32_t to);
  // Appends the arcs of one way to way_; false where there is none.
  bool Walk(const Place& place, uint32_t from, uint32_t to, uint64_t key, bool by_destination);
  bool WalkAside(const Place& place, uint32_t from, uint32_t to, uint64_t key);
  void CutLoops(const NetworkGraph& graph, uint32_t from);
  bool Spread(const Place& place, uint32_t from, uint32_t to, Route* route);
  void Append(const Place& place, double share, Route* route) const;
  double Cost(const Route& route) const;

  Topology topology_;
  RoutingOptions options_;
  std::vector<Finder> finders_;                    // by dimension
  std::map<std::pair<int, uint32_t>, Copy> hurt_;  // by dimension and copy
  const LinkLoad* load_ = nullptr;
  std::vector<Cached> cache_;
  uint64_t epoch_ = 1;
  size_t cached_hops_ = 0;
  Route aside_, candidate_;
  std::vector<uint32_t> arcs_, way_;
};

}  // namespace chakra
