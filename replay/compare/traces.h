// What changed between two sets of traces.
#pragma once

#include "absl/status/statusor.h"
#include "proto/compare.pb.h"
#include "trace/model/trace.h"

namespace chakra {

struct TraceCompareOptions {
  bool merge_numbers = false;  // names of operators that differ in their numbers only are one: "layer#.mlp"
  bool attributes = false;     // also attributes that replay does not use; needs kept frames
};

// Sections: "run", "types", "ranks", "collectives", "operators", "lanes", "groups",
// "repairs", "unpaired" (nodes that only one has, by name). Sums are over all ranks. Nodes pair up by rank,
// then as proto::NodeChanges says. Metadata are settings; files are not (another compression is no change),
// but a note says where they differ. Beside the traces it needs memory for one pairing of two distinct graphs
// at a time and the sums by name. `a`, `b`, `limit` and `failure` are left alone. Errors: `attributes`
// without kept frames.
absl::StatusOr<proto::Comparison> CompareTraces(const TraceSet& a, const TraceSet& b,
                                                const TraceCompareOptions& options);

// Whether any node has a recorded duration.
bool HasRecordedTimes(const TraceSet& traces);

}  // namespace chakra
