#include <algorithm>
#include <utility>

#include "replay/collectives/assembly.h"
#include "replay/collectives/builders.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// Sets the regions: n chunks of input by destination, n of output by source, then `more` * n of scratch.
void SetRegions(int more, Plan* plan) {
  const int n = plan->members;
  plan->chunks = (2 + more) * n;
  plan->parts = n;
  plan->input = {0, n};
  plan->output = {n, n};
  plan->synchronizing = true;
}

// Calls visit(first, count) for each run of slots below n that have bit `d`.
template <typename Visit>
void Runs(int n, int d, Visit visit) {
  for (int j = d; j < n; j += 2 * d) visit(j, std::min(d, n - j));
}

}  // namespace

absl::Status BuildDirectAllToAll(const PlanRequest&, Plan* plan) {
  const int n = plan->members;
  Program program;
  program.connections = static_cast<uint32_t>(n - 1);
  for (int i = 1; i < n; ++i) program.steps.push_back({StepOp::kSend, static_cast<uint16_t>(i - 1), i, i, 1});
  for (int i = 1; i < n; ++i)
    program.steps.push_back({StepOp::kRecv, static_cast<uint16_t>(i - 1), n - i, 0, 1});
  SetRotational(std::move(program), n, plan);
  return absl::OkStatus();
}

absl::Status BuildBruckAllToAll(const PlanRequest& request, Plan* plan) {
  const int n = plan->members;
  RETURN_IF_ERROR(CheckSteps(request, int64_t{4} * n * n));
  SetRegions(3, plan);
  const int work = 2 * n, packed = 3 * n, arrived = 4 * n;
  Assembly assembly(plan);
  const std::vector<int> stream = assembly.OpenEach(0, n);
  for (int m = 0; m < n; ++m) {
    const auto at = [&](int member) { return stream[static_cast<size_t>(member)]; };
    // Slot j holds the data for m + j. In round d, the slot moves on by d members if j has bit d.
    assembly.Copy(at(m), m, work, n - m);
    if (m > 0) assembly.Copy(at(m), 0, work + n - m, m);
    for (int d = 1; d < n; d *= 2) {
      int count = 0;
      Runs(n, d, [&](int j, int length) {
        assembly.Copy(at(m), work + j, packed + count, length);
        count += length;
      });
      assembly.Send(at(m), at((m + d) % n), packed, count);
      assembly.Receive(StepOp::kRecv, at((m - d + n) % n), at(m), arrived, count);
      count = 0;
      Runs(n, d, [&](int j, int length) {
        assembly.Copy(at(m), arrived + count, work + j, length);
        count += length;
      });
    }
    for (int j = 0; j < n; ++j) assembly.Copy(at(m), work + j, n + (m - j + n) % n, 1);
  }
  return assembly.Finish();
}

absl::Status BuildHierarchicalAllToAll(const PlanRequest& request, Plan* plan) {
  RETURN_IF_ERROR(NeedBlocks(request));
  const int n = plan->members, k = request.blocks[0], blocks = n / k;
  RETURN_IF_ERROR(CheckSteps(request, int64_t{3} * n * n));
  SetRegions(3, plan);
  const int out = n, packed = 2 * n, arrived = 3 * n, staged = 4 * n;
  Assembly assembly(plan);
  const std::vector<int> stream = assembly.OpenEach(0, n);
  for (int m = 0; m < n; ++m) {
    const int i = m % k, b = m / k;
    const int own = stream[static_cast<size_t>(m)];
    const auto at = [&](int block, int place) { return stream[static_cast<size_t>(block * k + place)]; };
    // Phase 1: data for place p of any block goes to place p of this block.
    for (int c = 0; c < n; ++c) assembly.Copy(own, c, packed + c % k * blocks + c / k, 1);
    for (int d = 1; d < k; ++d) assembly.Send(own, at(b, (i + d) % k), packed + (i + d) % k * blocks, blocks);
    assembly.Copy(own, packed + i * blocks, arrived + i * blocks, blocks);
    for (int d = 1; d < k; ++d) {
      const int from = (i - d + k) % k;
      assembly.Receive(StepOp::kRecv, at(b, from), own, arrived + from * blocks, blocks);
    }
    // Phase 2: data that all members of this block have for another block goes to that block.
    for (int c = 0; c < n; ++c) assembly.Copy(own, arrived + c % k * blocks + c / k, staged + c, 1);
    for (int d = 1; d < blocks; ++d) {
      const int to = (b + d) % blocks;
      assembly.Send(own, at(to, i), staged + to * k, k);
    }
    assembly.Copy(own, staged + b * k, out + b * k, k);
    for (int d = 1; d < blocks; ++d) {
      const int from = (b - d + blocks) % blocks;
      assembly.Receive(StepOp::kRecv, at(from, i), own, out + from * k, k);
    }
  }
  return assembly.Finish();
}

absl::Status BuildPxn(const PlanRequest& request, Plan* plan) {
  RETURN_IF_ERROR(NeedBlocks(request));
  const int n = plan->members, k = request.blocks[0], blocks = n / k;
  RETURN_IF_ERROR(CheckSteps(request, int64_t{3} * n * n));
  SetRegions(1, plan);
  const int out = n, staged = 2 * n;
  Assembly assembly(plan);
  const std::vector<int> give = assembly.OpenEach(0, n), take = assembly.OpenEach(0, n),
                         up = assembly.OpenEach(0, n), down = assembly.OpenEach(0, n);
  const auto at = [k](const std::vector<int>& streams, int block, int place) {
    return streams[static_cast<size_t>(block * k + place)];
  };
  // The nearest block comes first and the own block last, so that the network starts early.
  for (int e = 1; e <= blocks; ++e) {
    const bool own = e == blocks;
    for (int d = 0; d < k; ++d) {  // all members take the same step, so that receives are in the order of
                                   // sends
      for (int m = 0; m < n; ++m) {
        const int i = m % k, b = m / k, block = (b + e) % blocks, place = (i + d) % k;
        const int chunk = (own ? out : staged) + block * k + i;
        if (d == 0) {
          assembly.Copy(at(take, b, i), block * k + place, chunk, 1);
          continue;
        }
        assembly.Send(at(give, b, i), at(take, b, place), block * k + place, 1);
        assembly.Receive(StepOp::kRecv, at(give, b, i), at(take, b, place), chunk, 1);
      }
    }
    if (own) break;
    for (int m = 0; m < n; ++m) {
      const int i = m % k, b = m / k, block = (b + e) % blocks;
      assembly.Await(at(up, b, i), at(take, b, i), assembly.size(at(take, b, i)));
      assembly.Send(at(up, b, i), at(down, block, i), staged + block * k, k);
      assembly.Receive(StepOp::kRecv, at(up, b, i), at(down, block, i), out + b * k, k);
    }
  }
  return assembly.Finish();
}

}  // namespace chakra
