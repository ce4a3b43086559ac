// The times of computation, and the time sources that gave them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "replay/compute/row_times.h"
#include "trace/base/units.h"

namespace chakra {

enum class TimeSource : uint8_t { kTable, kInterpolate, kRepriced, kModel, kRoofline, kRecorded, kNone };
inline constexpr int kTimeSources = 7;

// The range of a row's time as the kernel model states it, and the rows that share its error.
struct TimeSpread {
  Time low, high;      // 90 of 100 measurements are between low and high
  uint32_t call = 0;   // rows with the same number have the same error
  uint8_t family = 0;  // KernelFamily
};

// Compute times of one distinct graph, by row. Entries of rows that are not COMP are meaningless.
struct ComputeTimes {
  RowTimes time;
  std::vector<TimeSource> time_source;
  // By time source: the sum of the possible errors of all rows, as if all had the same sign.
  std::array<Time, kTimeSources> error{};
  uint64_t outside = 0;  // rows that `interpolate` did not answer, since they are outside the measured rows
  uint64_t derived = 0;  // rows whose work the roofline got from shapes
  // By row; set for rows that kModel or kRepriced answered. Empty if there are none.
  std::vector<TimeSpread> spread;
};

}  // namespace chakra
