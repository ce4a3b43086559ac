// Writes SVG: plain shapes, and a style sheet with light and dark colours.
#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/topology/draw/picture.h"
#include "backends/topology/measure.h"
#include "trace/base/status_macros.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

constexpr int kColours = 8;          // colours of link classes; a ninth class has the first colour again
constexpr size_t kTitles = 3000;     // maximum number of lines that have a tooltip
constexpr size_t kMostCounts = 150;  // a class with more lines than this shows counts only in tooltips
constexpr size_t kCounts = 40;       // maximum number of lines of a class that show their count

// By VertexKind: fill and edge on a light background, fill and edge on a dark one.
constexpr const char* kKinds[][4] = {
    {"#dbeafe", "#2563eb", "#1e3a8a", "#93c5fd"},  // device
    {"#ccfbf1", "#0f766e", "#134e4a", "#5eead4"},  // nic
    {"#ffedd5", "#c2410c", "#7c2d12", "#fdba74"},  // switch
    {"#dcfce7", "#15803d", "#14532d", "#86efac"},  // nvswitch
    {"#f3e8ff", "#7e22ce", "#581c87", "#d8b4fe"},  // pcie_switch
    {"#e5e7eb", "#374151", "#374151", "#d1d5db"},  // host
};
// By link class: colour on a light background, and on a dark one.
constexpr const char* kLines[kColours][2] = {
    {"#4b5563", "#9ca3af"}, {"#2563eb", "#60a5fa"}, {"#dc2626", "#f87171"}, {"#059669", "#34d399"},
    {"#9333ea", "#c084fc"}, {"#d97706", "#fbbf24"}, {"#0891b2", "#22d3ee"}, {"#be185d", "#f472b6"},
};

