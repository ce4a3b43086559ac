// The ways to split ranks into equal groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chakra::pytorch {

// A partition of the ranks of a class.
struct GroupSplit {
  std::vector<uint32_t> group;  // by position of the rank: its group; groups are numbered by first occurrence
  uint32_t groups = 0;
  int size = 0;       // members of each group; 0: groups differ in size
  std::string words;  // "groups of 2 ranks, 4 apart"
};

// First all ranks as one group; then groups of g ranks that are s apart, and products of two such splits.
// Ranks are counted by their position in `ranks` and, if `world` is larger, also by their number. Equal
// partitions are listed once. The last one has each rank alone. `ranks`: ascending.
std::vector<GroupSplit> RegularSplits(const std::vector<int>& ranks, int world);

}  // namespace chakra::pytorch
