// All shortest paths of any graph, by the number of links.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/topology/paths/destination_fields.h"

namespace chakra {

// Answers as a Guide does, from the distances to one destination at a time.
// These are found by a breadth-first search when they are first needed, over
// the vertices that messages pass through alone, are shared by all devices
// that hang on the same vertices, and are dropped when they take more than
// `budget` bytes. Not thread-safe.
class ShortestPaths {
 public:
  static constexpr uint64_t kDefaultBudget = uint64_t{64} << 20;
  static constexpr int kUnreachable = 0xffff;

  // `graph` must outlive it.
  explicit ShortestPaths(const NetworkGraph& graph, uint64_t budget = kDefaultBudget)
      : graph_(&graph), fields_(graph, budget) {}

  // Which arcs messages may use; null (the default): all. Kept by reference;
  // call again whenever it has changed. Both directions of a link are asked.
  void SetAlive(const std::vector<bool>* alive) { fields_.SetAlive(alive); }

  // The arcs out of `at` on shortest paths to `to`, in the order of their
  // numbers. `to` is any vertex.
  void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs);
  // Links from `at` to `to`; kUnreachable: there is no way.
  int Distance(uint32_t at, uint32_t to);

 private:
  const std::vector<uint16_t>& FieldOf(uint32_t to);
  int At(const std::vector<uint16_t>& field, uint32_t v, uint32_t to) const;
  void Search(uint32_t to, std::vector<uint16_t>* distance);

  const NetworkGraph* graph_;
  DestinationFields fields_;  // links to the destination
  std::vector<uint32_t> queue_;
};

}  // namespace chakra
