// Drawings of a network, for people.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/topology/graph.h"

namespace chakra {

enum class DrawLayout {
  kAuto,    // the first below that fits the network, from the last to the first
  kTiered,  // a row for each tier, devices below; fits all
  kRing,    // devices on a circle: no switches, and no grid of two dimensions or more
  kGrid,    // a grid of one to three dimensions, of the devices or of the switches that they hang on
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

// What is too large to be drawn is folded: vertices that follow each other
// become one, with their number. Any bytes in names are fine. Errors: a layout
// that does not fit the network.
absl::StatusOr<std::string> DrawSvg(const NetworkGraph& graph, const DrawOptions& options);
absl::StatusOr<std::string> DrawDot(const NetworkGraph& graph, const DrawOptions& options);

}  // namespace chakra
