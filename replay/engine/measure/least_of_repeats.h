// The shortest of the calls that a rank repeats: the one that waited the shortest time for other ranks.
#pragma once

#include <vector>

#include "trace/model/trace.h"

namespace chakra {

// By index into Graph::comm of `trace`: the minimum recorded time of the row and its repeats. Repeats are
// collectives of one kind, group and size, or sends (or receives) of one peer and size. Rows without a
// recorded time are not counted and get none.
std::vector<Time> LeastOfRepeats(const RankTrace& trace);

}  // namespace chakra
