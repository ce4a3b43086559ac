// Lanes without a recorded order: units that serve their nodes one at a time, in whatever order they become
// ready.
#pragma once

#include <cstdint>

#include "trace/model/trace.h"

namespace chakra {

// A bit of Graph::flags beside those of trace.h: the attribute any_order is true.
inline constexpr uint8_t kAnyOrder = 8;

// Whether the lane of `row` is such a unit.
inline bool InAnyOrder(const Graph& graph, uint32_t row) { return (graph.flags[row] & kAnyOrder) != 0; }

}  // namespace chakra
