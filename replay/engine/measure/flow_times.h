// Compares the times of flows with their times without other traffic, by size.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

// The flows of one class of sizes: more than a tenth of `most_bytes`, and at most `most_bytes`.
struct FlowTimesRow {
  uint64_t most_bytes = 0;  // a power of ten; 1,000: also all smaller sizes; ~0: all sizes above 1e9
  uint64_t flows = 0;
  Time mean;  // rounded down
  // Slowdowns (time / time without other traffic), accurate to 0.8 %; the maximum is exact.
  double median = 0, p99 = 0, max = 0;
};

// Slowdowns are counted in buckets, 64 for each power of two, so memory does not grow with the number of
// flows, and the order of Add() does not matter.
class FlowTimes {
 public:
  // Precondition: `alone` > 0.
  void Add(uint64_t bytes, Time time, Time alone);
  // The classes of sizes that occurred, the smallest first.
  std::vector<FlowTimesRow> Rows() const;

 private:
  static constexpr size_t kClasses = 8;
  struct Class {
    uint64_t flows = 0;
    unsigned __int128 time = 0;  // ps
    double max = 0;
    std::map<uint32_t, uint64_t> buckets;
  };
  std::array<Class, kClasses> classes_;
};

}  // namespace chakra
