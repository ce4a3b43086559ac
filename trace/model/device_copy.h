// Device operations that move or set memory and do not compute, as recorded in captures.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// A bit of Graph::flags, in addition to those of trace.h: a COMP node whose attribute category is that of a
// copy.
inline constexpr uint8_t kDeviceCopy = 16;

inline bool IsDeviceCopy(const Graph& graph, uint32_t row) { return (graph.flags[row] & kDeviceCopy) != 0; }

// Whether a value of the attribute category ("kernel", "gpu_memcpy", ...) denotes a copy.
inline bool IsCopyCategory(absl::string_view category) {
  return category == "gpu_memcpy" || category == "gpu_memset";
}

}  // namespace chakra
