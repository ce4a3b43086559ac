#include <bit>

#include "absl/strings/str_cat.h"
#include "replay/collectives/assembly.h"
#include "replay/collectives/builders.h"
#include "replay/collectives/tree.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// All-reduce through a switch in each block of `k` members. The switch adds a piece and sends each member its
// share of the sum. Members with the same place in all blocks reduce their shares over trees and send them
// back to their switches, which multicast them. Chunk p k + i is share i of piece p.
class InSwitchAllReduce {
 public:
  InSwitchAllReduce(int k, int pieces, Plan* plan)
      : k_(k), pieces_(pieces), n_(plan->members), blocks_(n_ / k), assembly_(Prepared(k, pieces, plan)) {}

  absl::Status Build() {
    up_ = assembly_.OpenEach(0, n_);
    down_ = assembly_.OpenEach(0, n_);
    added_ = assembly_.OpenEach(n_, blocks_);
    returned_ = assembly_.OpenEach(n_, blocks_);
    for (int m = 0; m < n_; ++m) port_.push_back(assembly_.Open(n_ + m / k_));
    if (blocks_ > 1) OpenTrees();
    // A piece is returned `lag` pieces after it was contributed, so that a member's uplink is not idle while
    // its share is under way.
    const int lag = blocks_ == 1 ? 1 : 1 + 2 * std::bit_width(static_cast<unsigned>(blocks_));
    for (int p = 0; p < pieces_ + lag; ++p) {
      if (p < pieces_) Contribute(p);
      if (p >= lag) Return(p - lag);
    }
    return assembly_.Finish();
  }

 private:
  struct Mark {
    int stream;
    int steps;
  };

  static Plan* Prepared(int k, int pieces, Plan* plan) {
    plan->chunks = pieces * k;
    plan->synchronizing = true;
    for (int m = 0; m < plan->members; m += k) plan->switches.push_back({m, m + 1});
    return plan;
  }
  int Share(int p, int m) const { return p * k_ + m % k_; }

  void Contribute(int p) {
    for (int m = 0; m < n_; ++m)
      assembly_.Move(StepOp::kRecvReduce, at(up_, m), at(added_, m / k_), p * k_, k_);
    std::vector<Mark> shared, passed;
    for (int m = 0; m < n_; ++m) {
      const int added = at(added_, m / k_);
      assembly_.Await(at(port_, m), added, assembly_.size(added));
      assembly_.Move(StepOp::kRecv, at(port_, m), at(down_, m), Share(p, m), 1);
      shared.push_back({at(down_, m), assembly_.size(at(down_, m))});
    }
    if (blocks_ > 1) ReduceBetweenBlocks(p, &shared, &passed);
    reduced_.push_back(std::move(shared));
    passed_.push_back(std::move(passed));
  }

  void Return(int p) {
    for (int m = 0; m < n_; ++m) {
      const Mark& mark = reduced_[static_cast<size_t>(p)][static_cast<size_t>(m)];
      assembly_.Await(at(up_, m), mark.stream, mark.steps);
      assembly_.Move(StepOp::kRecv, at(up_, m), at(returned_, m / k_), Share(p, m), 1);
    }
    for (int m = 0; m < n_; ++m) {
      const int returned = at(returned_, m / k_);
      assembly_.Await(at(port_, m), returned, assembly_.size(returned));
      if (blocks_ > 1) {
        const Mark& mark = passed_[static_cast<size_t>(p)][static_cast<size_t>(m)];
        assembly_.Await(at(down_, m), mark.stream, mark.steps);
      }
      assembly_.Move(StepOp::kRecv, at(port_, m), at(down_, m), p * k_, k_);
    }
  }

  void OpenTrees() {
    tree_ = InOrderTree(blocks_);
    for (int t = 0; t < 2; ++t) {
      rise_[t] = assembly_.OpenEach(0, n_);
      fall_[t] = rise_[t];
      for (int v = 0; v < blocks_; ++v) {
        if (tree_[static_cast<size_t>(v)].parent < 0) continue;
        for (int i = 0; i < k_; ++i) {
          const int m = Member(t, v, i);
          fall_[t][static_cast<size_t>(m)] = assembly_.Open(m);
        }
      }
    }
  }
  int Member(int t, int v, int i) const { return TreePlace(t, blocks_, v) * k_ + i; }

