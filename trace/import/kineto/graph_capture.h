// Kernels that CUDA and HIP graphs launched, and the operators that were called when the graphs were
// captured.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// Whether a trace shows a graph being captured (calls *StreamBeginCapture), and launches none: inference
// engines write such a trace beside that of the execution.
bool ShowsGraphCaptureOnly(const DeviceTrace& trace);

struct GraphJoin {
  uint64_t kernels = 0;  // that graphs launched
  uint64_t joined = 0;   // that have an operator now
};

// Gives the kernels of each launch of a graph in `to` their operators and shapes (DeviceExtra::graph_op),
// from the captures in `from`, which may have `to` itself. The k-th operation of a launch, by start, is that
// of the k-th launching call between begin and end of a capture with as many such calls. Operations of one
// launch on several streams go by the numbers of their nodes, if the source tells these and they agree with
// the order of each stream; else the operations stay without. Of several captures of that length, what all
// agree on counts.
GraphJoin JoinCapturedGraphs(const std::vector<const DeviceTrace*>& from, DeviceTrace* to);

}  // namespace chakra::pytorch
