// Pseudorandom numbers that are the same on every machine.
#pragma once

#include <cstdint>

#include "trace/base/splitmix.h"

namespace chakra::sweep {

class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  uint64_t Next() { return NextSplitMix(&state_); }
  // A number in [0, n), n > 0. The probabilities of numbers differ by less than n / 2^64.
  uint64_t Below(uint64_t n) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * n) >> 64);
  }
  // A number in [0, 1).
  double Share() { return ShareOf(Next()); }

 private:
  uint64_t state_;
};

}  // namespace chakra::sweep
