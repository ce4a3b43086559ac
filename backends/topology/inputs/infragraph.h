// Keysight's InfraGraph (proto/infragraph.proto): read, and expanded to a graph.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/topology/inputs/read_network.h"
#include "proto/infragraph.pb.h"

namespace chakra {

// JSON, YAML, text format or binary; an Infrastructure, or (not in binary) one
// under "infrastructure" with "annotations" beside it. Errors name the place
// and the nearest valid name; files of the schema before 1.0, with an
// "inventory", are named as such.
absl::StatusOr<infragraph::Annotated> ParseInfraGraph(absl::string_view text, const std::string& file);

// The xpus are the devices, ranked by the annotation `rank` of each, else in the
// order of instances, indices and components. All other components forward
// messages but memory, which is left out. A vertex is called
// "instance.i.component.j", with "subdevice.j" between for composed devices,
// less the last number where there is one component only.
//
// Edges follow the reference implementation: slices, one2one (the longer end's
// rest is left, noted), many2many, no vertex with itself, and of edges between
// one pair of vertices the last alone. `ring` (which the reference refuses) goes
// through the vertices of both ends in order. Annotations of links and edges
// that are used: link_bandwidth_gbps, link_latency_ms, bandwidth ("450 GBps"),
// latency ("300 ns"), link_error_rate, packet_loss_rate; of the graph:
// devices_forward (yes, no; default: when ranks cannot reach each other otherwise,
// and along links called "ici"). Links within devices that have no rate get one by
// their name, noted once; links between instances must have one.
//
// Errors name the edge or annotation and the nearest component, instance, device or
// link: a name that is not there, a slice beyond the count, a name used twice or with
// dots or brackets, a device made of itself, an edge without a scheme between more than
// two vertices, a rate in GT/s without an annotation, a rate or latency out
// of range, ranks that are not 0 to n - 1, xpus that cannot reach each other,
// more than kMaxReadVertices or kMaxReadLinks.
absl::StatusOr<ReadNetwork> ExpandInfraGraph(const infragraph::Annotated& graph, const std::string& file);

// Both.
absl::StatusOr<ReadNetwork> ReadInfraGraph(absl::string_view text, const std::string& file);

}  // namespace chakra
