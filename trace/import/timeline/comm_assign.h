// Finds the device operation that carries each communication call.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/host/pair.h"
#include "trace/import/timeline/device_order.h"
#include "trace/import/timeline/threads.h"
#include "trace/import/timeline/timeline.h"
#include "trace/import/timeline/timeline_draft.h"

namespace chakra::pytorch {

// Sets TimelineNode::comm and Timeline::comms; each call gets one node. The facts of a call come from the
// kernel's arguments, then its operator in the device trace, then the host trace, then annotations and
// operators of other libraries around it, then names. A kernel that communicates but carries no call gets a
// call with CommCall::kept. If one kernel carries several calls (batched sends and receives), each call gets
// a node of its own; the kernel's node then takes no time and follows them. A call without a kernel stays on
// its host node (gloo), or is counted. `first_node`: by event row. Nodes are not sorted yet; new nodes go to
// `timeline`, their edges to `edges`.
void AssignComms(const DeviceTrace& device, const HostTrace* host, const Pairing* pairing,
                 const HostThreads& threads, const DeviceOrder& order,
                 const std::vector<uint32_t>& first_node, Timeline* timeline, std::vector<NewEdge>* edges);

}  // namespace chakra::pytorch
