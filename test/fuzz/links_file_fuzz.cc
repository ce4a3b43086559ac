// Lists of links: any bytes give a connected network or an error that names the file.
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "backends/topology/inputs/links_file.h"
#include "backends/topology/paths/shortest_paths.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

FUZZ_TARGET(links_file_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = chakra::ReadLinksFile(text, "fuzz.txt");
  if (!read.ok()) {
    Require(absl::StartsWith(read.status().message(), "fuzz.txt:"), "an error names the file");
    return 0;
  }
  const chakra::NetworkGraph& g = read->network.graph;
  for (const chakra::LinkLoss& l : read->losses) {
    Require(l.arc < g.arcs() && l.rate > 0 && l.rate < 1, "a lossy link is there");
  }
  chakra::ShortestPaths paths(g);
  const uint32_t last = g.devices() - 1;
  Require(paths.Distance(0, last) != chakra::ShortestPaths::kUnreachable, "devices reach each other");
  const auto found = g.FindVertex(g.VertexName(g.vertices() - 1));
  Require(found.ok() && *found == g.vertices() - 1, "a vertex is found by its name");
  return 0;
}
