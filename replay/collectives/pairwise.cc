#include "replay/collectives/builders.h"

namespace chakra {

void BuildPairwise(Plan* plan, int) {
  const int n = plan->members;
  Program program;
  program.connections = static_cast<uint32_t>(n - 1);
  for (int i = 1; i < n; ++i) {
    program.steps.push_back({StepOp::kSendWait, static_cast<uint16_t>(i - 1), i, i, 1});
  }
  for (int i = 1; i < n; ++i) {
    program.steps.push_back({StepOp::kRecv, static_cast<uint16_t>(i - 1), n - i, 0, 1});
  }
  program.streams = {{0, static_cast<uint32_t>(program.steps.size())}};
  plan->chunks = n;
  plan->rotational = true;
  plan->synchronizing = true;
  plan->programs = {std::move(program)};
}

}  // namespace chakra
