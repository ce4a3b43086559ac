// Numbers by chance that depend on a key and a count alone, so that they are the same in whatever order they
// are drawn (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include <cstdint>

namespace chakra {

// Neighbours among numbers become numbers that have nothing to do with each other.
inline uint64_t Scatter(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// A number in [0, 1).
inline double Draw(uint64_t key, uint64_t count) {
  return static_cast<double>(Scatter(key + count * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
}

}  // namespace chakra
