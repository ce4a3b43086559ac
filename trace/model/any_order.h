// Lanes without a recorded order: they run one node at a time, in the order in which the nodes become ready.
#pragma once

#include <cstdint>

#include "trace/model/trace.h"

namespace chakra {

// A bit of Graph::flags, in addition to those of trace.h: the attribute any_order is true.
inline constexpr uint8_t kAnyOrder = 8;

// Whether the lane of `row` has no recorded order.
inline bool InAnyOrder(const Graph& graph, uint32_t row) { return (graph.flags[row] & kAnyOrder) != 0; }

}  // namespace chakra
