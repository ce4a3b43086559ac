// Writes drawings in the language of Graphviz.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/topology/draw/picture.h"
#include "backends/topology/measure.h"
#include "trace/base/status_macros.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

constexpr const char* kFill[] = {"#dbeafe", "#ccfbf1", "#ffedd5",
                                 "#dcfce7", "#f3e8ff", "#e5e7eb"};  // by VertexKind
constexpr const char* kLine[] = {"#4b5563", "#2563eb", "#dc2626", "#059669",
                                 "#9333ea", "#d97706", "#0891b2", "#be185d"};

std::string Quote(absl::string_view text) {
  std::string out = "\"";
  for (const char c : ToUtf8(text)) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string Width(const NetworkGraph& g, uint16_t link_class) {
  double least = 1e30, most = 0;
  for (const LinkClass& c : g.classes()) {
    least = std::min(least, static_cast<double>(c.bandwidth.bytes_per_second()));
    most = std::max(most, static_cast<double>(c.bandwidth.bytes_per_second()));
  }
  const auto rate = static_cast<double>(g.classes()[link_class].bandwidth.bytes_per_second());
  return absl::StrFormat("%.2f",
                         most <= least ? 1.2 : 1 + 3 * std::log(rate / least) / std::log(most / least));
}

}  // namespace

absl::StatusOr<std::string> DrawDot(const NetworkGraph& graph, const DrawOptions& options) {
  ASSIGN_OR_RETURN(Picture picture, MakePicture(graph, options.layout));
  std::vector<std::string> head = options.figures;
  if (!options.title.empty()) head.insert(head.begin(), options.title);
  std::string title = Quote(absl::StrJoin(head, "\n"));
  std::string out = absl::StrCat("graph {\n  label=", title, "; labelloc=t;\n",
                                 "  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n",
                                 "  edge [fontname=\"sans-serif\", fontsize=8];\n");
  // Rows are for layouts by tier; `neato -n` uses the positions of all nodes.
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    const PictureNode& n = picture.nodes[i];
    std::string label = n.count > 1 || n.label.empty() ? n.name : n.label;
    if (n.count > 1) absl::StrAppend(&label, " (", n.count, ")");
    absl::StrAppend(&out, "  n", i, " [label=", Quote(label), ", tooltip=", Quote(n.name), ", fillcolor=\"",
                    kFill[static_cast<size_t>(n.kind)], "\"", n.count > 1 ? ", style=\"filled,dashed\"" : "",
                    absl::StrFormat(", pos=\"%.1f,%.1f\"", n.x, picture.height - n.y), "];\n");
  }
  for (const std::vector<uint32_t>& row : picture.rows) {
    std::vector<std::string> names;
    for (const uint32_t n : row) names.push_back(absl::StrCat("n", n));
    absl::StrAppend(&out, "  {rank=same; ", absl::StrJoin(names, "; "), ";}\n");
  }
  for (const PictureLine& l : picture.lines) {
    const LinkClass& c = graph.classes()[l.link_class];
    absl::StrAppend(
        &out, "  n", l.a, " -- n", l.b, " [color=\"", kLine[l.link_class % std::size(kLine)],
        "\", penwidth=", Width(graph, l.link_class), ", tooltip=",
        Quote(absl::StrCat(c.name, ": ", FormatRate(static_cast<double>(c.bandwidth.bytes_per_second())),
                           ", ", FormatTime(c.latency))),
        l.count > 1 ? absl::StrCat(", label=\"×", l.count, "\"") : "", "];\n");
  }
  return out + "}\n";
}

}  // namespace chakra
