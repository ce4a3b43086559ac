// Compares the parts of nodes and files that the graph does not hold: kept frames of nodes, and metadata.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/compare.pb.h"
#include "replay/compare/pair_nodes.h"
#include "trace/model/trace.h"

namespace chakra {

// Compares attributes ("attr.KEY"), "inputs.values", "outputs" and "attribute notes" (doc_string) of paired
// nodes. Adds to *differences, and marks rows in *changed, which has an entry for each row of A. Skips
// attributes that CompareGraphs() compares under another name. Errors: a rank without kept frames; a frame
// that does not parse.
absl::Status CompareFrames(const RankTrace& a, const RankTrace& b, const NodePairs& pairs,
                           std::vector<NodeDifference>* differences, std::vector<uint8_t>* changed);

// Compares the files' metadata: adds an entry for each difference, "schema version" or "metadata KEY", with
// the values of the first rank that differs.
void CompareMetadata(const TraceSet& a, const TraceSet& b, proto::Comparison* out);

}  // namespace chakra
