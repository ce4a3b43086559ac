// Finds the operators of kernels that CUDA and HIP graphs launch: those that ran when the graph was captured.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// Whether a trace shows that a graph is captured (calls *StreamBeginCapture) and launches no graph. Inference
// engines write such a trace in addition to the trace of the execution.
bool ShowsGraphCaptureOnly(const DeviceTrace& trace);

struct GraphJoin {
  uint64_t kernels = 0;  // launched by graphs
  uint64_t joined = 0;   // those that now have an operator
};

// Gives the kernels of each graph launch in `to` their operators and shapes (DeviceExtra::graph_op). `from`
// are the traces with captures; it may include `to`. The k-th operation of a launch, by start, gets the
// operator of the k-th launching call of a capture that has as many launching calls as the launch has
// operations. If the operations of a launch are on several streams, they are ordered by the numbers of their
// nodes instead; if these numbers are missing or contradict the order on a stream, the operations get no
// operator. If several captures have that length, only what they agree on is used.
GraphJoin JoinCapturedGraphs(const std::vector<const DeviceTrace*>& from, DeviceTrace* to);

}  // namespace chakra::pytorch
