#include "replay/collectives/builders.h"

namespace chakra {

absl::Status BuildLinear(const PlanRequest& request, Plan* plan) {
  const int root = request.root;
  const int n = plan->members;
  const bool gather = plan->type == CollectiveType::kGather;
  plan->chunks = n;
  plan->chunk_is_whole = gather;
  plan->programs.resize(n);
  Program& at_root = plan->programs[root];
  for (int i = 1; i < n; ++i) {
    const int32_t m = static_cast<int32_t>((int64_t{root} + i) % n);
    Program& leaf = plan->programs[m];
    const auto connection = static_cast<uint16_t>(i - 1);
    if (gather) {
      leaf.steps = {{StepOp::kSendWait, connection, root, m, 1}};
      at_root.steps.push_back({StepOp::kRecv, connection, m, m, 1});
    } else {
      at_root.steps.push_back({StepOp::kSendWait, 0, m, m, 1});
      leaf.steps = {{StepOp::kRecv, 0, root, m, 1}};
      leaf.connections = 1;
    }
  }
  if (gather) at_root.connections = static_cast<uint32_t>(n - 1);
  for (Program& program : plan->programs) {
    program.streams = {{0, static_cast<uint32_t>(program.steps.size())}};
  }
  return absl::OkStatus();
}

}  // namespace chakra
