// All shortest paths of any graph, by the number of links.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/topology/paths/destination_fields.h"

namespace chakra {

// Answers like a Guide, for any graph. A breadth-first search from a destination, over the vertices that
// messages pass through, computes distances when they are first needed. Devices with the same neighbours
// share distances. Distances are dropped when they need more than `budget` bytes. Not thread-safe.
class ShortestPaths {
 public:
  static constexpr uint64_t kDefaultBudget = uint64_t{64} << 20;
  static constexpr int kUnreachable = 0xffff;

  // `graph` must outlive the object.
  explicit ShortestPaths(const NetworkGraph& graph, uint64_t budget = kDefaultBudget)
      : graph_(&graph), fields_(graph, budget) {}

  // Sets the arcs that messages may use; null (the default): all. The vector is kept by reference; call
  // SetAlive() again after each change. A search checks both directions of a link.
  void SetAlive(const std::vector<bool>* alive) { fields_.SetAlive(alive); }

  // Appends the arcs out of `at` on shortest paths to `to`, in the order of their numbers. `to` may be any
  // vertex.
  void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs);
  // The number of links from `at` to `to`; kUnreachable: no path.
  int Distance(uint32_t at, uint32_t to);

 private:
  const std::vector<uint16_t>& FieldOf(uint32_t to);
  int At(const std::vector<uint16_t>& field, uint32_t v, uint32_t to) const;
  void Search(uint32_t to, std::vector<uint16_t>* distance);

  const NetworkGraph* graph_;
  DestinationFields fields_;  // number of links to the destination
  std::vector<uint32_t> queue_;
};

}  // namespace chakra
