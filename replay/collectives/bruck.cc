#include <algorithm>

#include "replay/collectives/builders.h"

namespace chakra {

absl::Status BuildBruck(const PlanRequest&, Plan* plan) {
  const int n = plan->members;
  plan->chunks = n;
  plan->chunk_is_whole = true;
  plan->synchronizing = true;
  plan->programs.resize(static_cast<size_t>(n));
  // A member holds its own block and the blocks of the `held` - 1 members after it. A range that wraps around
  // the last block needs two messages.
  uint16_t connection = 0;
  for (int held = 1; held < n; held *= 2, ++connection) {
    const int count = std::min(held, n - held);
    for (int m = 0; m < n; ++m) {
      Program& program = plan->programs[static_cast<size_t>(m)];
      const auto ranges = [&](StepOp op, int first, int peer) {
        const int before = std::min(count, n - first);
        program.steps.push_back({op, connection, peer, first, before});
        if (before < count) program.steps.push_back({op, connection, peer, 0, count - before});
      };
      const int ahead = static_cast<int>((int64_t{m} + held) % n);
      const int behind = static_cast<int>((int64_t{m} - held + n) % n);
      ranges(StepOp::kSendWait, m, behind);
      ranges(StepOp::kRecv, ahead, ahead);
      program.connections = connection + 1u;
    }
  }
  for (Program& program : plan->programs)
    program.streams = {{0, static_cast<uint32_t>(program.steps.size())}};
  return absl::OkStatus();
}

}  // namespace chakra
