// Which device operation carries which communication call.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/pytorch/capture.h"
#include "trace/import/pytorch/device_order.h"
#include "trace/import/pytorch/pair.h"
#include "trace/import/pytorch/threads.h"
#include "trace/import/pytorch/timeline.h"

namespace chakra::pytorch {

// Whether a device operation communicates: a kernel of NCCL or RCCL.
bool IsCommKernel(absl::string_view name);

// Sets TimelineNode::comm and Timeline::comms, each call on one node: what the
// kernel's own arguments say, then its operator's in the device trace, then the
// host trace's, then the names. Calls that one kernel carries together
// (batched sends and receives) get a node each, beside the kernel's, which then
// takes no time and ends them. A call without a kernel stays on its host node
// (gloo), or is counted. `first_node`: by event row. Nodes are not sorted yet;
// new ones and their edges are appended to `timeline` and `extra`.
struct NewEdge {
  uint32_t to = 0;
  TimelineEdge edge;
};
void AssignComms(const DeviceTrace& device, const HostTrace* host, const Pairing* pairing,
                 const HostThreads& threads, const DeviceOrder& order,
                 const std::vector<uint32_t>& first_node, Timeline* timeline, std::vector<NewEdge>* edges);

}  // namespace chakra::pytorch
