// A drawing before it is written: its elements and their positions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/topology/draw.h"
#include "backends/topology/graph.h"

namespace chakra {

// One vertex, or several folded into one.
struct PictureNode {
  std::string name;   // "leaf.3", "leaf.8 … leaf.27"
  std::string label;  // text in the node; may be empty
  std::string note;   // second line in the node; may be empty
  VertexKind kind = VertexKind::kDevice;
  uint64_t count = 1;     // number of vertices in this node
  double x = 0, y = 0;    // middle of the node
  double w = 90, h = 30;  // size of the box
};

// All links of one class between two nodes.
struct PictureLine {
  uint32_t a = 0, b = 0;  // nodes
  uint16_t link_class = 0;
  uint64_t count = 0;
  double bend = 0;  // distance of the middle from the straight line, to the left seen from `a`
  bool dashed = false;
};

struct PictureText {
  double x = 0, y = 0;
  std::string text;
  enum class Anchor { kStart, kMiddle, kEnd } anchor = Anchor::kStart;
  bool strong = false;
};

struct Picture {
  std::vector<PictureNode> nodes;
  std::vector<uint32_t> node_of;  // by vertex
  std::vector<PictureLine> lines;
  std::vector<PictureText> texts;
  std::vector<std::string> remarks;         // for the legend
  std::vector<std::vector<uint32_t>> rows;  // nodes in one row, for writers that place nodes themselves
  double width = 0, height = 0;             // size of nodes and texts, from (0, 0)
};

// Fills `lines` from `node_of`, sorted; leaves out links inside a node.
void MergeLines(const NetworkGraph& graph, Picture* picture);

// Which of `count` things in a row are drawn: all, or the first `head`, the last `tail`, and one fold for all
// between them. Of() gives the index of the drawn thing for each thing.
struct Folding {
  uint32_t head = 0, tail = 0, count = 0;  // head + tail == count: nothing is folded
  uint32_t shown() const { return head + tail + (head + tail < count ? 1 : 0); }
  uint32_t Of(uint32_t i) const {
    if (head + tail == count || i < head) return i;
    return i < count - tail ? head : i - (count - tail) + head + 1;
  }
  bool IsFold(uint32_t shown_index) const { return head + tail < count && shown_index == head; }
  uint32_t folded() const { return count - head - tail; }
};
Folding Fold(uint32_t count, uint32_t most, uint32_t head, uint32_t tail);

// The width of a text in a drawing; a character of UTF-8 counts once.
double TextWidth(absl::string_view text, double font_size);

absl::StatusOr<Picture> TieredPicture(const NetworkGraph& graph);
absl::StatusOr<Picture> RingPicture(const NetworkGraph& graph);
absl::StatusOr<Picture> GridPicture(const NetworkGraph& graph);
absl::StatusOr<Picture> GroupsPicture(const NetworkGraph& graph);
absl::StatusOr<Picture> MakePicture(const NetworkGraph& graph, DrawLayout layout);

}  // namespace chakra
