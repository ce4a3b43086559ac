// Which fit is used for a call, and which constants of a fit apply to other devices.
#include <algorithm>

#include "replay/compute/model/architectures.h"
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

bool HasHeads(const AttentionFit& fit, double head_dim) {
  return std::any_of(fit.groups.begin(), fit.groups.end(),
                     [&](const AttentionGroup& g) { return g.head_dim == head_dim; });
}

}  // namespace

GemmConstants Carried(absl::Span<const GemmFit> fits, const GemmFit& fit, GemmConstants constants) {
  for (const GemmFit& other : fits) {
    const bool alike = (BytesOf(other.dtype) <= 1) == (BytesOf(fit.dtype) <= 1);
    if (other.device == fit.device && alike && IsMain(other)) {
      constants[kStartCycles] = std::min(constants[kStartCycles], other.constants[kStartCycles]);
    }
  }
  return constants;
}

AttentionConstants Carried(absl::Span<const AttentionFit> fits, const AttentionFit& fit,
                           AttentionConstants constants) {
  for (const AttentionFit& other : fits) {
    if (other.device != fit.device || !IsMain(other)) continue;
    double& start = constants[kAttentionStartCycles];
    double& memory = constants[kAttentionMemoryShare];
    start = std::min(start, other.constants[kAttentionStartCycles]);
    memory = std::max(memory, other.constants[kAttentionMemoryShare]);
  }
  return constants;
}

MoeConstants Carried(const MoeFit& fit, MoeConstants constants, double warp_share) {
  constants[kMoePeakShare] *= warp_share / WarpShareOf(fit.device);
  return constants;
}

const AttentionFit* AttentionFitOf(absl::string_view device, const AttentionCall& call) {
  const AttentionFit* best = nullptr;
  int most = 0;
  for (const AttentionFit& fit : AttentionFits()) {
    if (fit.device != device || fit.dtype != call.dtype) continue;
    const bool named = !call.kernel.empty() && fit.kernel == call.kernel;
    const int points =
        1 + 16 * named + 4 * HasHeads(fit, call.head_dim) + 2 * IsMain(fit) + (fit.kv_dtype == call.kv_dtype);
    if (points > most) {
      most = points;
      best = &fit;
    }
  }
  return best;
}

}  // namespace chakra::laws
