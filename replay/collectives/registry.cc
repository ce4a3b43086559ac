#include "replay/collectives/registry.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/collectives/builders.h"

namespace chakra {
namespace {

using Builder = void (*)(Plan*, int root);

struct Entry {
  const char* name;
  std::vector<CollectiveType> types;
  Builder build;
};

// One line an algorithm; the first that can plan a kind is its default.
const std::vector<Entry>& Entries() {
  using T = CollectiveType;
  static const std::vector<Entry>* entries = new std::vector<Entry>{
      {"ring", {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kReduceScatterBlock}, BuildRing},
      {"direct", {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kReduceScatterBlock}, BuildDirect},
      {"one_shot", {T::kAllReduce}, BuildOneShot},
      {"recursive_doubling", {T::kAllReduce}, BuildRecursiveDoubling},
      {"halving_doubling", {T::kAllReduce}, BuildHalvingDoubling},
      {"double_binary_tree", {T::kAllReduce}, BuildDoubleBinaryTree},
      {"bruck", {T::kAllGather}, BuildBruck},
      {"pairwise", {T::kAllToAll}, BuildPairwise},
      {"binomial", {T::kBroadcast, T::kReduce}, BuildBinomial},
      {"linear", {T::kGather, T::kScatter}, BuildLinear},
      {"dissemination", {T::kBarrier}, BuildDissemination},
  };
  return *entries;
}

bool CanPlan(const Entry& entry, CollectiveType type) {
  for (CollectiveType t : entry.types) {
    if (t == type) return true;
  }
  return false;
}

void NumberThrough(Plan* plan) {
  plan->stream_base.assign(1, 0);
  plan->connection_base.assign(1, 0);
  for (int m = 0; m < plan->members; ++m) {
    const Program& program = plan->program(m);
    plan->stream_base.push_back(plan->stream_base.back() + static_cast<uint32_t>(program.streams.size()));
    plan->connection_base.push_back(plan->connection_base.back() + program.connections);
  }
}

}  // namespace

void SetRotational(Program program, int chunks, Plan* plan) {
  program.streams = {{0, static_cast<uint32_t>(program.steps.size())}};
  plan->chunks = chunks;
  plan->rotational = true;
  plan->synchronizing = true;
  plan->programs = {std::move(program)};
}

std::vector<std::string> AlgorithmsFor(CollectiveType type) {
  std::vector<std::string> names;
  for (const Entry& entry : Entries()) {
    if (CanPlan(entry, type)) names.push_back(entry.name);
  }
  return names;
}

bool IsRooted(CollectiveType type) {
  return type == CollectiveType::kBroadcast || type == CollectiveType::kReduce ||
         type == CollectiveType::kGather || type == CollectiveType::kScatter;
}

absl::StatusOr<Plan> BuildPlan(CollectiveType type, absl::string_view algorithm, int members, int root) {
  if (type == CollectiveType::kAllToAll && members > 65536) {
    return absl::InvalidArgumentError(
        absl::StrCat("all_to_all on ", members, " ranks: at most 65536 are supported"));
  }
  for (const Entry& entry : Entries()) {
    if (!CanPlan(entry, type) || (!algorithm.empty() && algorithm != entry.name)) continue;
    Plan plan;
    plan.type = type;
    plan.algorithm = entry.name;
    plan.members = members;
    entry.build(&plan, root);
    NumberThrough(&plan);
    return plan;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no algorithm \"", std::string(algorithm), "\" for ", std::string(Name(type)),
                   "; expected one of: ", absl::StrJoin(AlgorithmsFor(type), ", ")));
}

absl::StatusOr<const Plan*> PlanCache::Get(CollectiveType type, int members, int root) {
  if (!IsRooted(type)) root = 0;
  std::unique_ptr<Plan>& slot = plans_[{type, members, root}];
  if (slot == nullptr) {
    const auto chosen = algorithm_.find(std::string(Name(type)));
    absl::StatusOr<Plan> plan =
        BuildPlan(type, chosen == algorithm_.end() ? "" : chosen->second, members, root);
    if (!plan.ok()) return plan.status();
    slot = std::make_unique<Plan>(*std::move(plan));
  }
  return slot.get();
}

}  // namespace chakra
