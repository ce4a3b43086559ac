// What computation takes, and who says so.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

enum class ComputeRung : uint8_t { kTable, kInterpolate, kRoofline, kRecorded, kNone };
inline constexpr int kComputeRungs = 5;

// Compute times of one distinct graph, row for row. COMP rows only; others 0.
struct ComputeTimes {
  std::vector<Time> time;
  std::vector<ComputeRung> rung;
  // Of the rows together:
  std::array<Time, kComputeRungs> error{};  // by rung: how far off their times may be, all in one direction
  uint64_t outside = 0;                     // that interpolation refused, being outside of what was measured
  uint64_t derived = 0;                     // whose work the roofline had from shapes
};

}  // namespace chakra
