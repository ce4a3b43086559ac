#include <algorithm>
#include <bit>

#include "replay/collectives/host_trees.h"
#include "replay/collectives/registry.h"
#include "replay/nccl/mpi/mpi.h"

namespace chakra::mpi {
namespace {

using T = CollectiveType;

int CeilLog2(int n) { return std::bit_width(static_cast<unsigned>(n - 1)); }

// Collects the rounds of one call.
struct Call {
  double bytes;
  int ranks;
  int per_node;
  std::vector<Round> rounds;

  bool Several() const { return ranks > per_node; }
  // Adds messages to a member whose number is `distance` away.
  void Add(int64_t distance, double message, double reduced, double times = 1, double behind = 0) {
    if (times > 0) rounds.push_back({distance >= per_node, message, reduced, times, behind});
  }
  // Adds messages between neighbours; the slowest ones are between two nodes.
  void AddNeighbours(double message, double reduced, double times) {
    if (times > 0) rounds.push_back({Several(), message, reduced, times, 0});
  }

  int Power() const { return static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks))); }
  // If `ranks` is not a power of two: adds the messages between neighbours before the rounds, or after them.
  // The members that take part in the rounds are then every second one, see Between().
  void Fold(double reduced) {
    if (Power() != ranks) Add(1, bytes, reduced);
  }
  int Between() const { return Power() == ranks ? 1 : 2; }

  void Doubling() {
    Fold(bytes);
    for (int d = 1; d < Power(); d *= 2) Add(d * Between(), bytes, bytes);
    Fold(0);
  }
  void HalvingDoubling() {
    Fold(bytes);
    for (int d = 1; d < Power(); d *= 2) Add(d * Between(), bytes / 2 / d, bytes / 2 / d);
    for (int d = Power() / 2; d >= 1; d /= 2) Add(d * Between(), bytes / 2 / d, 0);
    Fold(0);
  }
  void NearDoubling(bool reduces) {
    for (int d = 1; d < ranks; d *= 2) Add(d, bytes / ranks * d, reduces ? bytes / ranks * d : 0);
  }
  void Bruck(bool to_all) {
    for (int64_t d = 1; d < ranks; d *= 2) {
      // `whole`: for an all-to-all, the number of distances below `ranks` that have bit d.
      const int64_t whole = ranks / (2 * d) * d + std::max<int64_t>(0, ranks % (2 * d) - d);
      AddNeighbours(bytes / ranks * static_cast<double>(to_all ? whole : std::min(d, ranks - d)), 0, 1);
    }
  }
  // Adds messages down the tree, along the members that are served last.
  void Broadcast(absl::string_view tree) {
    int v = 0;
    for (;;) {
      const std::vector<int> children = HostTreeChildren(tree, v, ranks);
      if (children.empty()) return;
      Add(children.back() - v, bytes, 0, 1, static_cast<double>(children.size()) - 1);
      v = children.back();
    }
  }
  void Reduce(absl::string_view tree) {
    if (tree == "binomial") {
      for (int64_t d = 1; d < ranks; d *= 2) Add(d, bytes, bytes);
      return;
    }
    // A member adds the data that all its children send.
    int v = 0;
    for (;;) {
      const std::vector<int> children = HostTreeChildren(tree, v, ranks);
      if (children.empty()) return;
      Add(children.back() - v, bytes, bytes * static_cast<double>(children.size()));
      v = children.back();
    }
  }
  void ScatterAllGather() {
    for (int d = 1 << (CeilLog2(ranks) - 1); d >= 1; d /= 2)
      Add(d, bytes / ranks * std::min(d, ranks - d), 0);
    if (Power() == ranks) return NearDoubling(false);
    AddNeighbours(bytes / ranks, 0, ranks - 1);
  }
};

}  // namespace

std::vector<Round> RoundsOf(absl::string_view plan, T type, double bytes, int ranks, int per_node) {
  Call call{bytes, ranks, per_node, {}};
  const double share = bytes / ranks;
  const bool reduces = type == T::kAllReduce || type == T::kReduce || IsReduceScatter(type);
  if (plan == "ring") {
    call.AddNeighbours(share, reduces ? share : 0, ranks - 1);
    if (type == T::kAllReduce) call.AddNeighbours(share, 0, ranks - 1);
  } else if (plan == "rabenseifner") {
    call.HalvingDoubling();
  } else if (plan == "paired_doubling") {
    call.Doubling();
  } else if (plan == "reduce_broadcast") {
    call.Reduce("binomial");
    call.Broadcast("knomial");
  } else if (plan == "linear" && type == T::kAllReduce) {
    call.Reduce("linear");
    call.Broadcast("linear");
  } else if (plan == "recursive_doubling") {
    call.NearDoubling(false);
  } else if (plan == "recursive_halving" || plan == "pat") {
    call.NearDoubling(reduces);
  } else if (plan == "neighbor") {
    call.AddNeighbours(share, 0, 1);
    call.AddNeighbours(2 * share, 0, ranks / 2 - 1);
  } else if (plan == "bruck") {
    call.Bruck(type == T::kAllToAll);
  } else if (plan == "pairwise") {
    call.AddNeighbours(share, 0, ranks - 1);
  } else if (plan == "direct") {
    call.AddNeighbours(share, 0, 1);
  } else if (plan == "scatter_all_gather") {
    call.ScatterAllGather();
  } else if (plan == "chain") {
    call.AddNeighbours(bytes, reduces ? bytes : 0, ranks - 1);
  } else if (plan == "dissemination") {
    for (int64_t d = 1; d < ranks; d *= 2) call.AddNeighbours(0, 0, 1);
  } else {
    reduces ? call.Reduce(plan) : call.Broadcast(plan);
  }
  return std::move(call.rounds);
}

}  // namespace chakra::mpi
