// Remembers the results of episodes. An episode lasts from the first packet over ports that were idle until
// they are idle again.
//
// A simulation is a function of its inputs. Inputs are flows: when they begin in the episode, how much they
// send, over which ports. Ports are numbered as they appear, so the results of one node of a machine also
// hold for all symmetric nodes. The results form a tree: an edge is an input, and a node has the ends of
// flows after this input, up to the next one.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/fabric.h"
#include "backends/packet/network/port_totals.h"

namespace chakra::packet {

class Episodes {
 public:
  static constexpr uint32_t kRoot = 0;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  struct Output {
    int64_t at;     // ps, since the episode began
    uint32_t flow;  // number in the episode, in the order of their beginning
    FlowEnd::Kind kind;
  };
  // Counts of a whole episode.
  struct Ledger {
    PacketTotals totals;
    std::vector<PortTotals> ports;      // in the order of their appearance
    std::vector<uint64_t> most_queued;  // bytes, by port
  };
  struct Node {
    std::vector<Output> outputs;
    int64_t known = 0;            // ps: all outputs up to this time are here
    int64_t idle = kNever;        // ps: end of the episode; kNever: not known
    uint32_t writer = kNoIndex;   // the region whose simulation adds outputs here
    std::vector<uint32_t> waits;  // regions that wait for more outputs
    Ledger ledger;                // complete if `idle` is known
  };

  Episodes() { nodes_.emplace_back(); }

  Node& operator[](uint32_t node) { return nodes_[node]; }
  // Returns the node to which an input at `at` leads from `node`. A new node has no outputs yet. kNoIndex:
  // the node would be new, and the memory limit is reached.
  uint32_t Follow(uint32_t node, int64_t at, const std::vector<uint64_t>& input) {
    const uint64_t hash = Hash(node, input);
    const auto [begin, end] = std::pair(first_.find(hash), first_.end());
    for (uint32_t i = begin == end ? kNoIndex : begin->second; i != kNoIndex; i = edges_[i].next) {
      if (edges_[i].from == node && Same(edges_[i], input)) return i + 1;
    }
    if (words_.size() + input.size() > kMostWords) return kNoIndex;
    const auto edge = static_cast<uint32_t>(edges_.size());
    edges_.push_back(
        {node, begin == end ? kNoIndex : begin->second, words_.size(), static_cast<uint32_t>(input.size())});
    words_.insert(words_.end(), input.begin(), input.end());
    first_[hash] = edge;
    nodes_.emplace_back();
    nodes_.back().known = at;
    return edge + 1;
  }
  uint64_t MemoryBytes() const {
    return nodes_.capacity() * sizeof(Node) + words_.capacity() * sizeof(uint64_t) +
           edges_.capacity() * sizeof(Edge);
  }

 private:
  static constexpr size_t kMostWords = size_t{1} << 27;  // 1 GiB
  // An edge to node (its own number + 1).
  struct Edge {
    uint32_t from;
    uint32_t next;  // next edge with the same hash
    size_t first;   // first of its words_
    uint32_t size;
  };
  static uint64_t Hash(uint32_t node, const std::vector<uint64_t>& input) {
    uint64_t h = node;
    for (const uint64_t word : input) {
      h = (h ^ word) * 0x9e3779b97f4a7c15u;
      h ^= h >> 32;
    }
    return h;
  }
  bool Same(const Edge& e, const std::vector<uint64_t>& input) const {
    if (e.size != input.size()) return false;
    for (uint32_t i = 0; i < e.size; ++i) {
      if (words_[e.first + i] != input[i]) return false;
    }
    return true;
  }

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<uint64_t> words_;
  absl::flat_hash_map<uint64_t, uint32_t> first_;  // first edge, by hash
};

}  // namespace chakra::packet
