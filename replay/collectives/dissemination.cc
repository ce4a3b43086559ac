#include <utility>

#include "replay/collectives/builders.h"

namespace chakra {

absl::Status BuildDissemination(const PlanRequest&, Plan* plan) {
  const int n = plan->members;
  Program program;
  for (int64_t distance = 1; distance < n; distance *= 2) {
    const auto connection = static_cast<uint16_t>(program.connections++);
    const int d = static_cast<int>(distance);
    program.steps.push_back({StepOp::kSend, connection, d, 0, 0});
    program.steps.push_back({StepOp::kRecv, connection, n - d, 0, 0});
  }
  SetRotational(std::move(program), 1, plan);
  return absl::OkStatus();
}

}  // namespace chakra
