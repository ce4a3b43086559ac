// The times of computation, and the rungs that gave them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "replay/compute/row_times.h"
#include "trace/base/units.h"

namespace chakra {

enum class ComputeRung : uint8_t { kTable, kInterpolate, kRepriced, kModel, kRoofline, kRecorded, kNone };
inline constexpr int kComputeRungs = 7;

// What the kernel model said of a row: how far its time may be off, and with which other rows it errs
// together.
struct TimeSpread {
  Time low, high;      // 90 of 100 measurements lie between them
  uint32_t call = 0;   // rows of one call have one error
  uint8_t family = 0;  // KernelFamily
};

// Compute times of one distinct graph, by row; those of rows other than COMP mean nothing.
struct ComputeTimes {
  RowTimes time;
  std::vector<ComputeRung> rung;
  // Over all rows:
  std::array<Time, kComputeRungs> error{};  // by rung: the sum of the possible errors of its times, as if all
                                            // had one direction
  uint64_t outside = 0;                     // rows that interpolation refused, since they lie outside the
                                            // measured rows
  uint64_t derived = 0;                     // rows whose work the roofline got from shapes
  // By row, of those that kModel and kRepriced answered; empty: they answered none.
  std::vector<TimeSpread> spread;
};

}  // namespace chakra
