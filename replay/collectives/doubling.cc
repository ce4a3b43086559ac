#include <bit>

#include "absl/strings/str_cat.h"
#include "replay/collectives/builders.h"

namespace chakra {
namespace {

// Divides a group into a power of two and the rest. Members of the rest add their data to partners before the
// rounds and get the result after them (Thakur, Rabenseifner and Gropp 2005). The rest are the last members.
// With `pairs`, they are every second of the first members, so that neighbours fold, as in MPI libraries.
struct Folded {
  explicit Folded(Plan* p, bool of_pairs = false)
      : plan(p), power(static_cast<int>(std::bit_floor(static_cast<unsigned>(p->members)))), pairs(of_pairs) {
    plan->programs.resize(static_cast<size_t>(plan->members));
  }
  Plan* plan;
  int power;
  bool pairs;

  // At(): the member that takes part in the rounds as number v of `power`; for small v it is the partner of
  // the v-th member of the rest. Rest(): the i-th member of the rest.
  int At(int v) const {
    return pairs ? (v < plan->members - power ? 2 * v + 1 : v + plan->members - power) : v;
  }
  int Rest(int i) const { return pairs ? 2 * i : power + i; }

  // `from` sends `count` chunks from `chunk` on, and `to` receives them.
  void Move(int from, int to, StepOp receive, int chunk, int count, uint8_t pattern = 0) {
    Program& receiver = plan->programs[static_cast<size_t>(to)];
    const auto connection = static_cast<uint16_t>(receiver.connections++);
    plan->programs[static_cast<size_t>(from)].steps.push_back(
        {StepOp::kSend, connection, to, chunk, count, pattern});
    pending.push_back({to, {receive, connection, from, chunk, count, pattern}});
  }
  // The pattern of chunks that begin `step` apart.
  uint8_t PatternOf(int step) {
    size_t i = 0;
    while (i < plan->patterns.size() && plan->patterns[i].step != step) ++i;
    if (i == plan->patterns.size()) plan->patterns.push_back({1, 1, step});
    return static_cast<uint8_t>(i + 1);
  }
  // Appends the receives of a round, which come after its sends.
  void EndRound() {
    for (const auto& [member, step] : pending)
      plan->programs[static_cast<size_t>(member)].steps.push_back(step);
    pending.clear();
  }
  void Fold() {
    for (int i = 0; i < plan->members - power; ++i)
      Move(Rest(i), At(i), StepOp::kRecvReduce, 0, plan->chunks);
    EndRound();
  }
  void Unfold() {
    for (int i = 0; i < plan->members - power; ++i) Move(At(i), Rest(i), StepOp::kRecv, 0, plan->chunks);
    EndRound();
    for (Program& program : plan->programs)
      program.streams = {{0, static_cast<uint32_t>(program.steps.size())}};
    plan->synchronizing = true;
  }

 private:
  std::vector<std::pair<int, Step>> pending;
};

}  // namespace

absl::Status BuildRecursiveDoubling(const PlanRequest&, Plan* plan) {
  plan->chunks = 1;
  Folded group(plan, plan->algorithm == "paired_doubling");
  group.Fold();
  for (int distance = 1; distance < group.power; distance *= 2) {
    for (int m = 0; m < group.power; ++m)
      group.Move(group.At(m), group.At(m ^ distance), StepOp::kRecvReduce, 0, 1);
    group.EndRound();
  }
  group.Unfold();
  return absl::OkStatus();
}

absl::Status BuildHalvingDoubling(const PlanRequest&, Plan* plan) {
  plan->chunks = static_cast<int>(std::bit_floor(static_cast<unsigned>(plan->members)));
  Folded group(plan, plan->algorithm == "rabenseifner");
  const bool gathers = plan->type == CollectiveType::kAllGather;
  const bool reduces = plan->type == CollectiveType::kAllReduce;
  if (!reduces && group.power != plan->members) {
    return absl::InvalidArgumentError(absl::StrCat("halving_doubling for ", std::string(Name(plan->type)),
                                                   " on ", plan->members, " ranks; expected a power of two"));
  }
  plan->chunk_is_whole = gathers;
  // Moves the chunks whose numbers equal `member` modulo `block`. At this distance, exactly these are shared
  // by the members whose numbers equal `member` modulo `block`.
  const auto move = [&](int from, int to, StepOp receive, int member, int block) {
    const int count = group.power / block;
    group.Move(group.At(from), group.At(to), receive, member % block, count,
               count > 1 ? group.PatternOf(block) : uint8_t{0});
  };
  group.Fold();
  for (int d = 1; d < group.power && !gathers; d *= 2) {
    const StepOp op = 2 * d < group.power ? StepOp::kRecvReduceHalf : StepOp::kRecvReduceBeside;
    for (int m = 0; m < group.power; ++m) move(m, m ^ d, op, m ^ d, 2 * d);
    group.EndRound();
  }
  for (int d = group.power / 2; d >= 1 && (gathers || reduces); d /= 2) {
    for (int m = 0; m < group.power; ++m) move(m, m ^ d, StepOp::kRecv, m, 2 * d);
    group.EndRound();
  }
  group.Unfold();
  return absl::OkStatus();
}

absl::Status BuildNearDoubling(const PlanRequest&, Plan* plan) {
  plan->chunks = plan->members;
  plan->chunk_is_whole = plan->type == CollectiveType::kAllGather;
  Folded group(plan);
  if (group.power != plan->members) {
    return absl::InvalidArgumentError(absl::StrCat(plan->algorithm, " for ", std::string(Name(plan->type)),
                                                   " on ", plan->members, " ranks; expected a power of two"));
  }
  // Members whose numbers differ only below `d` hold, or will hold, the same `d` chunks.
  for (int d = 1; d < group.power && plan->chunk_is_whole; d *= 2) {
    for (int m = 0; m < group.power; ++m) group.Move(m, m ^ d, StepOp::kRecv, m & -d, d);
    group.EndRound();
  }
  for (int d = group.power / 2; d >= 1 && !plan->chunk_is_whole; d /= 2) {
    for (int m = 0; m < group.power; ++m) group.Move(m, m ^ d, StepOp::kRecvReduce, (m ^ d) & -d, d);
    group.EndRound();
  }
  group.Unfold();
  return absl::OkStatus();
}

}  // namespace chakra
