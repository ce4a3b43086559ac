// Networks that are given as sets of vertices and links (proto/graph.proto).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/topology/inputs/read_network.h"
#include "proto/graph.pb.h"

namespace chakra {

// Errors name the set (`where`: links[2], or the name of a vertex set), the field, its value and what was
// expected: no devices, devices after other sets, a duplicate name, a shape that does not give the count, an
// end that is no set or a slice beyond its set, no bandwidth or two, a scheme that does not fit the ends,
// overlapping ends, a latency or loss out of range, more than kMaxReadVertices or kMaxReadLinks. Devices that
// cannot reach each other give a note, not an error, because another dimension may connect them.
absl::StatusOr<ReadNetwork> BuildExplicitGraph(const proto::ExplicitGraph& graph, const std::string& file);

// Reads text format, JSON or binary.
absl::StatusOr<ReadNetwork> ReadExplicitGraph(absl::string_view text, const std::string& file);

}  // namespace chakra
