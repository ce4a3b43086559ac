// Draws a grid: a line, a plane, or several planes above each other.
#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/topology/draw/picture.h"

namespace chakra {
namespace {

constexpr double kGridMargin = 60;

using Cell = std::array<uint32_t, 3>;

// The group that forms the grid: the devices, or the switches if there is only one group of switches and
// every device is linked to a switch. Null: no group does.
const VertexGroup* GridOf(const NetworkGraph& g) {
  const VertexGroup* out = nullptr;
  for (const VertexGroup& group : g.groups()) {
    if (g.vertices() != g.devices() && group.kind == VertexKind::kDevice) continue;
    if (out != nullptr) return nullptr;
    out = &group;
  }
  if (out == nullptr || out->shape.size() < 2) return nullptr;
  uint64_t cells = 1;
  size_t wide = 0;
  for (const int size : out->shape) {
    cells *= static_cast<uint64_t>(size);
    wide += size > 1 ? 1 : 0;
  }
  if (cells != out->count || wide < 1 || wide > 3) return nullptr;
  if (out->first == 0) return out;
  for (uint32_t d = 0; d < g.devices(); ++d) {
    if (g.degree(d) == 0) return nullptr;
    for (uint32_t arc = g.begin(d); arc < g.end(d); ++arc) {
      if (g.target(arc) != g.target(g.begin(d))) return nullptr;
    }
  }
  return out;
}

class GridDrawing {
 public:
  GridDrawing(const NetworkGraph& g, const VertexGroup& group) : g_(g), group_(group) {
    size_t n = 0;
    for (size_t i = 0; i < group.shape.size(); ++i) {
      if (group.shape[i] > 1) dimension_[n++] = i;
    }
    for (size_t i = 0; i < 3; ++i) {
      if (i < n) size_[i] = static_cast<uint32_t>(group.shape[dimension_[i]]);
    }
    const uint32_t most = size_[2] > 1 ? 8 : 20;
    for (size_t i = 0; i < 3; ++i) fold_[i] = Fold(size_[i], i == 2 ? 6 : most, i == 2 ? 3 : most / 2 - 1, 2);
  }

  Picture Make() {
    PlaceNodes();
    for (uint32_t v = 0; v < group_.count; ++v) {
      out_.node_of[group_.first + v] = NodeAt(CellOf(v));
      ++out_.nodes[NodeAt(CellOf(v))].count;
    }
    const std::string longest = g_.VertexName(group_.first + group_.count - 1);
    const bool long_names = TextWidth(longest, 12) < out_.nodes[0].w;
    for (uint32_t v = 0; v < group_.count; ++v) NameNode(v, long_names);
    if (group_.first > 0) HangDevices();
    MergeLines(g_, &out_);
    for (PictureLine& line : out_.lines) Bend(&line);
    std::vector<std::string> sizes;
    for (const int size : group_.shape) sizes.push_back(absl::StrCat(size));
    out_.remarks.push_back(absl::StrCat("grid of ", absl::StrJoin(sizes, " × "),
                                        ", the first dimension to the right",
                                        size_[2] > 1 ? ", the third upwards" : ""));
    if (dashed_) out_.remarks.push_back("dashed: links that wrap around or skip positions");
    return std::move(out_);
  }

 private:
  Cell CellOf(uint32_t index) const {
    Cell c = {0, 0, 0};
    uint32_t rest = index;
    size_t n = 0;
    for (size_t i = 0; i < group_.shape.size(); ++i) {
      const auto size = static_cast<uint32_t>(group_.shape[i]);
      if (size > 1) c[n++] = rest % size;
      rest /= size;
    }
    return c;
  }
  uint32_t NodeAt(const Cell& c) const {
    return fold_[0].Of(c[0]) + fold_[0].shown() * (fold_[1].Of(c[1]) + fold_[1].shown() * fold_[2].Of(c[2]));
  }

