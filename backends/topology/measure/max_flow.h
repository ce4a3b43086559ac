// Maximum flow between two vertices of an undirected graph (Dinic 1970).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace chakra {

class MaxFlow {
 public:
  explicit MaxFlow(uint32_t vertices) : head_(vertices, kNone) {}

  // `capacity` is for each direction. The sum over all edges must fit in an int64_t.
  void AddEdge(uint32_t a, uint32_t b, int64_t capacity);
  // Returns nullopt if more than `budget` edges were visited. May be called only once.
  std::optional<int64_t> Run(uint32_t source, uint32_t sink, uint64_t budget);

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Edge {
    uint32_t to, next;
    int64_t left;  // remaining capacity
  };
  bool Levels();
  int64_t Augment();

  std::vector<uint32_t> head_;  // by vertex: its first edge
  std::vector<Edge> edges_;     // an edge is next to its reverse
  std::vector<int32_t> level_;
  std::vector<uint32_t> at_;  // by vertex: the next edge to try
  std::vector<uint32_t> queue_;
  std::vector<uint32_t> path_;  // edges from the source
  uint32_t source_ = 0, sink_ = 0;
  uint64_t looked_ = 0;
};

}  // namespace chakra
