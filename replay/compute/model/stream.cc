// Streaming kernels: launch and drain, then bytes at the rate that the kind of kernel gets.
#include <algorithm>

#include "replay/compute/model/laws.h"

namespace chakra::laws {
namespace {

// The share of memory's bandwidth that a kind of kernel gets, and its start, relative to a plain elementwise
// kernel. Rounded readings of PyTorch's kernels in the captures of H100, MI300X and A100 (data/kineto,
// data/hta); optimizer and scan are assumed.
struct Kind {
  double share, start;
};
constexpr Kind kKinds[kStreamKinds] = {
    {1.0, 1.0},   // elementwise
    {0.85, 1.5},  // reduction
    {0.80, 1.5},  // norm
    {1.0, 1.0},   // copy
    {0.65, 1.0},  // transpose
    {0.60, 1.2},  // gather
    {0.90, 2.0},  // optimizer
    {0.30, 4.0},  // scan
};
// The share of a vector unit's peak that a streaming kernel reaches; assumed.
constexpr double kPerOperation = 1.0 / 4;

}  // namespace

double Stream(const StreamConstants& c, const Unit& vector_unit, const StreamCall& call) {
  const Kind& kind = kKinds[static_cast<size_t>(call.kind)];
  const double memory = call.bytes / (vector_unit.bytes_per_us * c[kStreamMemoryShare] * kind.share);
  const double compute =
      vector_unit.peak_per_us > 0 ? call.operations / (vector_unit.peak_per_us * kPerOperation) : 0;
  return c[kStreamStartUs] * kind.start + std::max(memory, compute);
}

}  // namespace chakra::laws