  void PlaceNodes() {
    const bool solid = size_[2] > 1;
    const double dx = solid ? 92 : 104, dy = solid ? 44 : 84, slant = solid ? 40 : 0;
    const uint32_t nx = fold_[0].shown(), ny = fold_[1].shown(), nz = fold_[2].shown();
    const double plane = ny * dy + (solid ? 76 : 0);
    out_.node_of.assign(g_.vertices(), 0);
    for (uint32_t z = 0; z < nz; ++z) {
      for (uint32_t y = 0; y < ny; ++y) {
        std::vector<uint32_t> row;
        for (uint32_t x = 0; x < nx; ++x) {
          PictureNode node;
          node.kind = group_.kind;
          node.count = 0;
          node.x = kGridMargin + 40 + x * dx + (solid ? y * slant : 0);
          node.y = kGridMargin + (solid ? (nz - 1 - z) * plane + (ny - 1 - y) * dy : y * dy);
          node.w = solid ? 58 : 82;
          node.h = solid ? 22 : 32;
          row.push_back(static_cast<uint32_t>(out_.nodes.size()));
          out_.nodes.push_back(std::move(node));
        }
        out_.rows.push_back(std::move(row));
      }
    }
    out_.width = 2 * kGridMargin + 80 + (nx - 1) * dx + (solid ? (ny - 1) * slant : 0);
    out_.height = 2 * kGridMargin + nz * plane - dy - (solid ? 76 : 0);
  }

  void NameNode(uint32_t v, bool long_names) {
    PictureNode& node = out_.nodes[out_.node_of[group_.first + v]];
    if (!node.name.empty()) return;
    node.name = g_.VertexName(group_.first + v);
    if (node.count > 1) {
      node.label = absl::StrCat("… ", node.count);
      absl::StrAppend(&node.name, " and ", node.count - 1, " more");
    } else {
      node.label = long_names ? node.name : absl::StrCat(v);
    }
  }

  void HangDevices() {
    std::vector<uint64_t> devices(out_.nodes.size(), 0);
    for (uint32_t d = 0; d < g_.devices(); ++d) {
      out_.node_of[d] = out_.node_of[g_.target(g_.begin(d))];
      ++devices[out_.node_of[d]];
    }
    for (size_t i = 0; i < devices.size(); ++i) {
      PictureNode& node = out_.nodes[i];
      const std::string text = absl::StrCat(devices[i], devices[i] == 1 ? " device" : " devices");
      absl::StrAppend(&node.name, " with ", text);
      if (TextWidth(text, 10) < node.w + 8) {
        node.note = text;
        node.h = 36;
      }
    }
  }

  // Links to the next position are straight; other links bend away from the row that they cross.
  void Bend(PictureLine* line) {
    const Cell a = Shown(line->a), b = Shown(line->b);
    int changed = 0;
    int64_t step = 0;
    for (size_t i = 0; i < 3; ++i) {
      if (a[i] == b[i]) continue;
      ++changed;
      step = std::abs(static_cast<int64_t>(a[i]) - static_cast<int64_t>(b[i]));
    }
    if (changed == 1 && step == 1) return;
    line->dashed = dashed_ = true;
    const PictureNode &p = out_.nodes[line->a], &q = out_.nodes[line->b];
    const double length = std::hypot(q.x - p.x, q.y - p.y);
    const bool upright = size_[2] == 1 && a[0] == b[0];  // in the gap next to the column
    line->bend = changed != 1 ? 0.04 * length : upright ? 54 : std::min(46.0, 18 + 0.05 * length);
  }
  Cell Shown(uint32_t node) const {
    const uint32_t nx = fold_[0].shown(), ny = fold_[1].shown();
    return {node % nx, node / nx % ny, node / nx / ny};
  }

  const NetworkGraph& g_;
  const VertexGroup& group_;
  size_t dimension_[3] = {0, 0, 0};
  uint32_t size_[3] = {1, 1, 1};  // sizes of the dimensions with more than one place
  Folding fold_[3];
  bool dashed_ = false;
  Picture out_;
};

}  // namespace

absl::StatusOr<Picture> GridPicture(const NetworkGraph& graph) {
  const VertexGroup* group = GridOf(graph);
  if (group == nullptr) {
    return absl::InvalidArgumentError(
        "layout \"grid\" does not fit: expected devices, or switches with devices on them, in a grid of two "
        "or "
        "three dimensions; \"tiered\" fits every network");
  }
  return GridDrawing(graph, *group).Make();
}

}  // namespace chakra
