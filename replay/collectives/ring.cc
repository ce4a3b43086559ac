#include <utility>

#include "replay/collectives/assembly.h"
#include "replay/collectives/builders.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

int Mod(int a, int n) { return ((a % n) + n) % n; }

// n-1 rounds. In round s, member m sends chunk m + first - s and receives chunk m + first - 1 - s from its
// left neighbour.
void Rounds(int n, int first, StepOp receive, Program* program) {
  for (int s = 0; s < n - 1; ++s) {
    program->steps.push_back({StepOp::kSend, 0, 1, Mod(first - s, n), 1});
    program->steps.push_back({receive, 0, n - 1, Mod(first - 1 - s, n), 1});
  }
}

}  // namespace

// In round r, a member sends the data whose remaining distance is d = 1, 2, ..., n - 1 - r. Received data is
// stored where the receiver's own data for the same member would be.
absl::Status BuildRingAllToAll(const PlanRequest& request, Plan* plan) {
  const int n = plan->members;
  RETURN_IF_ERROR(CheckSteps(request, int64_t{n} * (n - 1)));
  Program program;
  program.connections = 1;
  for (int last = n - 1; last > 0; --last) {
    for (int d = 1; d <= last; ++d) {
      program.steps.push_back({StepOp::kSend, 0, 1, d, 1});
      program.steps.push_back({StepOp::kRecv, 0, n - 1, d - 1, 1});
    }
  }
  SetRotational(std::move(program), n, plan);
  return absl::OkStatus();
}

absl::Status BuildRing(const PlanRequest&, Plan* plan) {
  const int n = plan->members;
  Program program;
  program.connections = 1;
  switch (plan->type) {
    case CollectiveType::kAllReduce:
      Rounds(n, 0, StepOp::kRecvReduce, &program);
      Rounds(n, 1, StepOp::kRecv, &program);
      break;
    case CollectiveType::kAllGather:
      Rounds(n, 0, StepOp::kRecv, &program);
      plan->chunk_is_whole = true;
      break;
    default:  // reduce-scatter: member m ends with chunk m
      Rounds(n, -1, StepOp::kRecvReduce, &program);
      break;
  }
  SetRotational(std::move(program), n, plan);
  return absl::OkStatus();
}

}  // namespace chakra
