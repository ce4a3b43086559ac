// How long flows took beside what they would have taken alone, by their size.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

// Of flows of more than a tenth of `most_bytes`, and at most that many.
struct FlowTimesRow {
  uint64_t most_bytes = 0;  // a power of ten; 1,000: smaller ones too; ~0: all above 1e9
  uint64_t flows = 0;
  Time mean;  // rounded down
  // Of slowdowns, time over time alone, to 0.8 %; the largest is exact.
  double median = 0, p99 = 0, max = 0;
};

// Memory does not grow with flows, and the order of Add() does not matter: slowdowns are counted in buckets,
// 64 to each power of two.
class FlowTimes {
 public:
  // `alone` > 0.
  void Add(uint64_t bytes, Time time, Time alone);
  // Sizes that there were, the smallest first.
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
