// Reference searches for networks: slow and simple, independent of the builders.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/topology/network.h"
#include "backends/topology/paths/shortest_paths.h"

namespace chakra {

inline Network MakeNetwork(const std::string& spec, int devices = 0) {
  auto parsed = ParseNetworkSpec(spec);
  EXPECT_TRUE(parsed.ok()) << spec << ": " << parsed.status();
  auto network = BuildNetwork(*parsed, devices);
  EXPECT_TRUE(network.ok()) << spec << ": " << network.status();
  return *std::move(network);
}

// The error of building the network; "": none.
inline std::string NetworkError(const std::string& spec, int devices = 0) {
  auto parsed = ParseNetworkSpec(spec);
  if (!parsed.ok()) return std::string(parsed.status().message());
  auto network = BuildNetwork(*parsed, devices);
  return network.ok() ? "" : std::string(network.status().message());
}

// The number of links from `from` to every vertex; -1: no path. Paths go through devices only if the graph
// allows it.
inline std::vector<int> LinksFrom(const NetworkGraph& g, uint32_t from) {
  std::vector<int> distance(g.vertices(), -1);
  std::vector<uint32_t> queue = {from};
  distance[from] = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    const uint32_t v = queue[i];
    if (v != from && !g.Forwards(v)) continue;
    for (uint32_t arc = g.begin(v); arc < g.end(v); ++arc) {
      if (distance[g.target(arc)] >= 0) continue;
      distance[g.target(arc)] = distance[v] + 1;
      queue.push_back(g.target(arc));
    }
  }
  return distance;
}

struct Distances {
  int diameter = 0;    // -1: some pair is cut off
  double average = 0;  // over ordered distinct pairs
};

// The distances between the vertices [first, first + count), which are the devices or the routers.
inline Distances DistancesAmong(const NetworkGraph& g, uint32_t first, uint32_t count) {
  Distances out;
  double sum = 0;
  for (uint32_t a = first; a < first + count; ++a) {
    const std::vector<int> d = LinksFrom(g, a);
    for (uint32_t b = first; b < first + count; ++b) {
      if (d[b] < 0) return {-1, 0};
      out.diameter = std::max(out.diameter, d[b]);
      sum += d[b];
    }
  }
  out.average = count < 2 ? 0 : sum / (static_cast<double>(count) * (count - 1));
  return out;
}
inline Distances DeviceDistances(const NetworkGraph& g) { return DistancesAmong(g, 0, g.devices()); }

inline uint32_t CountOf(const NetworkGraph& g, VertexKind kind) {
  uint32_t n = 0;
  for (const VertexGroup& group : g.groups()) n += group.kind == kind ? group.count : 0;
  return n;
}
// The number of links of the class with this name.
inline uint32_t LinksOf(const NetworkGraph& g, const std::string& name) {
  uint32_t n = 0;
  for (uint32_t arc = 0; arc < g.arcs(); ++arc) n += g.link_class(arc).name == name ? 1 : 0;
  return n / 2;
}
// The number of links between the vertices for which `inside` holds and the others.
template <typename F>
uint32_t LinksAcross(const NetworkGraph& g, F inside) {
  uint32_t n = 0;
  for (uint32_t arc = 0; arc < g.arcs(); ++arc) n += inside(g.source(arc)) && !inside(g.target(arc)) ? 1 : 0;
  return n;
}

