// Pairs the nodes of two graphs, and compares the pairs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// Pairs of nodes. Nodes pair first by id and name; then by name and order (the k-th remaining row of a name
// in A with the k-th in B); then by id, type and the ids of their dependencies (renamed nodes).
struct NodePairs {
  bool identical = false;        // the graphs are equal, row for row; the lists are empty
  std::vector<uint32_t> b_of_a;  // by row of A; kNoRow: only A has the node
  std::vector<uint32_t> only_b;  // rows of B, ascending
};
NodePairs PairNodes(const Graph& a, const Graph& b);

// One kind of difference: the number of nodes, the first node, and its values.
struct NodeDifference {
  std::string name;
  uint64_t nodes = 0;
  uint32_t row = 0;  // of A
  std::string a, b;
};

struct GraphDifference {
  uint64_t paired = 0, renumbered = 0;
  // By row of A: whether the pair differs in anything but the id; empty: no pair differs.
  std::vector<uint8_t> changed;
  std::vector<NodeDifference> differences;
};
// Compares everything in the graphs: attributes and dependencies. Peers are not in the graphs.
GraphDifference CompareGraphs(const Graph& a, const Graph& b, const NodePairs& pairs);

// Compares the peers and group names of rows that are communication on both sides. Adds to *differences, and
// marks rows in *changed, which has an entry for each row of A.
void ComparePeers(const RankTrace& a, const RankTrace& b, const NodePairs& pairs,
                  std::vector<NodeDifference>* differences, std::vector<uint8_t>* changed);

// Adds to the difference with this name, or appends a new one.
void AddDifference(absl::string_view name, uint64_t nodes, uint32_t row, const std::string& a,
                   const std::string& b, std::vector<NodeDifference>* out);

}  // namespace chakra
