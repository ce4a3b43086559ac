// Routes messages through a machine with networks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "backends/topology/paths/shortest_paths.h"
#include "backends/topology/routing/route_file.h"
#include "backends/topology/routing/up_down.h"
#include "backends/topology/topology.h"

namespace chakra {

// How to choose among the paths that minimal routing offers.
enum class RoutingPolicy {
  kEcmp,         // at each vertex by a hash of the flow, salted by vertex (equal-cost multi-path)
  kDestination,  // at each vertex by the destination's number: one fixed path to each destination (d mod k)
  kFlowlet,      // RoutingOptions::paths paths, each by its own hash and with an equal part of the bytes
  kSpray,        // all paths, split evenly at each vertex: ideal packet spraying
  kValiant,      // minimal to a random vertex that has devices, then minimal (Valiant, SIAM J. Comput. 1982)
  // The minimal path or the best of four of Valiant's paths, whichever has the lowest (links * flows on the
  // busiest link) (UGAL: Singh, PhD thesis, Stanford 2005). All links of the paths count, not only the first
  // (UGAL-G). Minimal if loads are unknown (`analytical`).
  kUgal,
};

struct RoutingOptions {
  RoutingPolicy policy = RoutingPolicy::kEcmp;
  int paths = 8;         // kFlowlet: 1 to 1024
  int queue_pairs = 1;   // number of hashes (by tag) over which the messages of a pair are spread; >= 1
  uint64_t seed = 1;     // seed of every hash
  double ugal_bias = 0;  // kUgal: minimal if its links * flows <= those of Valiant's + this
  bool up_down = false;  // paths that first go up, then down (UpDown), instead of the network's minimal paths
  // Where a device has links to several NVSwitches, the hardware stripes its messages over them by their
  // bandwidth, whatever the policy. Among equally short paths, those over NVSwitches are preferred. False for
  // fabrics that do not split messages.
  bool stripes = true;
  // Static routes, by dimension; null: none. They are ignored in a copy of a network while links of the copy
  // are down.
  std::vector<std::shared_ptr<const RouteFile>> routes;
};

// "ecmp", "destination", "flowlet", "spray", "valiant", "ugal"
std::vector<std::string> RoutingPolicyNames();
// Errors: an unknown name, with the nearest.
absl::StatusOr<RoutingPolicy> ParseRoutingPolicy(absl::string_view name);

struct RouteHop {
  Hop hop;
  double share = 1;  // share of the message; less than 1 on split paths
};

struct Route {
  std::vector<RouteHop> hops;  // each link once; in order if the route is not split
  Time latency;                // of the longest path
  bool found = true;           // false: dead links cut dst off
  bool split = false;
};

// Gives the current load of links.
class LinkLoad {
 public:
  virtual ~LinkLoad() = default;
  virtual double FlowsOn(uint32_t link) const = 0;
};

// Not thread-safe, because it caches routes and distances, within a memory bound.
class Router {
 public:
  Router(const Topology& topology, const RoutingOptions& options);

  // The route between two devices. Valid until the next call. If the path crosses no network, it is that of
  // Topology.
  const Route& Find(int src, int dst, uint64_t tag);
  // The route by one of a pair's hashes; 0 <= `way` < RoutingOptions::queue_pairs.
  const Route& FindWay(int src, int dst, uint64_t way);

  // Takes a link of a network down, or brings it back, in one direction. While links of a copy of a network
  // are down, messages in this copy take the shortest paths that are left, regardless of the network's guide.
  void SetAlive(uint32_t link, bool alive);
  // Sets the load for kUgal; it must outlive the router. Initially none.
  void set_load(const LinkLoad* load) { load_ = load; }

 private:
  struct Finder {  // finds paths by search; one of the two is set
    std::unique_ptr<ShortestPaths> paths;
    std::unique_ptr<UpDown> up_down;
  };
  struct Copy {  // a copy of a network with dead links
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
  struct Place {  // a copy of the network of a dimension
    int dimension;
    uint32_t copy;
    const NetworkGraph* graph;
    const Guide* guide;  // null: use `finder`
    Finder* finder;
    const RouteFile* routes;  // may be null
  };

  void Compute(int src, int dst, uint64_t key, RoutingPolicy policy, Route* route);
  void Through(int dimension, int src, int dst, uint64_t key, RoutingPolicy policy, Route* route);
  void Implicit(int src, int dst, Route* route) const;
  Finder MakeFinder(const NetworkGraph& graph) const;
  Place At(int dimension, uint32_t copy);
  void Next(const Place& place, uint32_t at, uint32_t to);
  // Appends the arcs of one path to way_; returns false if there is none.
  bool Walk(const Place& place, uint32_t from, uint32_t to, uint64_t key, bool by_destination);
  bool WalkAside(const Place& place, uint32_t from, uint32_t to, uint64_t key);
  void CutLoops(const NetworkGraph& graph, uint32_t from);
  // `policy`: kSpray takes all arcs of a vertex; others choose one, or all to NVSwitches.
  bool Spread(const Place& place, uint32_t from, uint32_t to, uint64_t key, RoutingPolicy policy,
              Route* route);
  // The arcs of arcs_ that Spread() uses at `at`, with the share of each.
  std::vector<std::pair<uint32_t, double>> TakeArcs(const Place& place, uint32_t at, uint32_t to,
                                                    uint64_t key, RoutingPolicy policy) const;
  size_t Choose(const Place& place, uint32_t at, uint32_t to, uint64_t key, bool by_destination) const;
  void Append(const Place& place, double share, Route* route) const;
  double Cost(const Route& route) const;

  Topology topology_;
  RoutingOptions options_;
  std::vector<Finder> finders_;                    // by dimension
  std::vector<bool> striped_;                      // by dimension: whether HasStripes()
  std::map<std::pair<int, uint32_t>, Copy> hurt_;  // by dimension and copy
  const LinkLoad* load_ = nullptr;
  std::vector<Cached> cache_;
  uint64_t epoch_ = 1;
  size_t cached_hops_ = 0;
  Route aside_, candidate_;
  std::vector<uint32_t> arcs_, way_;
};

}  // namespace chakra
