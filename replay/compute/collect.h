// Kernel tables out of traces, and several tables as one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/kernel_table.pb.h"
#include "trace/model/trace.h"

namespace chakra {

struct CollectOptions {
  bool host = false;   // host operations too, each with all that it calls
  std::string device;  // of the table
  std::string source;  // likewise
};

struct CollectNotes {
  uint64_t nodes = 0;        // that gave a measurement
  uint64_t host = 0;         // host operations that were passed over
  uint64_t no_duration = 0;  // compute nodes without a recorded duration
  uint64_t no_shapes = 0;    // nodes without shapes of a name that others have with shapes
};

// A row for each name, shapes and dtypes (and num_ops and tensor_size, for nodes without shapes) of the COMP
// nodes: the median, minimum and maximum of their recorded durations. Ranks that share a graph count once.
// Operations and bytes are the node's num_ops and tensor_size, else those of its operator (operator_work.h);
// of the kernels that one operator launched with the same inputs, that which took longest in all has them.
// The operator is the attribute `op`, which is there when `traces` keep their raw frames. Rows are in the
// order of name, shapes, dtypes, work. Nodes without shapes or work are left out where others of their name
// have shapes (the parts of a host operation after its first): their row would answer for any shapes. Errors:
// frames that do not parse, a table without rows (with what was passed over).
absl::StatusOr<proto::KernelTable> CollectKernels(const TraceSet& traces, const CollectOptions& options,
                                                  CollectNotes* notes);

struct MergeNotes {
  uint64_t joined = 0;               // rows that stand for several
  uint64_t differ = 0;               // those of them whose rows had other durations
  double ratio = 1;                  // the largest of them, longest to shortest
  std::string name;                  // its row's; the first, where several are as large
  std::vector<std::string> adopted;  // tables that name no device: they were taken for the others'
};

// All rows. Rows of one key become one: the mean of the durations weighted by count (0 counts as 1), the
// smallest min_us, the largest max_us (where all have them), the sum of the counts, the largest error; what
// else they disagree on is left out. Rows are in the order of name, shapes, dtypes, work. `names` are the
// tables' names, for messages. Errors: tables of different devices, unless `any_device`, which makes the
// device "A + B"; those of KernelTableIndex::Make on each. `notes` may be null.
absl::StatusOr<proto::KernelTable> MergeKernels(const std::vector<proto::KernelTable>& tables,
                                                const std::vector<std::string>& names, bool any_device,
                                                MergeNotes* notes = nullptr);

}  // namespace chakra
