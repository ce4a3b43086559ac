#include "replay/collectives/builders.h"

namespace chakra {

void BuildDissemination(Plan* plan, int) {
  const int n = plan->members;
  Program program;
  for (int64_t distance = 1; distance < n; distance *= 2) {
    const auto connection = static_cast<uint16_t>(program.connections++);
    const int d = static_cast<int>(distance);
    program.steps.push_back({StepOp::kSend, connection, d, 0, 0});
    program.steps.push_back({StepOp::kRecv, connection, n - d, 0, 0});
  }
  program.streams = {{0, static_cast<uint32_t>(program.steps.size())}};
  plan->chunks = 1;
  plan->rotational = true;
  plan->synchronizing = true;
  plan->programs = {std::move(program)};
}

}  // namespace chakra
