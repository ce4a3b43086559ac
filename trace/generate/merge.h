// Two passes that run together.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/step.h"

namespace chakra::generate {

// The nodes of one pass, [begin, middle), and of another, [middle, end). No node waits for a node of the
// other pass.
struct MergedPasses {
  uint32_t begin = 0, middle = 0, end = 0;
};

// Interleaves the nodes of such passes: after each exchange of an expert layer, the other pass continues, so
// that the computation of one hides the communication of the other (DeepSeek-V3, 2024, figure 4). Only the
// share `hidden` of the exchanges is hidden; nothing is computed during the others, which are spread evenly.
// `merged` is in order and does not overlap.
void Interleave(const std::vector<MergedPasses>& merged, double hidden, StageGraph* graph);

}  // namespace chakra::generate