// Follows the network's guide, or all shortest paths, from `from` to `to`, choosing at random among the
// offered arcs. Returns the vertices passed. Fails the test if the path does not arrive, leaves the graph, or
// passes a vertex twice or a vertex that does not forward.
inline std::vector<uint32_t> RandomRoute(const Network& network, ShortestPaths* paths, uint32_t from,
                                         uint32_t to, std::mt19937_64* random) {
  const NetworkGraph& g = network.graph;
  std::vector<uint32_t> way = {from};
  std::set<uint32_t> seen = {from};
  std::vector<uint32_t> arcs;
  while (way.back() != to) {
    arcs.clear();
    if (network.guide != nullptr) {
      network.guide->Next(way.back(), to, &arcs);
    } else {
      paths->Next(way.back(), to, &arcs);
    }
    const std::string where =
        absl::StrCat(g.VertexName(from), " to ", g.VertexName(to), " at ", g.VertexName(way.back()));
    if (arcs.empty()) {
      ADD_FAILURE() << where << ": no way on";
      return way;
    }
    for (const uint32_t arc : arcs) {
      if (arc < g.begin(way.back()) || arc >= g.end(way.back())) {
        ADD_FAILURE() << where << ": arc " << arc << " does not leave here";
        return way;
      }
    }
    const uint32_t next = g.target(arcs[(*random)() % arcs.size()]);
    if (!seen.insert(next).second) {
      ADD_FAILURE() << where << ": passes " << g.VertexName(next) << " twice";
      return way;
    }
    if (next != to && !g.Forwards(next)) {
      ADD_FAILURE() << where << ": through " << g.VertexName(next) << ", which does not forward";
      return way;
    }
    way.push_back(next);
  }
  return way;
}

// Follows routes of `pairs` random pairs of devices; every route must have at most `most_links` links.
inline void CheckRandomRoutes(const Network& network, int pairs, int most_links, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  ShortestPaths paths(network.graph);
  for (int i = 0; i < pairs; ++i) {
    const auto a = static_cast<uint32_t>(random() % network.graph.devices());
    const auto b = static_cast<uint32_t>(random() % network.graph.devices());
    const std::vector<uint32_t> way = RandomRoute(network, &paths, a, b, &random);
    EXPECT_LE(static_cast<int>(way.size()) - 1, most_links)
        << network.graph.VertexName(a) << " to " << network.graph.VertexName(b);
    if (::testing::Test::HasFailure()) return;
  }
}

// The bytes on the busiest arc of each class, by class name, if every device sends one byte to every other
// and every choice is split evenly.
inline double BusiestLoad(const Network& network, const std::string& link_class) {
  const NetworkGraph& g = network.graph;
  ShortestPaths paths(g);
  std::vector<double> load(g.arcs(), 0), share(g.vertices(), 0);
  std::vector<uint32_t> arcs;
  for (uint32_t to = 0; to < g.devices(); ++to) {
    // Takes the vertices that carry bytes, the farthest first, since all arcs of a guide lead nearer.
    std::fill(share.begin(), share.end(), 0);
    std::vector<std::vector<uint32_t>> next(g.vertices());
    std::vector<int> waiting(g.vertices(), 0);
    std::vector<uint32_t> ready, all;
    std::vector<bool> seen(g.vertices(), false);
    for (uint32_t from = 0; from < g.devices(); ++from) {
      if (from == to || seen[from]) continue;
      all.push_back(from);
      seen[from] = true;
    }
    for (size_t i = 0; i < all.size(); ++i) {
      const uint32_t v = all[i];
      arcs.clear();
      if (v != to) network.guide != nullptr ? network.guide->Next(v, to, &arcs) : paths.Next(v, to, &arcs);
      next[v] = arcs;
      for (const uint32_t arc : arcs) {
        ++waiting[g.target(arc)];
        if (!seen[g.target(arc)]) {
          seen[g.target(arc)] = true;
          all.push_back(g.target(arc));
        }
      }
    }
    for (const uint32_t v : all) {
      if (waiting[v] == 0) ready.push_back(v);
    }
    for (size_t i = 0; i < ready.size(); ++i) {
      const uint32_t v = ready[i];
      const double carried = share[v] + (v < g.devices() && v != to ? 1 : 0);
      for (const uint32_t arc : next[v]) {
        const double part = carried / static_cast<double>(next[v].size());
        load[arc] += part;
        share[g.target(arc)] += part;
        if (--waiting[g.target(arc)] == 0) ready.push_back(g.target(arc));
      }
    }
  }
  double most = 0;
  for (uint32_t arc = 0; arc < g.arcs(); ++arc) {
    if (g.link_class(arc).name == link_class) most = std::max(most, load[arc]);
  }
  return most;
}

}  // namespace chakra
