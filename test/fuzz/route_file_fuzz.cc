// Static routes on a small network: an accepted route follows links, visits no vertex twice and ends at its
// destination.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "backends/topology/routing/route_file.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

namespace {

// Six devices on three leaves under two spines, with two links between leaf.2 and spine.1.
chakra::NetworkGraph Net() {
  chakra::GraphBuilder b;
  b.AddVertices("device", chakra::VertexKind::kDevice, 6);
  const uint32_t leaf = b.AddVertices("leaf", chakra::VertexKind::kSwitch, 3, 1);
  const uint32_t spine = b.AddVertices("spine", chakra::VertexKind::kSwitch, 2, 2);
  const uint16_t link = b.AddClass({"link", chakra::Bandwidth::BytesPerSecond(1), chakra::Time::Zero()});
  for (uint32_t d = 0; d < 6; ++d) b.AddLink(d, leaf + d / 2, link);
  for (uint32_t i = 0; i < 6; ++i) b.AddLink(leaf + i / 2, spine + i % 2, link);
  b.AddLink(leaf + 2, spine + 1, link);
  return *b.Build();
}

}  // namespace

FUZZ_TARGET(route_file_fuzz, data, size) {
  using chakra::fuzz::Require;
  static const chakra::NetworkGraph graph = Net();
  const auto file = chakra::RouteFile::Parse({reinterpret_cast<const char*>(data), size}, "fuzz", graph);
  if (!file.ok()) {
    Require(absl::StartsWith(file.status().message(), "fuzz:"), "an error names file and line");
    return 0;
  }
  std::vector<uint32_t> arcs;
  for (uint32_t src = 0; src < graph.vertices(); ++src) {
    for (uint32_t dst = 0; dst < graph.vertices(); ++dst) {
      arcs.clear();
      const bool found = src != dst && file->Lookup(src, dst, &arcs);
      Require(found != arcs.empty(), "a route has links");
      std::vector<bool> passed(graph.vertices());
      uint32_t at = src;
      for (const uint32_t arc : arcs) {
        Require(graph.source(arc) == at && !passed[at], "a route goes on where it is, once");
        Require(at == src || graph.Forwards(at), "a route passes what forwards");
        passed[at] = true;
        at = graph.target(arc);
      }
      Require(!found || at == dst, "a route arrives");
    }
  }
  return 0;
}
