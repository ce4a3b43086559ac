// InfraGraph and explicit graphs in all their forms: any bytes give a network or an error that names the
// file. A second read gives the same.
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "backends/topology/inputs/explicit_graph.h"
#include "backends/topology/inputs/infragraph.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

namespace {

using chakra::fuzz::Require;

void CheckInfragraph(const absl::StatusOr<chakra::ReadNetwork>& a,
                     const absl::StatusOr<chakra::ReadNetwork>& b) {
  Require(a.status() == b.status(), "the same answer twice");
  if (!a.ok()) {
    Require(absl::StrContains(a.status().message(), "fuzz.net"), "an error names the file");
    return;
  }
  const chakra::NetworkGraph &g = a->network.graph, &h = b->network.graph;
  Require(a->notes == b->notes && g.vertices() == h.vertices() && g.links() == h.links(),
          "the same network twice");
  Require(g.devices() > 0, "there is a device");
  for (const uint32_t v : {0u, g.devices() - 1, g.vertices() - 1}) {
    const auto found = g.FindVertex(g.VertexName(v));
    Require(found.ok() && *found == v, "a vertex is found by its name");
  }
  for (const chakra::LinkLoss& l : a->losses) Require(l.arc < g.arcs(), "a lossy link is there");
}

}  // namespace

FUZZ_TARGET(infragraph_fuzz, data, size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  CheckInfragraph(chakra::ReadNetworkFile(text, "fuzz.net"), chakra::ReadNetworkFile(text, "fuzz.net"));
  CheckInfragraph(chakra::ReadInfraGraph(text, "fuzz.net"), chakra::ReadInfraGraph(text, "fuzz.net"));
  return 0;
}
