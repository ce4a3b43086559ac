// When something ends whose end is known as a sum of rounded numbers.
#pragma once

#include <cmath>
#include <cstdint>

#include "trace/base/units.h"

namespace chakra {

// The first whole picosecond at or after `ps`, as a time from now. What lies less than a ten thousandth after
// a picosecond lies at it: bytes that are left are exact to less than that, so flows that end together, by
// the law, end in one picosecond, whatever the order of their sums.
inline Time FirstPico(double ps) {
  constexpr double kNoise = 1e-4;
  const double end = ps < kNoise ? 0 : std::ceil(ps * (1 - 1e-15) - kNoise);
  return end < static_cast<double>(Time::Never().picos()) ? Time::Picos(static_cast<int64_t>(end))
                                                          : Time::Never();
}

}  // namespace chakra
