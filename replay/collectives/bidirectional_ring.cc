#include <utility>

#include "replay/collectives/builders.h"

namespace chakra {
namespace {

// n - 1 rounds of two rings: one to the right (`way` = 1) on the even chunks, and its mirror image on the odd
// chunks. Slot j of a ring is chunk 2 j or 2 j + 1.
void HalfRounds(int n, int first, StepOp receive, Program* program) {
  const auto chunk = [n](int way, int slot) {
    const int j = ((way * slot) % n + n) % n;
    return 2 * j + (way == 1 ? 0 : 1);
  };
  for (int s = 0; s < n - 1; ++s) {
    for (const int way : {1, -1}) {
      const auto connection = static_cast<uint16_t>(way == 1 ? 0 : 1);
      program->steps.push_back({StepOp::kSend, connection, way == 1 ? 1 : n - 1, chunk(way, first - s), 1});
    }
    for (const int way : {1, -1}) {
      const auto connection = static_cast<uint16_t>(way == 1 ? 0 : 1);
      program->steps.push_back({receive, connection, way == 1 ? n - 1 : 1, chunk(way, first - 1 - s), 1});
    }
  }
}

}  // namespace

absl::Status BuildBidirectionalRing(const PlanRequest&, Plan* plan) {
  const int n = plan->members;
  Program program;
  program.connections = 2;
  switch (plan->type) {
    case CollectiveType::kAllReduce:
      HalfRounds(n, 0, StepOp::kRecvReduce, &program);
      HalfRounds(n, 1, StepOp::kRecv, &program);
      break;
    case CollectiveType::kAllGather:
      HalfRounds(n, 0, StepOp::kRecv, &program);
      plan->parts = 2;
      break;
    default:  // reduce-scatter
      HalfRounds(n, -1, StepOp::kRecvReduce, &program);
      break;
  }
  SetRotational(std::move(program), 2 * n, plan);
  return absl::OkStatus();
}

}  // namespace chakra
