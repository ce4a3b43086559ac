#include "replay/collectives/validate.h"

#include <map>
#include <utility>

#include "replay/collectives/proof.h"
#include "replay/collectives/registry.h"
#include "replay/collectives/validate/execution.h"
#include "replay/collectives/validate/wiring.h"
#include "trace/base/status_macros.h"

namespace chakra {

absl::Status ProvePlan(const Plan& plan, const ProofOptions& options, PlanFault* fault) {
  Wiring wiring;
  RETURN_IF_ERROR(CheckPlan(plan, &wiring, fault));
  if (plan.stream_base != wiring.stream_base || plan.connection_base != wiring.connection_base)
    return PlanError(plan, {}, "stream_base and connection_base are not those of its programs", fault);
  return Execution(plan, wiring, options, fault).Run();
}

absl::Status ValidatePlan(const Plan& plan, int root) { return ProvePlan(plan, {.root = root}, nullptr); }

absl::StatusOr<std::vector<PairTraffic>> TrafficOf(const Plan& plan, uint64_t bytes) {
  Wiring wiring;
  RETURN_IF_ERROR(CheckPlan(plan, &wiring, nullptr));
  std::map<std::pair<int, int>, PairTraffic> pairs;
  for (int node = 0; node < plan.nodes(); ++node) {
    for (const Step& relative : plan.program(node).steps) {
      if (!IsSend(relative.op)) continue;
      const PlainStep step = Plain(plan, wiring, node, relative);
      PairTraffic& pair = pairs[{node, step.peer}];
      ++pair.messages;
      pair.bytes += StepBytesOf(plan, bytes, node, relative);
    }
  }
  std::vector<PairTraffic> traffic;
  for (auto& [nodes, pair] : pairs) {
    pair.from = nodes.first;
    pair.to = nodes.second;
    traffic.push_back(pair);
  }
  return traffic;
}

}  // namespace chakra
