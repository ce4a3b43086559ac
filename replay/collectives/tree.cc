#include <functional>

#include "replay/collectives/builders.h"

namespace chakra {
namespace {

constexpr int kPieces = 8;  // of each tree's half of the data: they follow each other through the tree

struct Node {
  int parent = -1;
  std::vector<int> children;
};

// A balanced binary tree over 0 .. n - 1 in order: the middle of a range is
// the root of what lies left and right of it, so every other member is a leaf.
std::vector<Node> InOrderTree(int n) {
  std::vector<Node> nodes(static_cast<size_t>(n));
  const std::function<void(int, int, int)> place = [&](int begin, int end, int parent) {
    if (begin >= end) return;
    // The left part is a full tree where that is possible: leaves are then even.
    int size = 1;
    while (size * 2 <= end - begin) size *= 2;
    const int root = begin + size - 1;
    nodes[static_cast<size_t>(root)].parent = parent;
    if (parent >= 0) nodes[static_cast<size_t>(parent)].children.push_back(root);
    place(begin, root, root);
    place(root + 1, end, root);
  };
  place(0, n, -1);
  return nodes;
}

// Adds member `v` of one tree (as `label` names members) with its half of the
// chunks: what comes from below goes up, what comes from above goes down.
void AddTree(const std::vector<Node>& tree, const std::function<int(int)>& label, int v, int first_chunk,
             const std::function<uint16_t(int to, int from)>& connection, Program* program) {
  const Node& node = tree[static_cast<size_t>(v)];
  const auto begin = [&] { return static_cast<uint32_t>(program->steps.size()); };
  const auto up = [&](int chunk) {
    for (const int child : node.children) {
      program->steps.push_back({StepOp::kRecvReduce, connection(v, child), label(child), chunk, 1});
    }
    if (node.parent >= 0) {
      program->steps.push_back({StepOp::kSendWait, connection(node.parent, v), label(node.parent), chunk, 1});
    }
  };
  const auto down = [&](int chunk) {
    if (node.parent >= 0) {
      program->steps.push_back({StepOp::kRecv, connection(v, node.parent), label(node.parent), chunk, 1});
    }
    for (const int child : node.children) {
      program->steps.push_back({StepOp::kSendWait, connection(child, v), label(child), chunk, 1});
    }
  };
  uint32_t from = begin();
  if (node.parent < 0) {  // the root turns each piece around
    for (int c = 0; c < kPieces; ++c) {
      up(first_chunk + c);
      down(first_chunk + c);
    }
    program->streams.push_back({from, begin()});
    return;
  }
  for (int c = 0; c < kPieces; ++c) up(first_chunk + c);
  program->streams.push_back({from, begin()});
  from = begin();
  for (int c = 0; c < kPieces; ++c) down(first_chunk + c);
  program->streams.push_back({from, begin()});
}

}  // namespace

void BuildDoubleBinaryTree(Plan* plan, int) {
  const int n = plan->members;
  plan->chunks = 2 * kPieces;
  plan->synchronizing = true;
  plan->programs.resize(static_cast<size_t>(n));
  const std::vector<Node> tree = InOrderTree(n);
  for (int t = 0; t < 2; ++t) {
    // The second tree is the first one mirrored (n even) or turned by one, so
    // that the leaves of one are inner members of the other, nearly.
    const std::function<int(int)> label = [n, t](int v) {
      return t == 0 ? v : n % 2 == 0 ? n - 1 - v : (v + 1) % n;
    };
    // Incoming connections of a member in a tree: its parent, then its children.
    const std::function<uint16_t(int, int)> connection = [&tree, t](int to, int from) {
      const Node& node = tree[static_cast<size_t>(to)];
      uint16_t index = 0;
      if (node.parent != from) {
        index = 1;
        for (size_t i = 0; i < node.children.size(); ++i)
          index = node.children[i] == from ? static_cast<uint16_t>(1 + i) : index;
      }
      return static_cast<uint16_t>(3 * t + index);
    };
    for (int v = 0; v < n; ++v) {
      Program& program = plan->programs[static_cast<size_t>(label(v))];
      AddTree(tree, label, v, t * kPieces, connection, &program);
      program.connections = 6;
    }
  }
}

}  // namespace chakra
