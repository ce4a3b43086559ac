#include "trace/import/collective_logs/steps.h"

#include <algorithm>
#include <tuple>

namespace chakra::collective_logs {
namespace {

bool Equal(const CallFacts& a, const CallFacts& b) {
  return std::tie(a.op, a.comm, a.bytes, a.peer) == std::tie(b.op, b.comm, b.bytes, b.peer);
}

}  // namespace

// Uses the Z algorithm (Gusfield, "Algorithms on Strings, Trees and Sequences", section 1.4) on the reversed
// calls: z[p] is the number of last calls that each equal the call p before.
std::vector<uint32_t> FindSteps(const LogCalls& calls) {
  const size_t n = calls.size();
  std::vector<uint32_t> steps;
  if (n < 4) return steps;
  const auto at = [&](size_t i) -> const CallFacts& { return calls.facts(n - 1 - i); };
  std::vector<size_t> z(n, 0);
  size_t left = 0, right = 0, period = 0;
  for (size_t i = 1; i < n; ++i) {
    if (i < right) z[i] = std::min(right - i, z[i - left]);
    while (i + z[i] < n && Equal(at(z[i]), at(i + z[i]))) ++z[i];
    if (i + z[i] > right) {
      left = i;
      right = i + z[i];
    }
    if (z[i] >= i && z[i] + i >= (n + 1) / 2) {
      period = i;
      break;
    }
  }
  if (period == 0) return steps;
  const size_t count = (z[period] + period) / period;
  for (size_t k = count + 1; k-- > 0;) steps.push_back(static_cast<uint32_t>(n - k * period));
  return steps;
}

}  // namespace chakra::collective_logs
