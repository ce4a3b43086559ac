// Devices on a circle, and circles of groups.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "backends/topology/draw/picture.h"

namespace chakra {
namespace {

constexpr double kCircleMargin = 30;

struct Point {
  double x, y;
};

// Position `i` of `n` on a circle, clockwise, the first at the top.
Point OnCircle(double radius, uint32_t i, uint32_t n) {
  const double angle = 2 * std::numbers::pi * i / n;
  return {radius * std::sin(angle), -radius * std::cos(angle)};
}

double RadiusFor(uint32_t n, double apart, double least) {
  return n < 2 ? 0 : std::max(least, apart / (2 * std::sin(std::numbers::pi / n)));
}

// Groups of switches that form the columns of one grid, such as the routers of a dragonfly or the leaves and
// spines of a dragonfly+. Empty if the network is not of this form.
std::vector<const VertexGroup*> Columns(const NetworkGraph& g) {
  std::vector<const VertexGroup*> out;
  for (const VertexGroup& group : g.groups()) {
    if (group.kind != VertexKind::kSwitch) continue;
    if (group.shape.size() != 2 || group.shape[1] < 2) return {};
    if (group.count != static_cast<uint64_t>(group.shape[0]) * static_cast<uint64_t>(group.shape[1]))
      return {};
    if (!out.empty() && out[0]->shape[1] != group.shape[1]) return {};
    out.push_back(&group);
  }
  return out;
}

class Grouped {
 public:
  Grouped(const NetworkGraph& g, std::vector<const VertexGroup*> columns)
      : g_(g), columns_(std::move(columns)) {
    column_of_.assign(g.vertices(), NetworkGraph::kNone);
    for (const VertexGroup* group : columns_) {
      for (uint32_t i = 0; i < group->count; ++i) {
        column_of_[group->first + i] = i / static_cast<uint32_t>(group->shape[0]);
      }
    }
  }

  // Whether every device is linked to switches of only one column, and some link changes both the column and
  // the place in the column (so the network is not a grid).
  bool Fits() {
    if (columns_.empty() || g_.devices_forward()) return false;
    for (uint32_t d = 0; d < g_.devices(); ++d) {
      for (uint32_t arc = g_.begin(d); arc < g_.end(d); ++arc) {
        const uint32_t column = column_of_[g_.target(arc)];
        if (column == NetworkGraph::kNone) return false;
        if (column_of_[d] != NetworkGraph::kNone && column_of_[d] != column) return false;
        column_of_[d] = column;
      }
      if (column_of_[d] == NetworkGraph::kNone) return false;
    }
    bool skew = false;
    for (uint32_t arc = 0; arc < g_.arcs() && !skew; ++arc) {
      const uint32_t a = g_.source(arc), b = g_.target(arc);
      skew = a >= g_.devices() && b >= g_.devices() && column_of_[a] != column_of_[b] && Place(a) != Place(b);
    }
    return skew;
  }

  Picture Make() {
    const auto columns = static_cast<uint32_t>(columns_[0]->shape[1]);
    uint32_t routers = 0;
    for (const VertexGroup* group : columns_) routers += static_cast<uint32_t>(group->shape[0]);
    const Folding fold = Fold(columns, 40, 20, 4);
    const bool open = routers <= 20 && fold.shown() * routers <= 200;
    out_.node_of.assign(g_.vertices(), 0);
    const double inner = open ? RadiusFor(routers, 34, 26) : 0;
    const double outer = RadiusFor(fold.shown(), open ? 2 * inner + 84 : 120, open ? 2 * inner + 40 : 160);
    const double middle = outer + inner + kCircleMargin + 44;
    out_.width = out_.height = 2 * middle;
    for (uint32_t shown = 0; shown < fold.shown(); ++shown) {
      const Point p = OnCircle(outer, shown, fold.shown());
      AddColumn(fold, shown, open && !fold.IsFold(shown), {middle + p.x, middle + p.y}, inner);
    }
    for (const VertexGroup* group : columns_) {
      if (open && columns_.size() > 1) {
        out_.remarks.push_back(absl::StrCat(group->name.substr(0, 1), "0: ", g_.VertexName(group->first)));
      }
    }
    MergeLines(g_, &out_);
    return std::move(out_);
  }

 private:
  uint32_t Place(uint32_t v) const {
    const VertexGroup& group = g_.group(v);
    return (v - group.first) % static_cast<uint32_t>(group.shape[0]);
  }
  // The number of devices in a range of columns.
  uint64_t Devices(uint32_t first, uint32_t end) const {
    return static_cast<uint64_t>(std::count_if(column_of_.begin(), column_of_.begin() + g_.devices(),
                                               [=](uint32_t c) { return c >= first && c < end; }));
  }

