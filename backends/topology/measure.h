// The figures of a network: sizes, distances, bisection, oversubscription.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/topology/graph.h"

namespace chakra {

struct MeasureOptions {
  uint64_t seed = 1;  // of samples and of random halvings
  uint64_t distance_budget =
      2000000000;  // arcs looked at by searches; beyond it a sample of the devices is searched from
  uint64_t flow_budget =
      1000000000;           // arcs looked at by one maximum flow; beyond it that halving is left out
  int random_halvings = 3;  // beside those by order and by grid
};

// The vertices of one group.
struct GroupFigures {
  std::string name;
  VertexKind kind = VertexKind::kDevice;
  int tier = 0;
  uint32_t count = 0;
  std::vector<int> shape;
  uint32_t least_degree = 0, most_degree = 0;  // links of a vertex
  // Bytes a second of all links to lower and to higher tiers, one direction.
  double down = 0, up = 0;
  // down / up of single vertices that have both; 0: none has.
  double least_ratio = 0, most_ratio = 0;
};

struct ClassFigures {
  LinkClass link_class;
  uint64_t links = 0;
};

// In links, between devices, over ordered distinct pairs. Messages pass through
// devices only where the graph says so.
struct DistanceFigures {
  int diameter = 0;                                     // of the pairs with a way
  double average = 0;                                   // the same
  uint64_t devices = 0;                                 // that were searched from
  bool exact = true;                                    // all were; else they are a seeded sample
  uint64_t unreachable = 0;                             // ordered pairs without a way, of those searched
  std::vector<std::pair<uint32_t, uint32_t>> examples;  // of these, at most kMaxExamples
  static constexpr size_t kMaxExamples = 8;
};

// What two halves of the devices can send to each other: a maximum flow, the
// links of the devices included.
struct Halving {
  std::string name;      // "in device order", "interleaved", "dimension 0 of device", "random 1"
  double bandwidth = 0;  // B/s, one direction
  // Of what the devices of the smaller side can send or receive together.
  double share = 0;
};

struct NetworkFigures {
  std::vector<GroupFigures> groups;  // in the order of the graph
  std::vector<ClassFigures> classes;
  uint64_t links = 0;
  DistanceFigures distances;
  // The least first. The least is an upper bound of the bisection bandwidth,
  // whose definition takes the least of all halvings. Empty: fewer than two devices.
  std::vector<Halving> halvings;
  int left_out = 0;             // halvings that took more than flow_budget
  std::vector<uint32_t> alone;  // devices without links
  uint64_t memory_bytes = 0;
};

NetworkFigures Measure(const NetworkGraph& graph, const MeasureOptions& options = {});

// The parts, for one at a time.
std::vector<GroupFigures> MeasureGroups(const NetworkGraph& graph);
DistanceFigures MeasureDistances(const NetworkGraph& graph, const MeasureOptions& options);
std::vector<Halving> MeasureHalvings(const NetworkGraph& graph, const MeasureOptions& options, int* left_out);

struct CheckOptions {
  int radix = 0;  // most links of a switch; 0: any number
};

struct Finding {
  bool error = false;  // something cannot be reached; else worth a look
  std::string text;
};

// What is wrong with a network, or looks wrong: pairs without a way, devices
// without links, switches with more links than `radix`, rates that no Ethernet
// or InfiniBand port has, switches of one group with unlike oversubscription.
// Errors come first.
std::vector<Finding> CheckNetwork(const NetworkGraph& graph, const NetworkFigures& figures,
                                  const CheckOptions& options);

// "400 Gb/s", "25.6 Tb/s": bits, decimal, at most four digits.
std::string FormatRate(double bytes_per_second);

}  // namespace chakra
