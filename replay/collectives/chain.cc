#include "replay/collectives/assembly.h"
#include "replay/collectives/builders.h"
#include "trace/base/status_macros.h"

namespace chakra {

absl::Status BuildChain(const PlanRequest& request, Plan* plan) {
  const int n = plan->members;
  const bool reduce = plan->type == CollectiveType::kReduce;
  RETURN_IF_ERROR(CheckSteps(request, int64_t{2} * request.pieces * (n - 1)));
  plan->chunks = request.pieces;
  Assembly assembly(plan);
  const std::vector<int> streams = assembly.OpenEach(0, n);
  // Place i of the chain: a broadcast begins at the root, a reduction ends there.
  const auto at = [&](int i) {
    return streams[static_cast<size_t>((int64_t{i} + request.root + reduce) % n)];
  };
  for (int i = 0; i < n; ++i) {
    for (int piece = 0; piece < request.pieces; ++piece) {
      if (i > 0) {
        assembly.Receive(reduce ? StepOp::kRecvReduce : StepOp::kRecv, at(i - 1), at(i), piece, 1);
      }
      if (i + 1 < n) assembly.Send(at(i), at(i + 1), piece, 1);
    }
  }
  return assembly.Finish();
}

}  // namespace chakra
