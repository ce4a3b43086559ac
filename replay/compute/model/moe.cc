// The experts of a device: grouped GEMMs with few rows for each expert.
#include <algorithm>
#include <cmath>

#include "replay/compute/model/laws.h"

namespace chakra::laws {
namespace {

// The number of the device's `experts` that get a token, if `choices` choices fall on them.
double InUse(const MoeCall& call, double experts, double choices) {
  if (call.power_law <= 0) return std::min(experts, std::ceil(choices));
  return experts * (1 - std::pow(1 - 1 / experts, choices));
}

// The share of all tokens that come to the device: those that chose one of its experts. If the experts'
// shares are unequal (p_i ~ i^-a), this is the device with the hottest experts, for which all others wait.
double Reach(const MoeCall& call, double experts, double hot) {
  const double equal = std::min(1.0, call.topk / call.ep);
  if (call.power_law <= 0 || call.ep <= 1) return equal;
  // Sums of i^-a, approximated by the integral from 1/2 to n + 1/2.
  const double a = call.power_law;
  const auto sum = [a](double n) {
    return std::abs(a - 1) < 1e-9 ? std::log(2 * n + 1)
                                  : (std::pow(n + 0.5, 1 - a) - std::pow(0.5, 1 - a)) / (1 - a);
  };
  return std::max(equal, hot * std::min(1.0, call.topk * sum(experts) / sum(call.experts)));
}

}  // namespace

double Moe(const MoeConstants& c, const Unit& unit, double bytes, const MoeCall& call) {
  const double cycles = 1 / unit.cycles_per_us;
  const double experts = std::max(1.0, call.experts / call.ep);
  const double used = std::max(1.0, InUse(call, experts, call.tokens * call.topk / call.ep));
  // A token is sent once to each device that has one of its experts. Each of the token's choices counts as a
  // row.
  const double rows = call.tokens * Reach(call, experts, c[kMoeHotShare]) * call.topk;
  const double padded = std::max(rows, used * c[kMoeBlockRows] * 0.5 + rows);
  const double columns = call.inter / call.tp;
  const double weights = used * 3 * call.hidden * columns * bytes / (unit.bytes_per_us * c[kMoeMemoryShare]);
  const double products = padded * 6 * call.hidden * columns / (unit.peak_per_us * c[kMoePeakShare]);
  const double between = rows * (2 * call.hidden + 3 * columns) * 2 / (unit.bytes_per_us * c[kMoeRowShare]);
  return (c[kMoeStartCycles] + c[kMoeExpertCycles] * used) * cycles + std::hypot(weights, products) + between;
}

}  // namespace chakra::laws
