// Kernels that stream through memory: launch and drain, then bytes at the rate that a kind of kernel gets.
#include <algorithm>

#include "replay/compute/model/laws.h"

namespace chakra::laws {
namespace {

// Of memory's bandwidth, and of its start, what a kind of kernel takes against a plain elementwise one.
// Medians of the captures of A100, H100 and MI300X in data/hta and data/kineto (PyTorch's kernels, rows of at
// least 100 us together).
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
constexpr double kPerOperation = 1.0 / 4;  // of a vector unit's peak that a streaming kernel reaches

}  // namespace

double Stream(const StreamConstants& c, const Unit& vector_unit, const StreamCall& call) {
  const Kind& kind = kKinds[static_cast<size_t>(call.kind)];
  const double memory = call.bytes / (vector_unit.bytes_per_us * c[kStreamMemoryShare] * kind.share);
  const double compute =
      vector_unit.peak_per_us > 0 ? call.operations / (vector_unit.peak_per_us * kPerOperation) : 0;
  return c[kStreamStartUs] * kind.start + std::max(memory, compute);
}

}  // namespace chakra::laws