  // Reduces a piece between blocks; pieces use the two trees alternately. `shared`, in and out: when each
  // member has its share. `passed`: when the member has also passed the share on.
  void ReduceBetweenBlocks(int p, std::vector<Mark>* shared, std::vector<Mark>* passed) {
    const int t = p % 2;
    passed->resize(static_cast<size_t>(n_));
    for (int v = 0; v < blocks_; ++v) {
      const TreeNode& vertex = tree_[static_cast<size_t>(v)];
      for (int i = 0; i < k_; ++i) {
        const int m = Member(t, v, i), chunk = Share(p, m);
        const int rise = at(rise_[t], m), fall = at(fall_[t], m);
        Mark& mark = (*shared)[static_cast<size_t>(m)];
        assembly_.Await(rise, mark.stream, mark.steps);
        for (const int child : vertex.children)
          assembly_.Receive(StepOp::kRecvReduce, at(rise_[t], Member(t, child, i)), rise, chunk, 1);
        if (vertex.parent >= 0) {
          const int parent = Member(t, vertex.parent, i);
          assembly_.Send(rise, at(rise_[t], parent), chunk, 1);
          assembly_.Receive(StepOp::kRecv, at(fall_[t], parent), fall, chunk, 1);
        }
        mark = {fall, assembly_.size(fall)};
        for (const int child : vertex.children)
          assembly_.Send(fall, at(fall_[t], Member(t, child, i)), chunk, 1);
        (*passed)[static_cast<size_t>(m)] = {fall, assembly_.size(fall)};
      }
    }
  }

  static int at(const std::vector<int>& streams, int i) { return streams[static_cast<size_t>(i)]; }

  int k_, pieces_, n_, blocks_;
  Assembly assembly_;
  std::vector<int> up_, down_;              // by member: streams to and from its switch
  std::vector<int> added_, returned_;       // by switch: streams of contributions, and of returned shares
  std::vector<int> port_;                   // by member: its switch's stream towards it
  std::vector<TreeNode> tree_;              // the tree over blocks
  std::vector<int> rise_[2], fall_[2];      // by tree and member: streams up and down; the root has one
                                            // stream for both
  std::vector<std::vector<Mark>> reduced_;  // by piece and member: when the member's share is final
  std::vector<std::vector<Mark>> passed_;   // by piece and member: when the member has passed its share on
};

// All-gather and reduce-scatter through one switch. Chunk j k + p is piece p of the data that member j sends
// (all-gather) or gets (reduce-scatter).
absl::Status BuildOneWay(const PlanRequest& request, Plan* plan) {
  const int n = plan->members, k = request.pieces;
  const bool gathers = plan->type == CollectiveType::kAllGather;
  plan->chunks = n * k;
  if (gathers) plan->parts = k;
  plan->synchronizing = true;
  plan->switches = {{0, 1}};
  Assembly assembly(plan);
  const std::vector<int> up = assembly.OpenEach(0, n), down = assembly.OpenEach(0, n);
  const int into = assembly.Open(n);
  std::vector<int> port;
  for (int m = 0; m < n; ++m) port.push_back(assembly.Open(n));
  for (int p = 0; p < k; ++p) {
    if (gathers) {
      for (int m = 0; m < n; ++m)
        assembly.Move(StepOp::kRecv, up[static_cast<size_t>(m)], into, m * k + p, 1);
      for (int m = 0; m < n; ++m) {
        const auto at = static_cast<size_t>(m);
        assembly.Await(port[at], into, assembly.size(into));
        for (int j = 0; j < n; ++j) assembly.Move(StepOp::kRecv, port[at], down[at], j * k + p, 1);
      }
      continue;
    }
    for (int j = 0; j < n; ++j) {
      const auto owner = static_cast<size_t>(j);
      for (const int from : up) assembly.Move(StepOp::kRecvReduce, from, into, j * k + p, 1);
      assembly.Await(port[owner], into, assembly.size(into));
      assembly.Move(StepOp::kRecv, port[owner], down[owner], j * k + p, 1);
    }
  }
  return assembly.Finish();
}

}  // namespace

absl::Status BuildNvls(const PlanRequest& request, Plan* plan) {
  const int64_t n = plan->members, pieces = request.pieces;
  if (plan->type == CollectiveType::kAllReduce) {
    RETURN_IF_ERROR(CheckSteps(request, 12 * n * pieces));
    return InSwitchAllReduce(plan->members, request.pieces, plan).Build();
  }
  RETURN_IF_ERROR(CheckSteps(request, 2 * n * (n + 1) * pieces));
  return BuildOneWay(request, plan);
}

absl::Status BuildNvlsTree(const PlanRequest& request, Plan* plan) {
  RETURN_IF_ERROR(NeedBlocks(request));
  if (request.blocks[0] < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("nvls_tree on ", request.members, " ranks: blocks[0] is ", request.blocks[0],
                     ", expected at least 2 ranks at each switch (double_binary_tree supports 1)"));
  }
  RETURN_IF_ERROR(CheckSteps(request, int64_t{20} * plan->members * request.pieces));
  return InSwitchAllReduce(request.blocks[0], request.pieces, plan).Build();
}

}  // namespace chakra
