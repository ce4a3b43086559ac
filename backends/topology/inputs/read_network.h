// Reads networks from files: the lists of links of packet simulators, InfraGraph, and the project's explicit
// graphs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/topology/network.h"

namespace chakra {

struct LinkLoss {
  uint32_t arc = 0;  // arc of one direction; NetworkGraph::reverse() gives the other
  double rate = 0;   // share of packets lost in each direction, in (0, 1)
};

struct ReadNetwork {
  Network network;                 // devices are in the order of the ranks; without a guide
  std::vector<std::string> notes;  // one line for the user about each fact that was assumed or left out
  std::vector<LinkLoss> losses;    // the links that lose packets, by arc
};

enum class NetworkFormat { kLinks, kInfraGraph, kExplicit };

// Detects the format by content: a list of links begins with a digit; InfraGraph has devices and instances;
// an explicit graph has vertices. The first keys distinguish JSON, text and (for InfraGraph) YAML; binary is
// the message type that parses. Errors: none of these formats.
absl::StatusOr<NetworkFormat> SniffNetwork(absl::string_view text, const std::string& file);

// Reads a file of any of these formats. Every error begins with `file`.
absl::StatusOr<ReadNetwork> ReadNetworkFile(absl::string_view text, const std::string& file);

// The maximum numbers of vertices and links in a file.
constexpr uint64_t kMaxReadVertices = uint64_t{1} << 22;
constexpr uint64_t kMaxReadLinks = uint64_t{1} << 24;

}  // namespace chakra
