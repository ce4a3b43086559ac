// Symmetric ranks: ranks that do the same as another rank.
#pragma once

#include <vector>

#include "trace/model/trace.h"

namespace chakra {

// By rank: the rank to which it is symmetric, or itself. Empty: there are no symmetric ranks. A symmetric
// rank has the graph of the other rank, sends to and receives from ranks at the same distances, and has its
// own groups, in the order of the other rank's group_names. Its RankTrace may lack peers and metadata until
// ExpandSymmetricRanks() adds them.
using SymmetricRanks = std::vector<int>;

// Adds the missing peers and metadata of symmetric ranks.
void ExpandSymmetricRanks(const SymmetricRanks& symmetric, TraceSet* traces);

// Whether `rank` is symmetric to another rank, so that it has nothing of its own except its groups.
inline bool IsSymmetricRank(const SymmetricRanks* symmetric, int rank) {
  return symmetric != nullptr && !symmetric->empty() && (*symmetric)[static_cast<size_t>(rank)] != rank;
}

}  // namespace chakra
