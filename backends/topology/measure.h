// Measures a network: sizes, distances, bisection, oversubscription.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/topology/graph.h"

namespace chakra {

struct MeasureOptions {
  uint64_t seed = 1;  // for samples and random halvings
  uint64_t distance_budget =
      2000000000;  // arcs that searches may visit; beyond this, only a sample of the devices is searched from
  uint64_t flow_budget =
      1000000000;           // arcs that a maximum flow may visit; beyond this, the halving is left out
  int random_halvings = 3;  // in addition to those by order and by grid
};

// The vertices of one group.
struct GroupFigures {
  std::string name;
  VertexKind kind = VertexKind::kDevice;
  int tier = 0;
  uint32_t count = 0;
  std::vector<int> shape;
  uint32_t least_degree = 0, most_degree = 0;  // links of a vertex
  // The bandwidth of all links to lower and to higher tiers, in one direction; B/s.
  double down = 0, up = 0;
  // down / up of single vertices that have both; 0: no such vertex.
  double least_ratio = 0, most_ratio = 0;
};

struct ClassFigures {
  LinkClass link_class;
  uint64_t links = 0;
};

// Distances between devices in links, over ordered pairs of distinct devices. Messages pass through devices
// only if the graph allows it.
struct DistanceFigures {
  int diameter = 0;          // over the pairs with a path
  double average = 0;        // over the pairs with a path
  uint64_t devices = 0;      // number of devices that were searched from
  bool exact = true;         // true: all devices were searched from; false: a seeded sample
  uint64_t unreachable = 0;  // searched ordered pairs without a path
  std::vector<std::pair<uint32_t, uint32_t>> examples;  // at most kMaxExamples of these pairs
  static constexpr size_t kMaxExamples = 8;
};

// The bandwidth between two halves of the devices: a maximum flow, including the links of the devices.
struct Halving {
  std::string name;      // "in device order", "interleaved", "dimension 0 of device", "random 1"
  double bandwidth = 0;  // B/s, one direction
  // `bandwidth` as a share of what the devices of the smaller side can send or receive together.
  double share = 0;
};

struct NetworkFigures {
  std::vector<GroupFigures> groups;  // in the order of the graph
  std::vector<ClassFigures> classes;
  uint64_t links = 0;
  DistanceFigures distances;
  // The halvings, the one with the lowest bandwidth first. Its bandwidth is an upper bound of the bisection
  // bandwidth, which is the minimum over all halvings. Empty: fewer than two devices.
  std::vector<Halving> halvings;
  int left_out = 0;             // number of halvings that exceeded flow_budget
  std::vector<uint32_t> alone;  // devices without links
  uint64_t memory_bytes = 0;
};

NetworkFigures Measure(const NetworkGraph& graph, const MeasureOptions& options = {});

// The single parts of Measure().
std::vector<GroupFigures> MeasureGroups(const NetworkGraph& graph);
DistanceFigures MeasureDistances(const NetworkGraph& graph, const MeasureOptions& options);
std::vector<Halving> MeasureHalvings(const NetworkGraph& graph, const MeasureOptions& options, int* left_out);

struct CheckOptions {
  int radix = 0;  // maximum number of links of a switch; 0: any number
};

struct Finding {
  bool error = false;  // true: something cannot be reached; false: only suspicious
  std::string text;
};

// Errors and suspicious facts of a network: pairs without a path, devices without links, switches with more
// links than `radix`, rates that no Ethernet or InfiniBand port has, switches of one group with different
// oversubscription. Errors come first.
std::vector<Finding> CheckNetwork(const NetworkGraph& graph, const NetworkFigures& figures,
                                  const CheckOptions& options);

// "400 Gb/s", "25.6 Tb/s": bits, decimal, at most four digits.
std::string FormatRate(double bytes_per_second);

}  // namespace chakra
