// The shortest of the calls that a rank repeats, which waited least for the others.
#pragma once

#include <vector>

#include "trace/model/trace.h"

namespace chakra {

// By row of Graph::comm of `trace`, the least recorded time of the row and its repeats: collectives of one
// kind, group and size; sends, or receives, of one peer and size. Rows without a recorded time neither count
// nor get one.
std::vector<Time> LeastOfRepeats(const RankTrace& trace);

}  // namespace chakra
