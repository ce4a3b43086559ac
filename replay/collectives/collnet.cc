#include "absl/strings/str_cat.h"
#include "replay/collectives/assembly.h"
#include "replay/collectives/builders.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// The distance, in pieces, between the piece that is scattered and the piece that is gathered. It is so large
// that neither the network nor the block waits for the other.
constexpr int kLag = 4;

}  // namespace

// Chunk p k + i is share i of piece p. A member sends shares to the other members of its block and adds the
// shares that it receives. The network's switch then adds the shares of this place in all blocks, and the
// member sends the result to the other members of its block.
absl::Status BuildCollnet(const PlanRequest& request, Plan* plan) {
  RETURN_IF_ERROR(NeedBlocks(request));
  const int n = plan->members, k = request.blocks[0];
  if (n / k < 2) {
    return absl::InvalidArgumentError(absl::StrCat("collnet on ", n, " ranks: one block of ", k,
                                                   ", expected at least 2 blocks (nvls supports one)"));
  }
  RETURN_IF_ERROR(CheckSteps(request, int64_t{4} * n * (k + 2) * request.pieces));
  plan->chunks = request.pieces * k;
  plan->synchronizing = true;
  for (int i = 0; i < k; ++i) plan->switches.push_back({i, k + i});  // one for each place in a block
  Assembly assembly(plan);
  const std::vector<int> out = assembly.OpenEach(0, n), in = assembly.OpenEach(0, n),
                         up = assembly.OpenEach(0, n), down = assembly.OpenEach(0, n),
                         added = assembly.OpenEach(n, k);
  std::vector<int> port;
  for (int m = 0; m < n; ++m) port.push_back(assembly.Open(n + m % k));
  std::vector<int> ready(static_cast<size_t>(n) * static_cast<size_t>(request.pieces));  // number of steps of
                                                                                         // `down`
  const auto exchange = [&](StepOp op, int p) {
    for (int d = 1; d < k; ++d) {
      for (int m = 0; m < n; ++m) {
        const int peer = m / k * k + (m + d) % k;
        const int share = op == StepOp::kRecv ? m % k : peer % k;
        assembly.Move(op, out[static_cast<size_t>(m)], in[static_cast<size_t>(peer)], p * k + share, 1);
      }
    }
  };
  for (int p = 0; p < request.pieces + kLag; ++p) {
    if (p < request.pieces) {
      exchange(StepOp::kRecvReduce, p);
      for (int m = 0; m < n; ++m) {
        const auto at = static_cast<size_t>(m);
        assembly.Await(up[at], in[at], assembly.size(in[at]));
        assembly.Move(StepOp::kRecvReduce, up[at], added[at % static_cast<size_t>(k)], p * k + m % k, 1);
      }
      for (int m = 0; m < n; ++m) {
        const auto at = static_cast<size_t>(m), place = at % static_cast<size_t>(k);
        assembly.Await(port[at], added[place], assembly.size(added[place]));
        assembly.Move(StepOp::kRecv, port[at], down[at], p * k + m % k, 1);
        ready[static_cast<size_t>(p * n + m)] = assembly.size(down[at]);
      }
    }
    if (const int q = p - kLag; q >= 0 && k > 1) {
      for (int m = 0; m < n; ++m) {
        const auto at = static_cast<size_t>(m);
        assembly.Await(out[at], down[at], ready[static_cast<size_t>(q * n + m)]);
      }
      exchange(StepOp::kRecv, q);
    }
  }
  return assembly.Finish();
}

}  // namespace chakra
