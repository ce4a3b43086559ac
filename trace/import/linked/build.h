// Makes the columns of a rank, and where frames are wanted their side table.
//
// Two steps, so that of a rank only its columns need be kept until all ranks are joined: DraftColumns() takes
// what the rank alone tells, JoinColumns() what joining adds: the begin of the run, and what calls are
// replayed as.
//
// Beside the schema's own fields every node of a frame has: is_cpu_op; tid (host) or stream and device
// (device); start_ns, counted from the begin of the capture's window, and duration_ns; dep_kinds, the kind of
// each dependency ("launch,stream"), and dep_delay_ns, how long after the end of each dependency the node may
// begin (absent: 0), both in the order of data_deps; dep_unexplained_ns, the part of each dep_delay_ns for
// which there is no reason (absent: 0); dep_release, when in its duration each dependency released the node
// (kReleaseAtEnd, also if absent: at its end); category; part, if a host call has several; parent, the
// first node of the call that encloses or launched this node. Operators that launch a kernel which Inductor
// generated, and these kernels, have what PyTorch tells of it: kernel_backend, kernel_file, kernel_hash,
// kernel_kwargs, grid, num_warps and num_stages; the kernels num_ops and tensor_size too. Comm nodes have
// transfer_ns, the measured time from the arrival of the last captured member on. A host thread's own work
// between two calls is a node named "[between calls]" of category between_calls.
#pragma once

#include <cstdint>

#include "trace/et/rank_draft.h"
#include "trace/import/join/join.h"
#include "trace/import/timeline/column_draft.h"

namespace chakra::pytorch {

// Whether columns can hold what joining adds to the rank at `index`.
bool FitsColumns(const CaptureRank& rank, uint32_t index, const Joined& joined);

// `rank`, the rank at `index`, with what joining adds; `draft` is its own. Precondition: FitsColumns().
RankDraft JoinColumns(const CaptureRank& rank, uint32_t index, const Joined& joined, ColumnDraft draft);

}  // namespace chakra::pytorch
