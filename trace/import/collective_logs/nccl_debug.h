// Reads NCCL's output with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,COLL: each call of a rank, without
// times.
//
// Lines are "HOST:PID:TID [DEVICE] NCCL INFO ...", after any other text. The "Init" line of a communicator
// has its pointer, its rank, its size and, from 2.18 on, an id that all members share. The line of a call has
// its count and type (init.cc and enqueue.cc of NCCL). RCCL writes the same lines.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/collective_logs/call_log.h"

namespace chakra::collective_logs {

// Whether a file that begins with `head` is such a log. Output of nccl-tests is not, because it has times of
// its own.
bool LooksLikeNcclDebug(absl::string_view head);

// Adds the calls of each process and device in the file. A note lists the algorithms and protocols that NCCL
// chose. InvalidArgument, with file and line: there is no call, or no line gives the rank in a call's
// communicator.
absl::Status ReadNcclDebug(absl::string_view content, absl::string_view file, std::vector<RankLog>* out);

}  // namespace chakra::collective_logs
