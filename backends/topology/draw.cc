#include "backends/topology/draw.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "backends/topology/draw/picture.h"
#include "trace/base/did_you_mean.h"

namespace chakra {

std::vector<std::string> DrawLayoutNames() { return {"auto", "tiered", "ring", "grid", "groups"}; }

absl::StatusOr<DrawLayout> ParseDrawLayout(absl::string_view name) {
  const std::vector<std::string> names = DrawLayoutNames();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<DrawLayout>(at - names.begin());
  return absl::InvalidArgumentError(
      absl::StrCat("there is no layout \"", name, "\"", SuggestName(name, names)));
}

void MergeLines(const NetworkGraph& graph, Picture* picture) {
  std::map<std::tuple<uint32_t, uint32_t, uint16_t>, uint64_t> lines;
  for (uint32_t arc = 0; arc < graph.arcs(); ++arc) {
    if (arc > graph.reverse(arc)) continue;
    const uint32_t a = picture->node_of[graph.source(arc)], b = picture->node_of[graph.target(arc)];
    if (a != b) ++lines[{std::min(a, b), std::max(a, b), graph.class_of(arc)}];
  }
  for (const auto& [key, count] : lines) {
    PictureLine line;
    std::tie(line.a, line.b, line.link_class) = key;
    line.count = count;
    picture->lines.push_back(line);
  }
}

Folding Fold(uint32_t count, uint32_t most, uint32_t head, uint32_t tail) {
  if (count <= most || count <= head + tail + 1) return {count, 0, count};
  return {head, tail, count};
}

double TextWidth(absl::string_view text, double font_size) {
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
  return 0.6 * font_size * static_cast<double>(characters);
}

absl::StatusOr<Picture> MakePicture(const NetworkGraph& graph, DrawLayout layout) {
  switch (layout) {
    case DrawLayout::kTiered:
      return TieredPicture(graph);
    case DrawLayout::kRing:
      return RingPicture(graph);
    case DrawLayout::kGrid:
      return GridPicture(graph);
    case DrawLayout::kGroups:
      return GroupsPicture(graph);
    case DrawLayout::kAuto:
      break;
  }
  for (auto* make : {GroupsPicture, GridPicture, RingPicture}) {
    absl::StatusOr<Picture> picture = make(graph);
    if (picture.ok()) return picture;
  }
  return TieredPicture(graph);
}

}  // namespace chakra
