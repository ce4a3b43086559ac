// Reads Keysight's InfraGraph (proto/infragraph.proto), and expands it to a graph.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/topology/inputs/read_network.h"
#include "proto/infragraph.pb.h"

namespace chakra {

// Parses JSON, YAML, text format or binary. The message is an Infrastructure or, except in binary, an
// Infrastructure under "infrastructure" with "annotations" next to it. Errors name the place and the nearest
// valid name. A file of the schema before 1.0, which has an "inventory", gives an error that says so.
absl::StatusOr<infragraph::Annotated> ParseInfraGraph(absl::string_view text, const std::string& file);

// The xpus are the devices. The annotations `rank` give their ranks; without these, ranks are in the order of
// instances, indices and components. Memory is left out; all other components forward messages. A vertex is
// called "instance.i.component.j", with "subdevice.j" in between for composed devices, and without the last
// number if there is only one component.
//
// Edges follow the reference implementation: slices; one2one (the rest of the longer end is skipped, with a
// note); many2many; no edge from a vertex to itself; of several edges between two vertices only the last.
// `ring` (which the reference implementation refuses) passes the vertices of both ends in order. Annotations
// of links and edges that are used: link_bandwidth_gbps, link_latency_ms, bandwidth ("450 GBps"), latency
// ("300 ns"), link_error_rate, packet_loss_rate; of the graph: devices_forward (yes or no; default: yes if
// ranks cannot reach each other otherwise, or if a link is called "ici"). A link within a device that has no
// rate gets one by its name, with one note; a link between instances must have a rate.
//
// Errors name the edge or annotation and the nearest component, instance, device or link: an unknown name, a
// slice beyond the count, a name that is used twice or that has dots or brackets, a device that contains
// itself, an edge without a scheme between more than two vertices, a rate in GT/s without an annotation, a
// rate or latency out of range, ranks that are not 0 to n - 1, xpus that cannot reach each other, more than
// kMaxReadVertices or kMaxReadLinks.
absl::StatusOr<ReadNetwork> ExpandInfraGraph(const infragraph::Annotated& graph, const std::string& file);

// Parses and expands.
absl::StatusOr<ReadNetwork> ReadInfraGraph(absl::string_view text, const std::string& file);

}  // namespace chakra
