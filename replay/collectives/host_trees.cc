#include "replay/collectives/host_trees.h"

#include <algorithm>
#include <bit>

#include "replay/collectives/assembly.h"
#include "replay/collectives/builders.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr int kRadix = 4;  // radix of "knomial": the default of Open MPI

// The tree, with members numbered from the root.
struct Places {
  std::vector<int> parent;                 // -1: the root
  std::vector<std::vector<int>> children;  // the largest subtree last
};

Places PlacesOf(absl::string_view algorithm, int n) {
  Places places{std::vector<int>(static_cast<size_t>(n), -1), {}};
  for (int v = 0; v < n; ++v) {
    places.children.push_back(HostTreeChildren(algorithm, v, n));
    for (const int child : places.children.back()) places.parent[static_cast<size_t>(child)] = v;
  }
  return places;
}

// Appends a reduction of all chunks to `root`, or a broadcast from `root`.
void AddHostTree(const Places& places, bool reduce, int root, Assembly* assembly,
                 const std::vector<int>& streams, int chunks) {
  const int n = static_cast<int>(streams.size());
  const auto at = [&](int v) { return streams[static_cast<size_t>((int64_t{v} + root) % n)]; };
  const auto receive_all = [&](int v) {
    for (const int child : places.children[static_cast<size_t>(v)])
      assembly->Receive(StepOp::kRecvReduce, at(child), at(v), 0, chunks);
  };
  for (int v = 0; v < n; ++v) {
    const int parent = places.parent[static_cast<size_t>(v)];
    if (reduce) receive_all(v);
    if (parent >= 0 && reduce) assembly->Send(at(v), at(parent), 0, chunks);
    if (parent >= 0 && !reduce) assembly->Receive(StepOp::kRecv, at(parent), at(v), 0, chunks);
    for (const int child : places.children[static_cast<size_t>(v)]) {
      if (!reduce) assembly->Send(at(v), at(child), 0, chunks);
    }
  }
}

}  // namespace

std::vector<int> HostTreeChildren(absl::string_view algorithm, int v, int n) {
  std::vector<int> children;
  if (algorithm == "binary") {
    for (const int64_t child : {int64_t{2} * v + 2, int64_t{2} * v + 1}) {
      if (child < n) children.push_back(static_cast<int>(child));
    }
    return children;
  }
  // Children differ from v in one digit of v's number in this radix: a digit below the lowest digit of v that
  // is not 0.
  const int64_t radix = algorithm == "linear" ? n : algorithm == "knomial" ? kRadix : 2;
  for (int64_t place = 1; place < n && v / place % radix == 0; place *= radix) {
    for (int64_t digit = 1; digit < radix && v + digit * place < n; ++digit)
      children.push_back(static_cast<int>(v + digit * place));
  }
  return children;
}

absl::Status BuildHostTree(const PlanRequest& request, Plan* plan) {
  plan->chunks = 1;
  Assembly assembly(plan);
  const std::vector<int> streams = assembly.OpenEach(0, plan->members);
  AddHostTree(PlacesOf(plan->algorithm, plan->members), plan->type == CollectiveType::kReduce, request.root,
              &assembly, streams, 1);
  return assembly.Finish();
}

absl::Status BuildReduceBroadcast(const PlanRequest&, Plan* plan) {
  plan->chunks = 1;
  plan->synchronizing = true;
  Assembly assembly(plan);
  const std::vector<int> streams = assembly.OpenEach(0, plan->members);
  const bool linear = plan->algorithm == "linear";
  AddHostTree(PlacesOf(linear ? "linear" : "", plan->members), true, 0, &assembly, streams, 1);
  AddHostTree(PlacesOf(linear ? "linear" : "knomial", plan->members), false, 0, &assembly, streams, 1);
  return assembly.Finish();
}

absl::Status BuildScatterAllGather(const PlanRequest& request, Plan* plan) {
  const int n = plan->members;
  const bool doubles = std::has_single_bit(static_cast<unsigned>(n));
  RETURN_IF_ERROR(CheckSteps(request, doubles ? int64_t{64} * n : int64_t{2} * n * n));
  plan->chunks = n;
  Assembly assembly(plan);
  const std::vector<int> streams = assembly.OpenEach(0, n);
  const auto at = [&](int v) { return streams[static_cast<size_t>((int64_t{v} + request.root) % n)]; };
  const Places places = PlacesOf("", n);
  // A member gets the chunks of its subtree: its own and the following ones.
  for (int v = 0; v < n; ++v) {
    const auto size = [&](int child) { return std::min(child & -child, n - child); };
    if (v > 0) assembly.Receive(StepOp::kRecv, at(places.parent[static_cast<size_t>(v)]), at(v), v, size(v));
    const std::vector<int>& children = places.children[static_cast<size_t>(v)];
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      assembly.Send(at(v), at(*child), *child, size(*child));
  }
  for (int d = 1; d < n && doubles; d *= 2) {
    for (int v = 0; v < n; ++v) assembly.Send(StepOp::kSend, at(v), at(v ^ d), v & -d, d);
    for (int v = 0; v < n; ++v) assembly.Receive(StepOp::kRecv, at(v ^ d), at(v), (v ^ d) & -d, d);
  }
  for (int step = 0; step < n - 1 && !doubles; ++step) {
    for (int v = 0; v < n; ++v) assembly.Send(StepOp::kSend, at(v), at((v + 1) % n), (v - step + n) % n, 1);
    for (int v = 0; v < n; ++v)
      assembly.Receive(StepOp::kRecv, at((v - 1 + n) % n), at(v), (v - 1 - step + 2 * n) % n, 1);
  }
  return assembly.Finish();
}

}  // namespace chakra
