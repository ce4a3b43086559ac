// The two trees that double-tree plans are made of.
#pragma once

#include <vector>

namespace chakra {

struct TreeNode {
  int parent = -1;  // the root's
  std::vector<int> children;
};

// A balanced binary tree over 0 .. n - 1 in order: the middle of a range is
// the root of what lies left and right of it, so every other vertex is a leaf.
std::vector<TreeNode> InOrderTree(int n);

// Which of n places vertex `v` of tree 0 or 1 stands for. The second tree is the
// first one mirrored (n even) or turned by one, so that the leaves of one are
// inner vertices of the other, nearly.
inline int TreePlace(int tree, int n, int v) { return tree == 0 ? v : n % 2 == 0 ? n - 1 - v : (v + 1) % n; }

}  // namespace chakra
