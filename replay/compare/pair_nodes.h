// Which node of one graph is which of another, and how the two differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// By id and name; then what is left by name and order (the k-th such row of A
// with the k-th of B); then by id, type and the ids of the dependencies (renamed
// nodes).
struct NodePairs {
  bool identical = false;        // the graphs are equal, row for row; the lists are empty
  std::vector<uint32_t> b_of_a;  // by row of A; kNoRow: only there
  std::vector<uint32_t> only_b;  // rows of B, ascending
};
NodePairs PairNodes(const Graph& a, const Graph& b);

// One way in which nodes differ, the first such node, and its values.
struct NodeDifference {
  std::string name;
  uint64_t nodes = 0;
  uint32_t row = 0;  // of A
  std::string a, b;
};

struct GraphDifference {
  uint64_t paired = 0, renumbered = 0;
  std::vector<uint8_t> changed;  // by row of A: its pair differs in anything but the id; empty: none does
  std::vector<NodeDifference> differences;
};
// What lies in the graphs: attributes and dependencies; not the peers.
GraphDifference CompareGraphs(const Graph& a, const Graph& b, const NodePairs& pairs);

// The names of the ranks' peers and groups, of rows that are communication on
// both sides; adds to *differences, and marks rows in *changed, which has one entry a row of A.
void ComparePeers(const RankTrace& a, const RankTrace& b, const NodePairs& pairs,
                  std::vector<NodeDifference>* differences, std::vector<uint8_t>* changed);

// Adds to the one of that name, or starts it.
void AddDifference(absl::string_view name, uint64_t nodes, uint32_t row, const std::string& a,
                   const std::string& b, std::vector<NodeDifference>* out);

}  // namespace chakra
