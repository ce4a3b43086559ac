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
// that the computation of one hides the communication of the other (DeepSeek-V3, 2024, figure 4). `merged` is
// in order and does not overlap.
void Interleave(const std::vector<MergedPasses>& merged, StageGraph* graph);

}  // namespace chakra::generate
