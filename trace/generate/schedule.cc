#include "trace/generate/schedule.h"

#include <algorithm>

namespace chakra::generate {
namespace {

// The k-th forward (or backward) pass of a stage.
Pass At(const Split& s, bool forward, int64_t k) {
  const int64_t group = s.pp * s.vpp, in_group = k % group;
  const int64_t piece = s.vpp == 1 ? 0 : in_group / s.pp;
  const int64_t micro_batch = s.vpp == 1 ? k : k / group * s.pp + in_group % s.pp;
  return {forward, micro_batch, forward ? piece : s.vpp - 1 - piece};
}

}  // namespace

std::vector<Pass> PassesOf(const Split& s, int64_t micro_batches, int64_t stage) {
  const int64_t all = micro_batches * s.vpp;
  int64_t warm = all;  // gpipe
  if (s.schedule == Schedule::k1F1B) warm = std::min(s.pp - stage - 1, all);
  if (s.schedule == Schedule::kInterleaved) warm = std::min(2 * (s.pp - stage - 1) + (s.vpp - 1) * s.pp, all);
  std::vector<Pass> passes;
  passes.reserve(static_cast<size_t>(2 * all));
  for (int64_t k = 0; k < warm; ++k) passes.push_back(At(s, true, k));
  for (int64_t k = warm; k < all; ++k) {
    passes.push_back(At(s, true, k));
    passes.push_back(At(s, false, k - warm));
  }
  for (int64_t k = all - warm; k < all; ++k) passes.push_back(At(s, false, k));
  return passes;
}

int64_t MostInFlight(const std::vector<Pass>& passes) {
  int64_t now = 0, most = 0;
  for (const Pass& p : passes) {
    now += p.forward ? 1 : -1;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace chakra::generate
