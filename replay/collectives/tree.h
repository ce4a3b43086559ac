// The two trees of double-tree plans.
#pragma once

#include <vector>

namespace chakra {

struct TreeNode {
  int parent = -1;  // -1: the root
  std::vector<int> children;
};

// A balanced binary tree over 0 .. n - 1 in order: the middle of a range is the root of the parts to its left
// and right. Every second vertex is therefore a leaf.
std::vector<TreeNode> InOrderTree(int n);

// The place, of n, of vertex `v` of tree 0 or 1. The second tree is the first one mirrored (n even) or
// rotated by one (n odd), so that nearly all leaves of one tree are inner vertices of the other.
inline int TreePlace(int tree, int n, int v) { return tree == 0 ? v : n % 2 == 0 ? n - 1 - v : (v + 1) % n; }

}  // namespace chakra
