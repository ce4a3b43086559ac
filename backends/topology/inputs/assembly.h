// The common part of the readers: collects vertices and links, and makes a graph with tiers and lossy links
// from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/topology/graph.h"
#include "backends/topology/inputs/read_network.h"

namespace chakra {

constexpr int kTierByDistance = -1;

class NetworkAssembly {
 public:
  explicit NetworkAssembly(std::string file) : file_(std::move(file)) {}

  // As in GraphBuilder: devices come first. Returns the number of the first vertex.
  uint32_t AddVertices(absl::string_view name, VertexKind kind, uint32_t count, int tier = kTierByDistance,
                       std::vector<int> shape = {});
  uint16_t AddClass(const LinkClass& link_class) { return builder_.AddClass(link_class); }
  void AddLink(uint32_t a, uint32_t b, uint16_t link_class, double loss = 0);
  void set_devices_forward(bool forward) { forward_ = forward; }

  // Two devices such that the first cannot reach the second; nullopt if all devices reach each other.
  // `forward`: messages may pass through devices. After 2^27 steps the search skips the remaining devices.
  std::optional<std::pair<uint32_t, uint32_t>> FindCutOff(bool forward) const;

  // Errors: those of GraphBuilder, preceded by the file's name. Vertices that no device reaches get tier 1
  // and a note.
  absl::StatusOr<ReadNetwork> Finish(std::string note, std::vector<std::string> notes);

 private:
  std::string file_;
  std::vector<VertexGroup> groups_;
  std::vector<std::pair<uint32_t, uint32_t>> links_;
  std::vector<uint16_t> class_;                    // by link
  std::vector<std::pair<size_t, double>> losses_;  // by link
  uint64_t vertices_ = 0;
  uint32_t devices_ = 0;
  bool forward_ = false;
  GraphBuilder builder_;
};

// By vertex: the number of links to the nearest of `sources`; -1: no path.
std::vector<int> LinksToNearest(uint64_t vertices, const std::vector<std::pair<uint32_t, uint32_t>>& links,
                                const std::vector<uint32_t>& sources);

// An InvalidArgument error "FILE: WHAT".
absl::Status BadNetwork(const std::string& file, absl::string_view what);

// "0-7, 12, 16-31": ascending runs of `numbers`; at most `most` runs.
std::string PrintRuns(const std::vector<uint32_t>& numbers, size_t most = 8);

}  // namespace chakra
