#include "replay/collectives/registry.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/collectives/builders.h"
#include "replay/collectives/levels.h"
#include "replay/collectives/loops.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr int kMostPieces = 1 << 16;

using Builder = absl::Status (*)(const PlanRequest&, Plan*);

struct Entry {
  const char* name;
  std::vector<CollectiveType> types;
  Builder build;
  bool of_hosts = false;  // see IsOfHosts()
};

// A line for each algorithm. The first algorithm that can plan a collective is its default.
const std::vector<Entry>& Entries() {
  using T = CollectiveType;
  static const std::vector<Entry>* entries = new std::vector<Entry>{
      {"ring", {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kReduceScatterBlock}, BuildRing},
      {"bidirectional_ring",
       {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kReduceScatterBlock},
       BuildBidirectionalRing},
      {"direct", {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kReduceScatterBlock}, BuildDirect},
      {"one_shot", {T::kAllReduce}, BuildOneShot},
      {"recursive_doubling", {T::kAllReduce}, BuildRecursiveDoubling},
      {"halving_doubling",
       {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kReduceScatterBlock},
       BuildHalvingDoubling},
      {"double_binary_tree", {T::kAllReduce}, BuildDoubleBinaryTree},
      {"bruck", {T::kAllGather}, BuildBruck},
      {"pat", {T::kAllGather, T::kReduceScatter, T::kReduceScatterBlock}, BuildPat},
      {"hierarchical",
       {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kReduceScatterBlock},
       BuildHierarchical},
      {"themis", {T::kAllReduce}, BuildThemis},
      {"torus", {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kReduceScatterBlock}, BuildTorus},
      {"nvls", {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kReduceScatterBlock}, BuildNvls},
      {"nvls_tree", {T::kAllReduce}, BuildNvlsTree},
      {"collnet", {T::kAllReduce}, BuildCollnet},
      {"pairwise", {T::kAllToAll}, BuildPairwise},
      {"direct", {T::kAllToAll}, BuildDirectAllToAll},
      {"ring", {T::kAllToAll}, BuildRingAllToAll},
      {"bruck", {T::kAllToAll}, BuildBruckAllToAll},
      {"hierarchical", {T::kAllToAll}, BuildHierarchicalAllToAll},
      {"pxn", {T::kAllToAll}, BuildPxn},
      {"torus", {T::kAllToAll}, BuildTorus},
      {"binomial", {T::kBroadcast, T::kReduce}, BuildBinomial},
      {"chain", {T::kBroadcast, T::kReduce}, BuildChain},
      {"linear", {T::kGather, T::kScatter}, BuildLinear},
      {"dissemination", {T::kBarrier}, BuildDissemination},
      {"paired_doubling", {T::kAllReduce}, BuildRecursiveDoubling, true},
      {"rabenseifner", {T::kAllReduce}, BuildHalvingDoubling, true},
      {"reduce_broadcast", {T::kAllReduce}, BuildReduceBroadcast, true},
      {"recursive_doubling", {T::kAllGather}, BuildNearDoubling, true},
      {"linear", {T::kAllReduce}, BuildReduceBroadcast, true},
      {"neighbor", {T::kAllGather}, BuildNeighbor, true},
      {"recursive_halving", {T::kReduceScatter, T::kReduceScatterBlock}, BuildNearDoubling, true},
      {"binomial_even", {T::kBroadcast}, BuildHostTree, true},
      {"knomial", {T::kBroadcast}, BuildHostTree, true},
      {"binary", {T::kBroadcast, T::kReduce}, BuildHostTree, true},
      {"linear", {T::kBroadcast, T::kReduce}, BuildHostTree, true},
      {"scatter_all_gather", {T::kBroadcast}, BuildScatterAllGather, true},
  };
  return *entries;
}

bool CanPlan(const Entry& entry, CollectiveType type) {
  for (CollectiveType t : entry.types) {
    if (t == type) return true;
  }
  return false;
}

absl::Status CheckRequest(const PlanRequest& request) {
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(std::string(Name(request.type)), " on ", request.members,
                                                   " ranks: ", std::string(what)));
  };
  int64_t product = 1;
  for (size_t l = 0; l < request.blocks.size(); ++l) {
    const int size = request.blocks[l];
    if (size < 1) return bad(absl::StrCat("blocks[", l, "] is ", size, ", expected at least 1"));
    product *= size;
    if (product > request.members) break;
  }
  if (!request.blocks.empty() && product != request.members) {
    return bad(absl::StrCat("blocks ", absl::StrJoin(request.blocks, " x "), " hold ",
                            product > request.members ? "more" : absl::StrCat(product), " ranks, expected ",
                            request.members));
  }
  if (!request.bandwidth.empty() && request.bandwidth.size() != request.blocks.size()) {
    return bad(absl::StrCat("bandwidth has ", request.bandwidth.size(), " levels, expected ",
                            request.blocks.size(), " as blocks has, or none"));
  }
  for (size_t l = 0; l < request.bandwidth.size(); ++l) {
    const double b = request.bandwidth[l];
    if (!(b > 0) || std::isinf(b)) return bad(absl::StrCat("bandwidth[", l, "] is ", b, ", expected > 0"));
  }
  if (request.parts < 1 || request.at_once < 1)
    return bad(absl::StrCat("parts ", request.parts, ", at_once ", request.at_once, ", expected 1 or more"));
  if (request.axes < 0) return bad(absl::StrCat("axes is ", request.axes, ", expected 0 or more"));
  if (request.pieces < 1 || request.pieces > kMostPieces)
    return bad(absl::StrCat("pieces is ", request.pieces, ", expected 1 to ", kMostPieces));
  return absl::OkStatus();
}

}  // namespace

