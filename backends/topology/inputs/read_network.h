// Reads networks from files: lists of links as packet simulators read them, InfraGraph, and the project's
// explicit graphs.
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
  Network network;                 // the devices are in the order of the ranks; no guide
  std::vector<std::string> notes;  // one line for the user on each thing that was assumed or left out
  std::vector<LinkLoss> losses;    // the links that lose packets, by arc
};

enum class NetworkFormat { kLinks, kInfraGraph, kExplicit };

// Tells the format by content: a list of links begins with a digit; InfraGraph has devices and instances; an
// explicit graph has vertices. The first keys tell JSON, text and (for InfraGraph) YAML; binary is the
// message that it parses as. Errors: none of these formats.
absl::StatusOr<NetworkFormat> SniffNetwork(absl::string_view text, const std::string& file);

// Reads a file of any of these formats. Every error begins with `file`.
absl::StatusOr<ReadNetwork> ReadNetworkFile(absl::string_view text, const std::string& file);

// The most vertices and links that a file may give.
constexpr uint64_t kMaxReadVertices = uint64_t{1} << 22;
constexpr uint64_t kMaxReadLinks = uint64_t{1} << 24;

}  // namespace chakra
