// Writes a joined rank as Chakra frames, in the form that a PyTorch capture has
// (trace/import/pytorch/emit.h).
//
// Node 0 names the groups of the rank, node 1 is the begin of the run. Each call is a collective on the
// stream of its communicator, or a send or receive; what lies between calls, and before the first one, is a
// node "[between calls]" on a stream of its own. Where a call runs while the next one begins, the time
// between the two begins lies beside it. Calls that cannot be matched are computation with comm_kind.
#pragma once

#include "absl/status/status.h"
#include "trace/et/writer.h"
#include "trace/import/collective_logs/join.h"

namespace chakra::collective_logs {

// Writes rank `r` of `joined`. `format`: "nccl_inspector" or the like.
absl::Status EmitRank(const JoinedLogs& joined, size_t r, absl::string_view format, EtWriter* writer);

}  // namespace chakra::collective_logs
