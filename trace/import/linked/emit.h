// Writes a linked rank as Chakra frames.
//
// Beside the schema's own fields every node has: is_cpu_op; tid (host) or stream and device (device);
// start_ns, counted from the begin of the capture's window, and duration_ns; dep_kinds, the kind of each
// dependency ("launch,stream"), and dep_delay_ns, how long after the end of each dependency the node may
// begin (absent: 0), both in the order of data_deps; dep_unexplained_ns, the part of each dep_delay_ns for
// which there is no reason (absent: 0); dep_release, when in its duration each dependency released the node
// (kReleaseAtEnd, also if absent: at its end); category; part, if a host call has several; parent, the
// first node of the call that encloses or launched this node. Operators that launch a kernel which Inductor
// generated, and these kernels, have what PyTorch tells of it: kernel_backend, kernel_file, kernel_hash,
// kernel_kwargs, grid, num_warps and num_stages; the kernels num_ops and tensor_size too. Comm nodes have
// transfer_ns, the measured time from the arrival of the last captured member on. A host thread's own work
// between two calls is a node named
// "[between calls]" of category between_calls.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "trace/et/writer.h"
#include "trace/import/join/join.h"

namespace chakra::pytorch {

// Writes `rank`, the rank at `index`, with the process groups of all ranks.
absl::Status EmitRank(const CaptureRank& rank, uint32_t index, const Joined& joined, EtWriter* writer);

}  // namespace chakra::pytorch
