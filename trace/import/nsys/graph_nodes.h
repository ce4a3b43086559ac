// Kernels that CUDA graphs launched, and the operators that put them there.
#pragma once

#include "absl/status/status.h"
#include "trace/import/nsys/nccl_payload.h"
#include "trace/import/nsys/process.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {

// Where graphs were traced node by node, a kernel names its node, and CUDA_GRAPH_NODE_EVENTS tells when and
// on which thread the node was made, or which node it was cloned from. The operator around that moment, and
// the call of NCCL around it, are the kernel's. Counts what was joined. Precondition: NVTX ranges are read.
// In a window, ranges of before are read again for this.
absl::Status JoinGraphNodes(const SqliteReader& db, const Strings& strings, const NcclSchemas& schemas,
                            Processes* processes);

}  // namespace chakra::nsys
