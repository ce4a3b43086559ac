// Rounds an end that is a sum of rounded numbers to whole picoseconds.
#pragma once

#include <cmath>
#include <cstdint>

#include "trace/base/units.h"

namespace chakra {

// The first whole picosecond at or after `ps`, as a time from now. An end less than a ten thousandth of a
// picosecond after a whole picosecond is rounded down: the remaining bytes are exact to less than that, so
// flows that should end together do end in one picosecond, whatever the order of the sums.
inline Time FirstPico(double ps) {
  constexpr double kNoise = 1e-4;
  const double end = ps < kNoise ? 0 : std::ceil(ps * (1 - 1e-15) - kNoise);
  return end < static_cast<double>(Time::Never().picos()) ? Time::Picos(static_cast<int64_t>(end))
                                                          : Time::Never();
}

}  // namespace chakra
