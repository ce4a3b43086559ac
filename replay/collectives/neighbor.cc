#include <numeric>

#include "absl/strings/str_cat.h"
#include "replay/collectives/assembly.h"
#include "replay/collectives/builders.h"
#include "trace/base/status_macros.h"

namespace chakra {

absl::Status BuildNeighbor(const PlanRequest& request, Plan* plan) {
  const int n = plan->members;
  if (n % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(plan->algorithm, " for ", std::string(Name(plan->type)),
                                                   " on ", n, " ranks; expected an even number"));
  }
  RETURN_IF_ERROR(CheckSteps(request, int64_t{n} * n));
  plan->chunks = n;
  plan->chunk_is_whole = true;
  plan->synchronizing = true;
  Assembly assembly(plan);
  const std::vector<int> streams = assembly.OpenEach(0, n);
  std::vector<int> last(static_cast<size_t>(n));  // the pair of blocks that a member received last
  for (int m = 0; m < n; ++m) last[static_cast<size_t>(m)] = m / 2;
  for (int round = 0; round < n / 2; ++round) {
    // Alternates between the pairs (0, 1), (2, 3), ... and (1, 2), (3, 4), ...
    const auto partner = [&](int m) { return (m + ((m % 2 == 0) == (round % 2 == 0) ? 1 : n - 1)) % n; };
    const auto first = [&](int m) { return round == 0 ? m : 2 * last[static_cast<size_t>(m)]; };
    const int count = round == 0 ? 1 : 2;
    for (int m = 0; m < n; ++m) {
      assembly.Send(StepOp::kSend, streams[static_cast<size_t>(m)], streams[static_cast<size_t>(partner(m))],
                    first(m), count);
    }
    std::vector<int> got = last;
    for (int m = 0; m < n; ++m) {
      const int from = partner(m);
      assembly.Receive(StepOp::kRecv, streams[static_cast<size_t>(from)], streams[static_cast<size_t>(m)],
                       first(from), count);
      if (round > 0) got[static_cast<size_t>(m)] = last[static_cast<size_t>(from)];
    }
    last = std::move(got);
  }
  return assembly.Finish();
}

}  // namespace chakra
