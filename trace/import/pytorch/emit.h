// A linked rank as Chakra frames.
//
// Beside the schema's own fields every node has: is_cpu_op; tid (host) or
// stream and device (device); start_ns, since the capture's window began, and
// duration_ns; dep_kinds, the kind of each dependency ("launch,stream"), and
// dep_delay_ns, how long after its end the node may begin (absent: 0), both in
// the order of data_deps; category; part, where a host call has several; parent,
// the first node of the call that it was made in, or that launched it. Comm
// nodes have transfer_ns: what was measured from the last captured member's
// arrival on.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "trace/et/writer.h"
#include "trace/import/pytorch/join.h"

namespace chakra::pytorch {

// Writes rank `index` of `ranks` (and the process groups of all).
absl::Status EmitRank(const CaptureRank& rank, uint32_t index, const Joined& joined, EtWriter* writer);

}  // namespace chakra::pytorch
