// Draws a row for each tier: the devices at the bottom, the core at the top.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>

#include "absl/strings/str_cat.h"
#include "backends/topology/draw/picture.h"

namespace chakra {
namespace {

constexpr uint32_t kRow = 64;  // maximum number of nodes in a row
constexpr uint32_t kHead = 8, kTail = 4;
constexpr double kMargin = 190;  // room for the names of rows
constexpr double kSlot = 96, kLeastWidth = 700, kMostWidth = 1900;

// Vertices [first, first + count) as one node.
struct Run {
  uint32_t first, count;
};

bool SameNeighbours(const NetworkGraph& g, uint32_t a, uint32_t b) {
  if (g.degree(a) != g.degree(b)) return false;
  for (uint32_t i = 0; i < g.degree(a); ++i) {
    if (g.target(g.begin(a) + i) != g.target(g.begin(b) + i)) return false;
  }
  return true;
}

struct Runs {
  std::vector<Run> all;
  size_t folded = SIZE_MAX;  // index of the node for all vertices that are not drawn
};

// A node for each vertex; if these are too many, a node for each run of devices on the same switches; if
// these are still too many, only the first and last of them.
Runs RunsOf(const NetworkGraph& g, const VertexGroup& group, uint32_t most) {
  std::vector<Run> all;
  const bool merge = group.count > most && group.kind == VertexKind::kDevice && !g.devices_forward();
  for (uint32_t v = group.first; v < group.first + group.count; ++v) {
    if (merge && !all.empty() && SameNeighbours(g, v - 1, v)) {
      ++all.back().count;
    } else {
      all.push_back({v, 1});
    }
  }
  const Folding fold = Fold(static_cast<uint32_t>(all.size()), most, kHead, kTail);
  Runs out;
  for (uint32_t i = 0; i < all.size(); ++i) {
    const uint32_t shown = fold.Of(i);
    if (fold.IsFold(shown)) out.folded = shown;
    if (shown == out.all.size()) {
      out.all.push_back(all[i]);
    } else {
      out.all[shown].count += all[i].count;
    }
  }
  return out;
}

// `long_names`: the names of the whole group fit.
PictureNode NodeOf(const NetworkGraph& g, const VertexGroup& group, const Run& run, double slot,
                   bool long_names, bool folded) {
  PictureNode node;
  node.kind = group.kind;
  node.count = run.count;
  node.name = g.VertexName(run.first);
  const double room = std::min(kSlot, slot) * 0.86;
  node.w = std::max(10.0, room);
  if (run.count > 1) {
    absl::StrAppend(&node.name, " … ", g.VertexName(run.first + run.count - 1));
    node.h = 40;
    const std::string count =
        folded ? absl::StrCat("… ", run.count, " more") : absl::StrCat(run.count, " ", group.name, "s");
    node.label = TextWidth(count, 11) < room ? count : absl::StrCat("×", run.count);
    const std::string range =
        absl::StrCat(run.first - group.first, "–", run.first - group.first + run.count - 1);
    if (TextWidth(absl::StrCat(group.count - 1, "–", group.count - 1), 10) < room) node.note = range;
    return node;
  }
  const std::string index = absl::StrCat(run.first - group.first);
  node.label = long_names ? node.name : TextWidth(index, 11) <= room + 2 ? index : "";
  return node;
}

uint32_t MostOf(const std::vector<const VertexGroup*>& row) {
  return std::max<uint32_t>(kHead + kTail + 1, kRow / static_cast<uint32_t>(row.size()));
}

// Places one row; its middle is at `y`.
void Place(const NetworkGraph& g, const std::vector<const VertexGroup*>& groups, double width, double y,
           Picture* out) {
  std::vector<Runs> runs;
  size_t shown = 0;
  for (const VertexGroup* group : groups) {
    runs.push_back(RunsOf(g, *group, MostOf(groups)));
    shown += runs.back().all.size();
  }
  const double slot = width / static_cast<double>(shown);
  std::vector<uint32_t> row;
  for (size_t k = 0; k < groups.size(); ++k) {
    const VertexGroup& group = *groups[k];
    const std::string longest = g.VertexName(group.first + group.count - 1);
    const bool long_names = TextWidth(longest, 12) < std::min(kSlot, slot) * 0.86;
    for (size_t i = 0; i < runs[k].all.size(); ++i) {
      const Run& run = runs[k].all[i];
      PictureNode node = NodeOf(g, group, run, slot, long_names, i == runs[k].folded);
      node.x = kMargin + slot * (static_cast<double>(row.size()) + 0.5);
      node.y = y;
      const auto number = static_cast<uint32_t>(out->nodes.size());
      for (uint32_t j = 0; j < run.count; ++j) out->node_of[run.first + j] = number;
      out->nodes.push_back(std::move(node));
      row.push_back(number);
    }
  }
  out->rows.push_back(std::move(row));
  double at = y - 16 * static_cast<double>(groups.size() - 1);
  for (const VertexGroup* group : groups) {
    const std::string what =
        absl::StrCat(group->count, " × ", std::string(Name(group->kind)), ", tier ", group->tier);
    out->texts.push_back({8, at - 2, group->name, PictureText::Anchor::kStart, true});
    out->texts.push_back({8, at + 13, what, PictureText::Anchor::kStart, false});
    at += 34;
  }
}

// Whether the switches of the group join accelerators directly: all their links go to devices.
bool IsScaleUp(const NetworkGraph& g, const VertexGroup& group) {
  if (group.kind != VertexKind::kNvSwitch) return false;
  for (uint32_t arc = g.begin(group.first); arc < g.end(group.first + group.count - 1); ++arc) {
    if (g.target(arc) >= g.devices()) return false;
  }
  return true;
}

// The rows from top to bottom. Scale-up switches are below the devices, so that they are not between the
// devices and the network.
std::vector<std::vector<const VertexGroup*>> RowsOf(const NetworkGraph& g) {
  const bool beside = std::any_of(g.groups().begin(), g.groups().end(), [&](const VertexGroup& group) {
    return group.kind != VertexKind::kDevice && !IsScaleUp(g, group);
  });
  std::map<int, std::vector<const VertexGroup*>, std::greater<int>> tiers;
  std::vector<const VertexGroup*> below;
  for (const VertexGroup& group : g.groups()) {
    (beside && IsScaleUp(g, group) ? below : tiers[group.tier]).push_back(&group);
  }
  std::vector<std::vector<const VertexGroup*>> rows;
  for (auto& [tier, groups] : tiers) rows.push_back(std::move(groups));
  if (!below.empty()) rows.push_back(std::move(below));
  return rows;
}

// Bends links within a row away from the row, and longer links more.
void Bend(Picture* out) {
  for (PictureLine& line : out->lines) {
    const PictureNode &a = out->nodes[line.a], &b = out->nodes[line.b];
    if (a.y == b.y) line.bend = (a.x < b.x ? 1 : -1) * std::min(64.0, 22 + 0.09 * std::abs(b.x - a.x));
  }
}

}  // namespace

absl::StatusOr<Picture> TieredPicture(const NetworkGraph& graph) {
  const std::vector<std::vector<const VertexGroup*>> rows = RowsOf(graph);
  size_t widest = 0;
  for (const auto& row : rows) {
    size_t n = 0;
    for (const VertexGroup* group : row) n += RunsOf(graph, *group, MostOf(row)).all.size();
    widest = std::max(widest, n);
  }
  const double width = std::clamp(kSlot * static_cast<double>(widest), kLeastWidth, kMostWidth);
  Picture out;
  out.node_of.assign(graph.vertices(), 0);
  const double step = std::clamp(width / 6, 130.0, 230.0);
  double y = 44;
  for (const auto& row : rows) {
    y += 17 * static_cast<double>(row.size() - 1);
    Place(graph, row, width, y, &out);
    y += step + 17 * static_cast<double>(row.size() - 1);
  }
  MergeLines(graph, &out);
  Bend(&out);
  out.width = kMargin + width;
  out.height = y - step + 56;
  return out;
}

}  // namespace chakra
