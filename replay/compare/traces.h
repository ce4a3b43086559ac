// Compares two sets of traces.
#pragma once

#include "absl/status/statusor.h"
#include "proto/compare.pb.h"
#include "trace/model/trace.h"

namespace chakra {

struct TraceCompareOptions {
  bool merge_numbers = false;  // merge operators whose names differ only in numbers: "layer#.mlp"
  bool attributes = false;     // also compare attributes that the replay does not use; needs kept frames
};

// Sections: "run", "types", "ranks", "collectives", "kernels_by_operator", "kernels", "operators", "lanes",
// "groups", "repairs", "unpaired" (nodes that only one side has, by name). Sums are over all ranks. Nodes
// pair by rank, then as documented at proto::NodeChanges. Differences of metadata are settings. Differences
// of files are not changes (the compression may differ), but a note counts them. The memory needed, in
// addition to the traces, is that of one pairing of two distinct graphs and of the sums by name. The fields
// `a`, `b`, `limit` and `failure` are not set. Errors: `attributes` without kept frames.
absl::StatusOr<proto::Comparison> CompareTraces(const TraceSet& a, const TraceSet& b,
                                                const TraceCompareOptions& options);

// Whether any node has a recorded duration.
bool HasRecordedTimes(const TraceSet& traces);

}  // namespace chakra
