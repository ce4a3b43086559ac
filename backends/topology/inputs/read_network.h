// Networks from files: lists of links as packet simulators read them, InfraGraph,
// and the project's own explicit graphs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/topology/network.h"

namespace chakra {

struct LinkLoss {
  uint32_t arc = 0;  // of one direction; NetworkGraph::reverse() is the other
  double rate = 0;   // share of the packets lost in either direction, in (0, 1)
};

struct ReadNetwork {
  Network network;                 // the devices are in the order of the ranks; no guide
  std::vector<std::string> notes;  // what was assumed or left out: one line each, for the user
  std::vector<LinkLoss> losses;    // the links that lose packets, by arc
};

enum class NetworkFormat { kLinks, kInfraGraph, kExplicit };

// Told by content: a list of links begins with a digit; InfraGraph has devices
// and instances; an explicit graph has vertices. JSON, text and YAML (of
// InfraGraph) are told by their first keys, binary by which of the two it
// parses as. Errors: it is neither.
absl::StatusOr<NetworkFormat> SniffNetwork(absl::string_view text, const std::string& file);

// Reads whichever it is. `file` is for messages; every error begins with it.
absl::StatusOr<ReadNetwork> ReadNetworkFile(absl::string_view text, const std::string& file);

// At most these many vertices and links come out of a file.
constexpr uint64_t kMaxReadVertices = uint64_t{1} << 22;
constexpr uint64_t kMaxReadLinks = uint64_t{1} << 24;

}  // namespace chakra
