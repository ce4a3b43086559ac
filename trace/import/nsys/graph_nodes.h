// Finds the operators that put kernels into CUDA graphs.
#pragma once

#include "absl/status/status.h"
#include "trace/import/nsys/nccl_payload.h"
#include "trace/import/nsys/process.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {

// Gives each kernel of a CUDA graph its operator and its NCCL call, where graphs were traced node by node. A
// kernel names its node; CUDA_GRAPH_NODE_EVENTS has the time and the thread at which the node was made, or
// the node that it was cloned from. The kernel gets the operator and the NCCL call that were open at that
// time. Counts the joined kernels. Precondition: NVTX ranges are read. Reads NVTX ranges around those times
// again, because they may be before the window.
absl::Status JoinGraphNodes(const SqliteReader& db, const Strings& strings, const NcclSchemas& schemas,
                            Processes* processes);

}  // namespace chakra::nsys
