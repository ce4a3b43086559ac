// The times of computation, and the rungs that gave them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

enum class ComputeRung : uint8_t { kTable, kInterpolate, kRoofline, kRecorded, kNone };
inline constexpr int kComputeRungs = 5;

// Compute times of one distinct graph, by row; 0 for rows other than COMP.
struct ComputeTimes {
  std::vector<Time> time;
  std::vector<ComputeRung> rung;
  // Over all rows:
  std::array<Time, kComputeRungs> error{};  // by rung: the sum of the possible errors of its times, as if all
                                            // had one direction
  uint64_t outside = 0;                     // rows that interpolation refused, since they lie outside the
                                            // measured rows
  uint64_t derived = 0;                     // rows whose work the roofline got from shapes
};

}  // namespace chakra