// `text` escaped for XML, without characters that XML forbids.
std::string Escape(absl::string_view text) {
  std::string out;
  for (const char c : ToUtf8(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string Number(double v) { return absl::StrFormat("%.1f", v); }

class SvgWriter {
 public:
  SvgWriter(const NetworkGraph& g, const Picture& picture, const DrawOptions& options)
      : g_(g), p_(picture), options_(options) {
    for (const LinkClass& c : g.classes()) {
      least_ = std::min(least_, static_cast<double>(c.bandwidth.bytes_per_second()));
      most_ = std::max(most_, static_cast<double>(c.bandwidth.bytes_per_second()));
    }
  }

  std::string Write() {
    const double top = Head();
    const double bottom = Legend(top + p_.height + 8);
    std::string out = absl::StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", Number(width_),
                                   "\" height=\"", Number(bottom), "\" viewBox=\"0 0 ", Number(width_), " ",
                                   Number(bottom), "\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n",
                                   Style(), "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n", head_,
                                   "<g transform=\"translate(", Number((width_ - p_.width) / 2), " ",
                                   Number(top), ")\">\n");
    Lines(&out);
    Nodes(&out);
    Counts(&out);
    for (const PictureText& t : p_.texts) absl::StrAppend(&out, Text(t, t.strong ? 13 : 11));
    absl::StrAppend(&out, "</g>\n", legend_, "</svg>\n");
    return out;
  }

 private:
  static std::string Text(const PictureText& t, int size) {
    static constexpr const char* kAnchors[] = {"start", "middle", "end"};
    return absl::StrCat("<text x=\"", Number(t.x), "\" y=\"", Number(t.y), "\" font-size=\"", size,
                        "\" text-anchor=\"", kAnchors[static_cast<int>(t.anchor)], "\"",
                        t.strong ? " font-weight=\"bold\"" : " class=\"over\"", ">", Escape(t.text),
                        "</text>\n");
  }

  std::string Style() const {
    std::string light =
        "text{fill:#111827}.dim{fill:#4b5563}.paper{fill:#ffffff}.count{fill:#111827;stroke:#ffffff}.over{"
        "fill:#4b5563;stroke:#ffffff}";
    std::string dark =
        "text{fill:#f3f4f6}.dim{fill:#9ca3af}.paper{fill:#111827}.count{fill:#f3f4f6;stroke:#111827}.over{"
        "fill:#9ca3af;stroke:#111827}";
    for (size_t k = 0; k < std::size(kKinds); ++k) {
      absl::StrAppend(&light, ".k", k, "{fill:", kKinds[k][0], ";stroke:", kKinds[k][1], "}");
      absl::StrAppend(&dark, ".k", k, "{fill:", kKinds[k][2], ";stroke:", kKinds[k][3], "}");
    }
    for (size_t c = 0; c < std::size(kLines); ++c) {
      absl::StrAppend(&light, ".c", c, "{fill:none;stroke:", kLines[c][0], "}");
      absl::StrAppend(&dark, ".c", c, "{stroke:", kLines[c][1], "}");
    }
    return absl::StrCat("<style>", light, ".count,.over{stroke-width:3;paint-order:stroke}\n",
                        "@media (prefers-color-scheme:dark){", dark, "}</style>\n");
  }

  // Writes the title and the lines below it; returns the y at which they end.
  double Head() {
    double y = 12;
    width_ = std::max(p_.width, 420.0);
    if (!options_.title.empty()) {
      y += 22;
      head_ += Text({16, y, options_.title, PictureText::Anchor::kStart, true}, 18);
      width_ = std::max(width_, 48 + TextWidth(options_.title, 18) * 1.12);
    }
    for (const std::string& line : options_.figures) {
      y += 19;
      head_ += Text({16, y, line, PictureText::Anchor::kStart, false}, 12);
      width_ = std::max(width_, 40 + TextWidth(line, 12) * 1.05);
    }
    return y + 16;
  }

  double WidthOf(const LinkClass& c) const {
    if (most_ <= least_) return 1.6;
    const double rate = static_cast<double>(c.bandwidth.bytes_per_second());
    return 1 + 3 * std::log(rate / least_) / std::log(most_ / least_);
  }

  std::string ClassText(uint16_t c) const {
    const LinkClass& l = g_.classes()[c];
    return absl::StrCat(l.name, ": ", FormatRate(static_cast<double>(l.bandwidth.bytes_per_second())), ", ",
                        FormatTime(l.latency));
  }

  // Writes the legend of colours, starting at `y`; returns the y at which it ends.
  double Legend(double y) {
    std::vector<uint64_t> kinds(std::size(kKinds), 0), links(g_.classes().size(), 0), hidden(links);
    for (const VertexGroup& group : g_.groups()) kinds[static_cast<size_t>(group.kind)] += group.count;
    for (uint32_t arc = 0; arc < g_.arcs(); ++arc) {
      if (arc > g_.reverse(arc)) continue;
      ++links[g_.class_of(arc)];
      if (p_.node_of[g_.source(arc)] == p_.node_of[g_.target(arc)]) ++hidden[g_.class_of(arc)];
    }
    double x = 16;
    y += 14;
    const auto room = [&](const std::string& text, double symbol) {
      const double need = symbol + 8 + TextWidth(text, 12) * 1.05 + 26;
      if (x > 16 && x + need > width_) {
        x = 16;
        y += 22;
      }
      const double at = x;
      x += need;
      return at;
    };
    for (size_t k = 0; k < kinds.size(); ++k) {
      if (kinds[k] == 0) continue;
      const std::string text = absl::StrCat(kinds[k], " × ", std::string(Name(static_cast<VertexKind>(k))));
      const double at = room(text, 20);
      absl::StrAppend(&legend_, "<rect class=\"k", k, "\" x=\"", Number(at), "\" y=\"", Number(y - 11),
                      "\" width=\"20\" height=\"14\" rx=\"3\"/>\n",
                      Text({at + 28, y, text, PictureText::Anchor::kStart, false}, 12));
    }
    x = 16;
    y += 22;
    for (size_t c = 0; c < links.size(); ++c) {
      std::string text = absl::StrCat(ClassText(static_cast<uint16_t>(c)), ", ", links[c], " links");
      if (hidden[c] > 0 && hidden[c] < links[c]) absl::StrAppend(&text, ", ", hidden[c], " inside boxes");
      if (hidden[c] > 0 && hidden[c] == links[c]) absl::StrAppend(&text, ", not drawn");
      const double at = room(text, 30);
      absl::StrAppend(&legend_, "<line class=\"c", c % kColours, "\" stroke-width=\"",
                      Number(WidthOf(g_.classes()[c])), "\" x1=\"", Number(at), "\" y1=\"", Number(y - 4),
                      "\" x2=\"", Number(at + 30), "\" y2=\"", Number(y - 4), "\"/>\n",
                      Text({at + 38, y, text, PictureText::Anchor::kStart, false}, 12));
    }
    for (const std::string& remark : p_.remarks) {
      y += 22;
      legend_ += Text({16, y, remark, PictureText::Anchor::kStart, false}, 12);
    }
    return y + 18;
  }

  // The offset of the two control points of a line from its ends.
  std::pair<double, double> Off(const PictureLine& l) const {
    const PictureNode &a = p_.nodes[l.a], &b = p_.nodes[l.b];
    const double dx = b.x - a.x, dy = b.y - a.y;
    const double length = std::max(1e-9, std::hypot(dx, dy));
    return {4 / 3.0 * l.bend * dy / length, -4 / 3.0 * l.bend * dx / length};
  }
  // The point of a line at `t`, which runs from 0 at a to 1 at b.
  std::pair<double, double> At(const PictureLine& l, double t) const {
    const PictureNode &a = p_.nodes[l.a], &b = p_.nodes[l.b];
    const auto [ox, oy] = Off(l);
    const double off = 3 * t * (1 - t), along = l.bend == 0 ? t : t * t * (3 - 2 * t);
    return {a.x + along * (b.x - a.x) + off * ox, a.y + along * (b.y - a.y) + off * oy};
  }

  void Lines(std::string* out) const {
    const double opacity = p_.lines.size() > 1500 ? 0.18 : p_.lines.size() > 300 ? 0.45 : 0.8;
    for (size_t c = 0; c < g_.classes().size(); ++c) {
      absl::StrAppend(out, "<g class=\"c", c % kColours, "\" stroke-width=\"",
                      Number(WidthOf(g_.classes()[c])), "\" stroke-opacity=\"", opacity, "\">\n");
      for (const PictureLine& l : p_.lines) {
        if (l.link_class == c) Line(l, out);
      }
      absl::StrAppend(out, "</g>\n");
    }
  }

  void Line(const PictureLine& l, std::string* out) const {
    const PictureNode &a = p_.nodes[l.a], &b = p_.nodes[l.b];
    absl::StrAppend(out, "<path d=\"M", Number(a.x), " ", Number(a.y));
    if (l.bend == 0) {
      absl::StrAppend(out, "L", Number(b.x), " ", Number(b.y), "\"");
    } else {
      const auto [ox, oy] = Off(l);
      absl::StrAppend(out, "C", Number(a.x + ox), " ", Number(a.y + oy), " ", Number(b.x + ox), " ",
                      Number(b.y + oy), " ", Number(b.x), " ", Number(b.y), "\"");
    }
    if (l.dashed) absl::StrAppend(out, " stroke-dasharray=\"5 3\"");
    if (p_.lines.size() > kTitles) {
      absl::StrAppend(out, "/>\n");
      return;
    }
    absl::StrAppend(out, "><title>",
                    Escape(absl::StrCat(a.name, " – ", b.name, ": ", l.count,
                                        l.count == 1 ? " link" : " links", " of ", ClassText(l.link_class))),
                    "</title></path>\n");
  }

  void Nodes(std::string* out) const {
    for (const PictureNode& n : p_.nodes) {
      absl::StrAppend(out, "<g><title>", Escape(n.name), n.count > 1 ? absl::StrCat(" (", n.count, ")") : "",
                      "</title><rect class=\"k", static_cast<int>(n.kind), "\" x=\"", Number(n.x - n.w / 2),
                      "\" y=\"", Number(n.y - n.h / 2), "\" width=\"", Number(n.w), "\" height=\"",
                      Number(n.h), "\" rx=\"4\" stroke-width=\"1.3\"",
                      n.count > 1 ? " stroke-dasharray=\"4 2\"" : "", "/>\n");
      const int size = n.w < 30 ? 9 : n.w < 70 ? 10 : n.count > 1 ? 11 : 12;
      const bool two = !n.note.empty();
      if (!n.label.empty()) {
        absl::StrAppend(out, Label(n.x, n.y + (two ? -2 : 4), n.label, size, ""));
      }
      if (two) absl::StrAppend(out, Label(n.x, n.y + 12, n.note, 9, " class=\"dim\""));
      absl::StrAppend(out, "</g>\n");
    }
  }
  static std::string Label(double x, double y, const std::string& text, int size, absl::string_view more) {
    return absl::StrCat("<text x=\"", Number(x), "\" y=\"", Number(y), "\" font-size=\"", size,
                        "\" text-anchor=\"middle\"", more, ">", Escape(text), "</text>\n");
  }

  // Writes the number of links of each line, nearer to the end that is a single vertex. In a class with many
  // lines, only lines between folded vertices have a number.
  void Counts(std::string* out) const {
    std::vector<std::vector<const PictureLine*>> several(g_.classes().size());
    for (const PictureLine& l : p_.lines) {
      if (l.count > 1) several[l.link_class].push_back(&l);
    }
    size_t i = 0;
    for (const std::vector<const PictureLine*>& of_class : several) {
      if (of_class.size() > kMostCounts) continue;
      for (const PictureLine* l : of_class) {
        const bool single_a = p_.nodes[l->a].count == 1, single_b = p_.nodes[l->b].count == 1;
        if (of_class.size() > kCounts && (single_a || single_b)) continue;
        double t = single_a == single_b ? 0.5 : single_a ? 0.32 : 0.68;
        // Numbers side by side must not cover each other.
        t += 0.05 * (static_cast<double>(i++ % 3) - 1);
        const auto [x, y] = At(*l, t);
        absl::StrAppend(out, Label(x, y + 3, absl::StrCat("×", l->count), 10, " class=\"count\""));
      }
    }
  }

  const NetworkGraph& g_;
  const Picture& p_;
  const DrawOptions& options_;
  double least_ = 1e30, most_ = 0, width_ = 0;
  std::string head_, legend_;
};

}  // namespace

absl::StatusOr<std::string> DrawSvg(const NetworkGraph& graph, const DrawOptions& options) {
  ASSIGN_OR_RETURN(Picture picture, MakePicture(graph, options.layout));
  return SvgWriter(graph, picture, options).Write();
}

}  // namespace chakra
