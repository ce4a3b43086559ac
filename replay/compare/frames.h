// What the kept frames of two nodes, and of two files' metadata, say beyond the graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/compare.pb.h"
#include "replay/compare/pair_nodes.h"
#include "trace/model/trace.h"

namespace chakra {

// Attributes ("attr.KEY", all that there are), "inputs.values", "outputs" and
// "attribute notes" (doc_string) of paired nodes; adds to *differences, and marks rows in *changed, which has
// one entry a row of A. Those that CompareGraphs() knows by another name are left to it.
// Errors: a rank without kept frames; a frame that does not parse.
absl::Status CompareFrames(const RankTrace& a, const RankTrace& b, const NodePairs& pairs,
                           std::vector<NodeDifference>* differences, std::vector<uint8_t>* changed);

// What the metadata of the files say, where it differs: "schema version" and
// "metadata KEY", the values of the first rank that differs, one entry each.
void CompareMetadata(const TraceSet& a, const TraceSet& b, proto::Comparison* out);

}  // namespace chakra
