#include <bit>

#include "replay/collectives/builders.h"

namespace chakra {
namespace {

// Divides a group into a power of two and the rest. Members of the rest give their data to partners before
// the rounds and get the result after them (Thakur, Rabenseifner and Gropp 2005).
struct Folded {
  explicit Folded(Plan* p)
      : plan(p), power(static_cast<int>(std::bit_floor(static_cast<unsigned>(p->members)))) {
    plan->programs.resize(static_cast<size_t>(plan->members));
  }
  Plan* plan;
  int power;

  // `from` sends, `to` receives `count` chunks from `chunk` on.
  void Move(int from, int to, StepOp receive, int chunk, int count) {
    Program& receiver = plan->programs[static_cast<size_t>(to)];
    const auto connection = static_cast<uint16_t>(receiver.connections++);
    plan->programs[static_cast<size_t>(from)].steps.push_back({StepOp::kSend, connection, to, chunk, count});
    pending.push_back({to, {receive, connection, from, chunk, count}});
  }
  // Receives come after the sends of their round.
  void EndRound() {
    for (const auto& [member, step] : pending)
      plan->programs[static_cast<size_t>(member)].steps.push_back(step);
    pending.clear();
  }
  void Fold() {
    for (int m = power; m < plan->members; ++m) Move(m, m - power, StepOp::kRecvReduce, 0, plan->chunks);
    EndRound();
  }
  void Unfold() {
    for (int m = power; m < plan->members; ++m) Move(m - power, m, StepOp::kRecv, 0, plan->chunks);
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
  Folded group(plan);
  group.Fold();
  for (int distance = 1; distance < group.power; distance *= 2) {
    for (int m = 0; m < group.power; ++m) group.Move(m, m ^ distance, StepOp::kRecvReduce, 0, 1);
    group.EndRound();
  }
  group.Unfold();
  return absl::OkStatus();
}

absl::Status BuildHalvingDoubling(const PlanRequest&, Plan* plan) {
  plan->chunks = static_cast<int>(std::bit_floor(static_cast<unsigned>(plan->members)));
  Folded group(plan);
  group.Fold();
  // Halving: a member keeps the half of its range that holds its own chunk.
  for (int half = group.power / 2; half >= 1; half /= 2) {
    for (int m = 0; m < group.power; ++m) {
      const int peer = m ^ half;
      group.Move(m, peer, StepOp::kRecvReduce, peer / half * half, half);
    }
    group.EndRound();
  }
  for (int held = 1; held < group.power; held *= 2) {
    for (int m = 0; m < group.power; ++m) group.Move(m, m ^ held, StepOp::kRecv, m / held * held, held);
    group.EndRound();
  }
  group.Unfold();
  return absl::OkStatus();
}

}  // namespace chakra