bool IsExchange(const Plan& plan) {
  const auto n = static_cast<size_t>(plan.members);
  if (!plan.rotational || !plan.switches.empty() || plan.programs[0].streams.size() != 1) return false;
  const std::vector<Step>& steps = plan.programs[0].steps;
  if (n < 2 || steps.size() != 2 * (n - 1)) return false;
  std::vector<bool> sent(n);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].op != (i < n - 1 ? StepOp::kSend : StepOp::kRecv)) return false;
    if (i >= n - 1) continue;
    const auto to = static_cast<size_t>(steps[i].peer);
    if (to == 0 || to >= n || sent[to]) return false;
    sent[to] = true;
  }
  return true;
}

void NumberThrough(Plan* plan) {
  plan->stream_base.assign(1, 0);
  plan->connection_base.assign(1, 0);
  for (int m = 0; m < plan->nodes(); ++m) {
    const Program& program = plan->program(m);
    plan->stream_base.push_back(plan->stream_base.back() + static_cast<uint32_t>(program.streams.size()));
    plan->connection_base.push_back(plan->connection_base.back() + program.connections);
    if (plan->rotational && m > 0) continue;
    for (const Step& step : program.steps)
      plan->has_local_steps = plan->has_local_steps || (!IsSend(step.op) && !IsReceive(step.op));
  }
  FindLoops(plan);
}

void SetRotational(Program program, int chunks, Plan* plan) {
  program.streams = {{0, static_cast<uint32_t>(program.steps.size())}};
  plan->chunks = chunks;
  plan->rotational = true;
  plan->synchronizing = true;
  plan->programs = {std::move(program)};
}

std::vector<std::string> CollectiveNames() {
  std::vector<std::string> names;
  for (int i = 0; i < kCollectiveTypes; ++i) names.emplace_back(Name(static_cast<CollectiveType>(i)));
  return names;
}

std::optional<CollectiveType> CollectiveNamed(absl::string_view name) {
  for (int i = 0; i < kCollectiveTypes; ++i) {
    const auto type = static_cast<CollectiveType>(i);
    if (name == Name(type)) return type;
  }
  return std::nullopt;
}

std::vector<std::string> AlgorithmsFor(CollectiveType type) {
  std::vector<std::string> names;
  for (const Entry& entry : Entries()) {
    if (CanPlan(entry, type)) names.push_back(entry.name);
  }
  return names;
}

bool IsOfHosts(CollectiveType type, absl::string_view algorithm) {
  for (const Entry& entry : Entries()) {
    if (CanPlan(entry, type) && algorithm == entry.name) return entry.of_hosts;
  }
  return false;
}

bool IsRooted(CollectiveType type) {
  return type == CollectiveType::kBroadcast || type == CollectiveType::kReduce ||
         type == CollectiveType::kGather || type == CollectiveType::kScatter;
}

absl::StatusOr<Plan> BuildPlan(const PlanRequest& request) {
  const CollectiveType type = request.type;
  if (type == CollectiveType::kAllToAll && request.members > 65536) {
    return absl::InvalidArgumentError(
        absl::StrCat("all_to_all on ", request.members, " ranks: at most 65536 are supported"));
  }
  RETURN_IF_ERROR(CheckRequest(request));
  const auto build = [&](const std::string& name, Builder builder) -> absl::StatusOr<Plan> {
    Plan plan;
    plan.type = type;
    plan.algorithm = name;
    plan.members = request.members;
    RETURN_IF_ERROR(builder(request, &plan));
    NumberThrough(&plan);
    return plan;
  };
  if (ParseLevelAlgorithms(request.algorithm) && !PhasesOf(type, 2).empty())
    return build(request.algorithm, BuildByLevel);
  for (const Entry& entry : Entries()) {
    if (!CanPlan(entry, type) || (!request.algorithm.empty() && request.algorithm != entry.name)) continue;
    return build(entry.name, entry.build);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no algorithm \"", request.algorithm, "\" for ", std::string(Name(type)),
                   "; expected one of: ", absl::StrJoin(AlgorithmsFor(type), ", ")));
}

absl::StatusOr<const Plan*> PlanCache::Get(PlanRequest request) {
  if (!IsRooted(request.type)) request.root = 0;
  std::unique_ptr<Plan>& slot = plans_[request];
  if (slot == nullptr) {
    ASSIGN_OR_RETURN(Plan plan, BuildPlan(request));
    slot = std::make_unique<Plan>(std::move(plan));
  }
  return slot.get();
}

}  // namespace chakra
