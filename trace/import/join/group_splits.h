// The ways to split ranks into equal groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chakra::pytorch {

// A partition of the ranks of a class.
struct GroupSplit {
  std::vector<uint32_t> group;  // by position of the rank: its group, counted from 0 by first occurrence
  uint32_t groups = 0;
  int size = 0;       // members of each group; 0: not all are equal
  std::string words;  // "groups of 2 ranks, 4 apart"
};

// All ranks as one group first; then groups of g ranks that are s apart, and products of two such, by
// position among `ranks` and, where `world` has more ranks, by number. Equal partitions are there once. The
// last one has each rank alone. `ranks`: ascending.
std::vector<GroupSplit> RegularSplits(const std::vector<int>& ranks, int world);

}  // namespace chakra::pytorch