  // Adds the column, or the folded columns, shown at one position: a node for each switch, or one node for
  // all.
  void AddColumn(const Folding& fold, uint32_t shown, bool open, Point at, double inner) {
    const uint32_t first = shown <= fold.head ? shown : fold.count - (fold.shown() - shown);
    const uint32_t end = fold.IsFold(shown) ? first + fold.folded() : first + 1;
    const uint64_t devices = Devices(first, end);
    std::vector<uint32_t> row;
    uint32_t routers = 0, placed = 0;
    for (const VertexGroup* group : columns_) routers += static_cast<uint32_t>(group->shape[0]);
    if (!open) {
      PictureNode node{absl::StrCat("group ", first),
                       absl::StrCat("group ", first),
                       absl::StrCat(routers * (end - first), " sw, ", devices, " dev"),
                       VertexKind::kSwitch,
                       uint64_t{routers} * (end - first),
                       at.x,
                       at.y,
                       104,
                       40};
      if (end - first > 1) {
        node.label = absl::StrCat(end - first, " groups");
        absl::StrAppend(&node.name, " … ", end - 1);
      }
      row.push_back(static_cast<uint32_t>(out_.nodes.size()));
      out_.nodes.push_back(std::move(node));
    }
    for (const VertexGroup* group : columns_) {
      const auto size = static_cast<uint32_t>(group->shape[0]);
      for (uint32_t v = group->first + first * size; v < group->first + end * size; ++v) {
        if (open) {
          const Point p = OnCircle(inner, placed++, routers);
          row.push_back(static_cast<uint32_t>(out_.nodes.size()));
          const std::string initial = columns_.size() > 1 ? group->name.substr(0, 1) : "";
          out_.nodes.push_back({g_.VertexName(v), absl::StrCat(initial, v - group->first), "", group->kind, 1,
                                at.x + p.x, at.y + p.y, 30, 22});
        }
        out_.node_of[v] = static_cast<uint32_t>(out_.nodes.size() - 1);
      }
    }
    for (uint32_t d = 0; d < g_.devices(); ++d) {
      if (column_of_[d] < first || column_of_[d] >= end) continue;
      out_.node_of[d] = out_.node_of[g_.target(g_.begin(d))];
    }
    if (open) {
      const double aside = at.y > out_.height / 2 ? inner + 26 : -inner - 17;  // away from the middle
      out_.texts.push_back({at.x, at.y + aside, absl::StrCat("group ", first, ", ", devices, " devices"),
                            PictureText::Anchor::kMiddle, false});
    }
    out_.rows.push_back(std::move(row));
  }

  const NetworkGraph& g_;
  std::vector<const VertexGroup*> columns_;
  std::vector<uint32_t> column_of_;  // by vertex
  Picture out_;
};

}  // namespace

absl::StatusOr<Picture> GroupsPicture(const NetworkGraph& graph) {
  Grouped grouped(graph, Columns(graph));
  if (!grouped.Fits()) {
    return absl::InvalidArgumentError(
        "layout \"groups\" does not fit: expected switches in groups, as those of a dragonfly; \"tiered\" "
        "fits "
        "every network");
  }
  return grouped.Make();
}

absl::StatusOr<Picture> RingPicture(const NetworkGraph& graph) {
  if (graph.vertices() != graph.devices() || graph.groups()[0].shape.size() > 1) {
    return absl::InvalidArgumentError(
        "layout \"ring\" does not fit: expected only devices, and no grid of several dimensions; \"tiered\" "
        "fits "
        "every network");
  }
  Picture out;
  out.node_of.assign(graph.vertices(), 0);
  const Folding fold = Fold(graph.devices(), 48, 24, 8);
  const double radius = RadiusFor(fold.shown(), fold.shown() > 24 ? 54 : 124, 130);
  const double middle = radius + kCircleMargin + 48;
  for (uint32_t v = 0; v < graph.devices(); ++v) {
    const uint32_t shown = fold.Of(v);
    out.node_of[v] = shown;
    if (shown < out.nodes.size()) {
      ++out.nodes[shown].count;
      continue;
    }
    const Point p = OnCircle(radius, shown, fold.shown());
    PictureNode node;
    node.name = node.label = graph.VertexName(v);
    if (fold.shown() > 24) {
      node.label = absl::StrCat(v);
      node.w = 44;
    }
    if (fold.IsFold(shown)) {
      node.label = absl::StrCat("… ", fold.folded(), " more");
      absl::StrAppend(&node.name, " … ", graph.VertexName(v + fold.folded() - 1));
      node.w = 90;
    }
    node.x = middle + p.x;
    node.y = middle + p.y;
    out.nodes.push_back(std::move(node));
  }
  out.rows.emplace_back(out.nodes.size());
  for (uint32_t i = 0; i < out.nodes.size(); ++i) out.rows[0][i] = i;
  MergeLines(graph, &out);
  out.width = out.height = 2 * middle;
  return out;
}

}  // namespace chakra
