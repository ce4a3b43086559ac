// Networks by name: what builders make. To add one: a file in builders/, and a
// line in network.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/topology/graph.h"
#include "backends/topology/guide.h"
#include "backends/topology/spec.h"

namespace chakra {

struct Network {
  NetworkGraph graph;
  // What minimal routing means here; null: all shortest paths (by links).
  std::shared_ptr<const Guide> guide;
  // One line on what was built, beyond its sizes ("k = 8, 3 tiers, 2:1 at the leaves"). May be empty.
  std::string note;
};

struct NetworkKind {
  const char* name;
  const char* summary;  // one line for `topology list`
  const char* source;   // the publication or document that defines it
  std::vector<Parameter> parameters;
  // `devices`: how many are to be connected, in the order of their numbers;
  // 0: as many as the parameters say. Errors: a parameter out of range, more
  // devices than the parameters have room for (with the nearest parameters
  // that have).
  absl::StatusOr<Network> (*build)(const Parameters& parameters, int devices);
  // A machine of its own, nodes included, rather than what joins nodes.
  bool whole = false;
};

// All kinds, sorted by name.
const std::vector<NetworkKind>& NetworkKinds();

// Errors: an unknown name, with the nearest one and the list; an unknown parameter.
absl::Status CheckParameters(const NetworkSpec& spec);

// Errors: those, and the builder's.
absl::StatusOr<Network> BuildNetwork(const NetworkSpec& spec, int devices);

}  // namespace chakra
