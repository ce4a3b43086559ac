#include "replay/collectives/tree.h"

#include <algorithm>
#include <functional>

#include "replay/collectives/assembly.h"
#include "replay/collectives/builders.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// A tree over the heads of blocks, with the other members of each block as a chain behind its head. Vertex b
// k + i is the i-th member of the chain of vertex b of the tree over blocks.
std::vector<TreeNode> TreeOfChains(int k, int blocks) {
  const std::vector<TreeNode> heads = InOrderTree(blocks);
  std::vector<TreeNode> tree(static_cast<size_t>(k) * heads.size());
  for (int b = 0; b < blocks; ++b) {
    TreeNode& head = tree[static_cast<size_t>(b * k)];
    const TreeNode& block = heads[static_cast<size_t>(b)];
    if (block.parent >= 0) head.parent = block.parent * k;
    for (const int child : block.children) head.children.push_back(child * k);
    for (int v = b * k; v + 1 < (b + 1) * k; ++v) {
      tree[static_cast<size_t>(v)].children.push_back(v + 1);
      tree[static_cast<size_t>(v) + 1].parent = v;
    }
  }
  return tree;
}

// Adds a tree whose vertex v is member `label[v]`, for `pieces` chunks from `first` on. A member has one
// stream for data going up and one for data going down. The root has a single stream, which returns each
// piece. The heads of chains of `k` members send down to other blocks and to their own chain in separate
// streams, because these are separate links.
void AddTree(const std::vector<TreeNode>& tree, const std::vector<int>& label, int k, int first, int pieces,
             Assembly* assembly) {
  std::vector<int> up, down, across;
  const auto is_far = [&](size_t parent, int child) {
    return k > 1 && static_cast<int>(parent) / k != child / k;
  };
  for (size_t v = 0; v < tree.size(); ++v) {
    up.push_back(assembly->Open(label[v]));
    down.push_back(tree[v].parent < 0 ? up.back() : assembly->Open(label[v]));
    const bool far = std::any_of(tree[v].children.begin(), tree[v].children.end(),
                                 [&](int child) { return is_far(v, child); });
    across.push_back(far ? assembly->Open(label[v]) : down.back());
  }
  const auto add = [&](size_t v, int chunk) {
    const int parent = tree[v].parent;
    for (const int child : tree[v].children)
      assembly->Receive(StepOp::kRecvReduce, up[static_cast<size_t>(child)], up[v], chunk, 1);
    if (parent >= 0) {
      assembly->Send(up[v], up[static_cast<size_t>(parent)], chunk, 1);
      const auto above = static_cast<size_t>(parent);
      const bool far = is_far(above, static_cast<int>(v));
      assembly->Receive(StepOp::kRecv, far ? across[above] : down[above], down[v], chunk, 1);
    }
    if (across[v] != down[v]) assembly->Await(across[v], down[v], assembly->size(down[v]));
    for (const int child : tree[v].children) {
      assembly->Send(is_far(v, child) ? across[v] : down[v], down[static_cast<size_t>(child)], chunk, 1);
    }
  };
  // The first piece of all vertices numbers the connections. The other pieces are added vertex by vertex, for
  // locality of memory.
  for (size_t v = 0; v < tree.size(); ++v) add(v, first);
  for (size_t v = 0; v < tree.size(); ++v) {
    for (int chunk = first + 1; chunk < first + pieces; ++chunk) add(v, chunk);
  }
}

}  // namespace

std::vector<TreeNode> InOrderTree(int n) {
  std::vector<TreeNode> nodes(static_cast<size_t>(n));
  const std::function<void(int, int, int)> place = [&](int begin, int end, int parent) {
    if (begin >= end) return;
    // The left part is a full tree if possible, so that leaves have even numbers.
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

absl::Status BuildDoubleBinaryTree(const PlanRequest& request, Plan* plan) {
  const int n = plan->members;
  const int k = request.blocks.empty() ? 1 : request.blocks[0];
  RETURN_IF_ERROR(CheckSteps(request, int64_t{8} * n * request.pieces));
  plan->chunks = 2 * request.pieces;
  plan->synchronizing = true;
  Assembly assembly(plan);
  const std::vector<TreeNode> tree = TreeOfChains(k, n / k);
  for (int t = 0; t < 2; ++t) {
    std::vector<int> label;  // the chains of the second tree run in the opposite direction
    for (int v = 0; v < n; ++v)
      label.push_back(TreePlace(t, n / k, v / k) * k + (t == 0 ? v % k : k - 1 - v % k));
    AddTree(tree, label, k, t * request.pieces, request.pieces, &assembly);
  }
  return assembly.Finish();
}

}  // namespace chakra
