// Symmetric ranks: ranks that do the same as another rank.
#pragma once

#include <vector>

#include "trace/model/trace.h"

namespace chakra {

// By rank: the rank to which it is symmetric, or itself. Empty: there are no symmetric ranks. A symmetric
// rank has the graph of the other rank, sends to and receives from ranks at the same distances, and has its
// own groups, in the order of the other rank's group_names. Its RankTrace may lack peers and metadata until
// ExpandTwins() adds them.
using Twins = std::vector<int>;

// Adds the missing peers and metadata of symmetric ranks.
void ExpandTwins(const Twins& twins, TraceSet* traces);

// Whether `rank` is symmetric to another rank, so that it has nothing of its own except its groups.
inline bool IsTwin(const Twins* twins, int rank) {
  return twins != nullptr && !twins->empty() && (*twins)[static_cast<size_t>(rank)] != rank;
}

}  // namespace chakra
