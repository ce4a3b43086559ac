// Networks by name, made by builders. To add a kind of network: write a file in builders/, and add a line to
// network.cc.
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
  // Defines minimal routing; null: all shortest paths (by links).
  std::shared_ptr<const Guide> guide;
  // A line that describes the network, beyond its sizes ("k = 8, 3 tiers, 2:1 at the leaves"). May be empty.
  std::string note;
  // The axes of a grid whose routers are the devices, the fastest-running first: of a torus or mesh without a
  // twist. Empty: the network is no such grid.
  struct Axis {
    int size = 1;
    bool closed = false;  // the last device of a line has a link to the first one
    Bandwidth bandwidth;  // of a link, in each direction
    Time latency;
  };
  std::vector<Axis> axes;
};

struct NetworkKind {
  const char* name;
  const char* summary;  // one line for `topology list`
  const char* source;   // the publication or document that defines it
  std::vector<Parameter> parameters;
  // `devices`: the number of devices to connect, in the order of their numbers; 0: as many as the parameters
  // allow. Errors: a parameter out of range; more devices than the parameters have room for (the error
  // suggests the nearest parameters with room).
  absl::StatusOr<Network> (*build)(const Parameters& parameters, int devices);
  // True: a whole machine, including nodes; false: a network that joins nodes.
  bool whole = false;
};

// All kinds, sorted by name.
const std::vector<NetworkKind>& NetworkKinds();

// Errors: an unknown name, with the nearest one and the list; an unknown parameter.
absl::Status CheckParameters(const NetworkSpec& spec);

// `cards`: the NICs of the devices; a kind with `whole` ignores them, because it has its own. Errors: those
// of CheckParameters() and of the builder.
absl::StatusOr<Network> BuildNetwork(const NetworkSpec& spec, int devices, const Cards& cards = {});

}  // namespace chakra
