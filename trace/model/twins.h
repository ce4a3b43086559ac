// Ranks that do what another rank does.
#pragma once

#include <vector>

#include "trace/model/trace.h"

namespace chakra {

// By rank: the rank whose twin it is, or itself. Empty: there are no twins. A twin has the graph of the
// other, sends and receives what the other does to and from ranks at the same distance, and has groups of its
// own in the order of the other's group_names. Its RankTrace may have no peers and no metadata until
// ExpandTwins().
using Twins = std::vector<int>;

// Gives each twin the peers and the metadata that it stands without.
void ExpandTwins(const Twins& twins, TraceSet* traces);

// Whether `rank` has nothing of its own but its groups.
inline bool IsTwin(const Twins* twins, int rank) {
  return twins != nullptr && !twins->empty() && (*twins)[static_cast<size_t>(rank)] != rank;
}

}  // namespace chakra
