// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014):
// pseudorandom numbers that are the same on every machine.
#pragma once

#include <cstdint>

namespace chakra {

// The difference between successive states of the generator.
inline constexpr uint64_t kSplitMixStep = 0x9e3779b97f4a7c15;

// SplitMix64's finalizer: turns neighbouring numbers into unrelated ones.
inline uint64_t SplitMix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Advances `state` and returns the next number of its sequence.
inline uint64_t NextSplitMix(uint64_t* state) { return SplitMix(*state += kSplitMixStep); }

// Maps a number of the sequence to [0, 1).
inline double ShareOf(uint64_t number) { return static_cast<double>(number >> 11) * 0x1p-53; }

}  // namespace chakra
