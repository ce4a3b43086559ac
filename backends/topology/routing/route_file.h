// Static routes from a file.
//
// A line is a route or the next hop towards a destination; "#" starts a comment. Vertices have the names of
// NetworkGraph::VertexName() ("device.3", "leaf.0").
//
//   SRC -> DST: VERTEX VERTEX ... DST    all vertices after SRC, DST the last
//   at VERTEX to DST via NEXT            messages at VERTEX that go to DST take NEXT next
//   at * to DST via NEXT                 the same at every vertex that is linked to NEXT and has no
//                                        line of its own for DST
//
// A route takes precedence over next hops. If two vertices have several links, "NAME/1" means the second
// link, "NAME/0" or "NAME" the first, in the order of the network. Messages that no line covers are routed
// minimally.
//
//   # leaf.0 reaches leaf.1 over spine.1
//   device.0 -> device.5: leaf.0 spine.1 leaf.1 device.5
//   at leaf.0 to device.6 via spine.0
//   at spine.0 to device.6 via leaf.1
//   at leaf.1 to device.6 via device.6
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/topology/graph.h"

namespace chakra {

// Memory grows only with the size of the file. Immutable; thread-safe.
class RouteFile {
 public:
  // `graph` must outlive the result. Errors (InvalidArgument) begin with "NAME:LINE: ": a line of neither
  // form, an unknown vertex (the error suggests the nearest), a hop without a link or through a vertex that
  // does not forward, a route that passes a vertex twice or does not end at DST, next hops that form a loop
  // or end before the destination, a duplicate route or next hop.
  static absl::StatusOr<RouteFile> Parse(absl::string_view text, absl::string_view name,
                                         const NetworkGraph& graph);
  // Parse() of a file. Errors also from reading the file.
  static absl::StatusOr<RouteFile> Load(const std::string& path, const NetworkGraph& graph);

  // Appends the arcs from `src` to `dst`. False, without appending, if the file leaves the route to minimal
  // routing. Precondition: src != dst.
  bool Lookup(uint32_t src, uint32_t dst, std::vector<uint32_t>* arcs) const;

  size_t routes() const { return routes_.size(); }
  size_t next_hops() const { return hops_.size() + anywhere_.size(); }

 private:
  friend class RouteFileParser;
  struct Any {
    uint32_t next = 0;
    uint32_t which = 0;  // number of the link to `next`, if there are several
  };
  static uint64_t Key(uint32_t a, uint32_t b) { return uint64_t{a} << 32 | b; }
  // The arc of the next hop at `at` towards `dst`; kNone: no line covers it.
  uint32_t Hop(uint32_t at, uint32_t dst) const;

  const NetworkGraph* graph_ = nullptr;
  absl::flat_hash_map<uint64_t, std::pair<uint64_t, uint64_t>> routes_;  // (src, dst): begin and end in arcs_
  std::vector<uint32_t> arcs_;
  absl::flat_hash_map<uint64_t, uint32_t> hops_;  // (at, dst): the arc
  absl::flat_hash_map<uint32_t, Any> anywhere_;   // dst: the line with "*"
};

}  // namespace chakra
