#include <utility>

#include "replay/collectives/builders.h"

namespace chakra {

absl::Status BuildPairwise(const PlanRequest&, Plan* plan) {
  const int n = plan->members;
  Program program;
  program.connections = static_cast<uint32_t>(n - 1);
  for (int i = 1; i < n; ++i) {
    program.steps.push_back({StepOp::kSendWait, static_cast<uint16_t>(i - 1), i, i, 1});
  }
  for (int i = 1; i < n; ++i) {
    program.steps.push_back({StepOp::kRecv, static_cast<uint16_t>(i - 1), n - i, 0, 1});
  }
  SetRotational(std::move(program), n, plan);
  return absl::OkStatus();
}

}  // namespace chakra
