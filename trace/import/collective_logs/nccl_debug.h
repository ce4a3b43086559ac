// What NCCL prints under NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,COLL: each call that a rank makes,
// without times.
//
// Lines are "HOST:PID:TID [DEVICE] NCCL INFO ...", with anything in front. A communicator's "Init" line has
// its pointer, its rank, its size and, from 2.18 on, an id that all members share; a call's line has its
// count and type (init.cc and enqueue.cc of NCCL). RCCL prints the same.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/collective_logs/call_log.h"

namespace chakra::collective_logs {

// nccl-tests' output is none, for it has times of its own.
bool LooksLikeNcclDebug(absl::string_view head);

// Appends the calls of each process and device in the file. What NCCL says that it chose is noted.
// InvalidArgument, with file and line: no call, a call whose communicator no line tells the rank in.
absl::Status ReadNcclDebug(absl::string_view content, absl::string_view file, std::vector<RankLog>* out);

}  // namespace chakra::collective_logs
