// Writes a joined rank as Chakra frames, in the form that a PyTorch capture has
// (trace/import/linked/emit.h).
// Nodes are those of walk.h.
#pragma once

#include "absl/status/status.h"
#include "trace/et/writer.h"
#include "trace/import/collective_logs/join.h"

namespace chakra::collective_logs {

// Writes rank `r` of `joined`. `format`: "nccl_inspector" or the like.
absl::Status EmitRank(const JoinedLogs& joined, size_t r, absl::string_view format, EtWriter* writer);

}  // namespace chakra::collective_logs
