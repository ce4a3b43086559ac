// Draws networks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/topology/graph.h"

namespace chakra {

enum class DrawLayout {
  kAuto,    // the last layout below that fits the network
  kTiered,  // a row for each tier, devices below; fits every network
  kRing,    // devices on a circle; for networks without switches and without a grid of two or more dimensions
  kGrid,    // a grid of one to three dimensions, of the devices or of their switches
  kGroups,  // a circle of groups: switches in a grid of two dimensions whose links do not follow it
            // (dragonfly)
};

// "auto", "tiered", "ring", "grid", "groups".
std::vector<std::string> DrawLayoutNames();
// Errors: an unknown name, with the nearest one.
absl::StatusOr<DrawLayout> ParseDrawLayout(absl::string_view name);

struct DrawOptions {
  DrawLayout layout = DrawLayout::kAuto;
  std::string title;                 // "" for none
  std::vector<std::string> figures;  // lines below the title
};

// A network that is too large to draw is folded: consecutive vertices are drawn as one, with their number.
// Names may contain any bytes. Errors: a layout that does not fit the network.
absl::StatusOr<std::string> DrawSvg(const NetworkGraph& graph, const DrawOptions& options);
absl::StatusOr<std::string> DrawDot(const NetworkGraph& graph, const DrawOptions& options);

}  // namespace chakra
