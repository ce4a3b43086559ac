// Makes kernel tables from traces, and merges several tables into one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/kernel_table.pb.h"
#include "trace/model/trace.h"

namespace chakra {

struct CollectOptions {
  bool host = false;   // include host operations; the time of each includes everything that it calls
  std::string device;  // written to the table
  std::string source;  // written to the table
};

struct CollectNotes {
  uint64_t nodes = 0;        // nodes that gave a measurement
  uint64_t host = 0;         // host operations that were skipped, since `host` is false
  uint64_t no_duration = 0;  // compute nodes that were skipped for lack of a duration or a name
  uint64_t comm = 0;         // communication of unknown kind or group (Graph::is_kept_comm)
  uint64_t no_shapes = 0;    // skipped nodes without shapes, whose name other nodes have with shapes
};

// Makes a kernel table from the COMP nodes: a row for each name, shapes, dtypes and code (and num_ops and
// tensor_size, for nodes without shapes), with the median, minimum and maximum of the recorded durations.
// Ranks that share a graph count once. Operations and bytes of a row are the node's num_ops and tensor_size,
// else those of its operator (operator_work.h); if an operator launched several kernels with the same inputs,
// the kernel with the longest total time gets them. The operator is the attribute `op` of the node; it is
// known if `traces` keep their raw frames. Rows are in the order of name, shapes, dtypes, work. A node
// without shapes and work is skipped if other nodes of its name have shapes (the parts of a host operation
// after its first), since its row would answer for any shapes. Errors: frames that do not parse; a table
// without rows (the error says what was skipped).
absl::StatusOr<proto::KernelTable> CollectKernels(const TraceSet& traces, const CollectOptions& options,
                                                  CollectNotes* notes);

struct MergeNotes {
  uint64_t joined = 0;  // rows made of several rows
  uint64_t differ = 0;  // rows made of several rows with different durations
  double ratio = 1;     // the largest ratio of longest to shortest duration among the joined rows
  std::string name;     // name of the row with this ratio; the first of equals
  // Tables that name no device; they count as tables of the device that the others name.
  std::vector<std::string> adopted;
};

// Merges tables. Rows with one key become one row: the mean of the durations weighted by count (0 counts as
// 1), the smallest min_us and the largest max_us (if all rows have them), the sum of the counts, the largest
// error. Other fields are dropped if the rows disagree on them. Rows are in the order of name, shapes,
// dtypes, work. `names` are the tables' names, for messages. Errors: tables of different devices, unless
// `any_device` is set (the merged device is then "A + B"); errors of KernelTableIndex::Make() on each table.
// `notes` may be null.
absl::StatusOr<proto::KernelTable> MergeKernels(const std::vector<proto::KernelTable>& tables,
                                                const std::vector<std::string>& names, bool any_device,
                                                MergeNotes* notes = nullptr);

}  // namespace chakra
