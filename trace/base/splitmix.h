// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): numbers by
// chance that are the same everywhere.
#pragma once

#include <cstdint>

namespace chakra {

// Between the states of one number and the next.
inline constexpr uint64_t kSplitMixStep = 0x9e3779b97f4a7c15;

// Its finalizer: neighbours among numbers become numbers that have nothing to do with each other.
inline uint64_t SplitMix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// The next number of the sequence that is at `state`.
inline uint64_t NextSplitMix(uint64_t* state) { return SplitMix(*state += kSplitMixStep); }

// Of such a number: its place in [0, 1).
inline double ShareOf(uint64_t number) { return static_cast<double>(number >> 11) * 0x1p-53; }

}  // namespace chakra
