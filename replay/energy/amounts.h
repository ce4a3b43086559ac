// Power and energy as whole numbers, so that sums are exact in any order.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "trace/base/units.h"

namespace chakra::energy {

using Milliwatts = int64_t;
// A milliwatt for a picosecond: 1e-15 J. 128 bits hold up to 1.7e23 J.
using Femtojoules = __int128;
// Sums of the times of many ranks, in picoseconds.
using Picoseconds = __int128;

inline constexpr int64_t kFemtoPerMicro = 1000000000;

inline Milliwatts ToMilliwatts(double watts) { return std::llround(watts * 1000); }
inline double ToWatts(Milliwatts mw) { return static_cast<double>(mw) / 1000; }
inline double ToJoules(Femtojoules fj) { return static_cast<double>(fj) * 1e-15; }
inline Femtojoules EnergyOf(Milliwatts mw, Picoseconds ps) { return mw * ps; }
inline Femtojoules EnergyOf(Milliwatts mw, int64_t ps) { return Femtojoules{mw} * ps; }  // one multiplication

// Converts parts to whole microjoules whose sum is the sum of the parts in whole microjoules. Each part is
// the amount by which it increases the running sum. No part is off by more than a microjoule.
inline std::vector<int64_t> ToMicrojoules(const std::vector<Femtojoules>& parts) {
  std::vector<int64_t> out;
  Femtojoules sum = 0;
  int64_t before = 0;
  for (const Femtojoules part : parts) {
    sum += part;
    const auto micro = static_cast<int64_t>(sum / kFemtoPerMicro);
    out.push_back(micro - before);
    before = micro;
  }
  return out;
}

}  // namespace chakra::energy
