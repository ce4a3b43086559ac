// Passes that run together.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/step.h"

namespace chakra::generate {

// Nodes of one pass, [begin, middle), and of another, [middle, end), of which none waits for one of the other
// pass.
struct MergedPasses {
  uint32_t begin = 0, middle = 0, end = 0;
};

// Puts the nodes of such passes in turn: behind each exchange of an expert layer the other pass goes on, so
// that the computation of one hides the communication of the other (DeepSeek-V3, 2024, figure 4). Of the
// exchanges `hidden` in 1 are so; nothing is computed beside the others, which are spread evenly. `merged` is
// in order and does not overlap.
void Interleave(const std::vector<MergedPasses>& merged, double hidden, StageGraph* graph);

}  // namespace chakra::generate
