#include <utility>

#include "replay/collectives/builders.h"

namespace chakra {
namespace {

// Member m sends a chunk to every other member: its own chunk, or the receiver's if `follow`. Then it
// receives the chunks of the others, and adds them to its own (`adds`) or stores each in its place. Uses the
// next n - 1 connections.
void Exchange(int n, bool follow, bool adds, Program* program) {
  const auto connection = [first = program->connections](int i) {
    return static_cast<uint16_t>(first + static_cast<uint32_t>(i) - 1);
  };
  for (int i = 1; i < n; ++i) {
    program->steps.push_back({StepOp::kSend, connection(i), i, follow ? i : 0, 1});
  }
  for (int i = 1; i < n; ++i) {
    const int from = n - i;  // the sender on this connection
    const StepOp op = !adds ? StepOp::kRecv : i < n - 1 ? StepOp::kRecvReduceBeside : StepOp::kRecvReduce;
    program->steps.push_back({op, connection(i), from, adds ? 0 : from, 1});
  }
  program->connections += static_cast<uint32_t>(n - 1);
}

}  // namespace

absl::Status BuildDirect(const PlanRequest&, Plan* plan) {
  const int n = plan->members;
  const bool gathers = plan->type == CollectiveType::kAllGather;
  Program program;
  if (!gathers) Exchange(n, true, true, &program);
  if (gathers || plan->type == CollectiveType::kAllReduce) Exchange(n, false, false, &program);
  plan->chunk_is_whole = gathers;
  SetRotational(std::move(program), n, plan);
  return absl::OkStatus();
}

absl::Status BuildOneShot(const PlanRequest&, Plan* plan) {
  Program program;
  Exchange(plan->members, false, true, &program);
  SetRotational(std::move(program), 1, plan);
  return absl::OkStatus();
}

}  // namespace chakra
