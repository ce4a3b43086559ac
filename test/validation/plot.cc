#include "test/validation/plot.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "test/validation/panel.h"
#include "test/validation/svg.h"

namespace chakra::validation {
namespace {

constexpr int kAcross = 4;
constexpr double kMargin = 24, kHead = 108;

// The panels of one machine and source; they share their axes.
struct Block {
  std::vector<Panel> panels;
};

std::vector<Block> BlocksOf(const std::vector<MeasuredRow>& rows) {
  std::map<std::pair<std::string, std::string>, std::pair<Block, Panel>> found;  // curves, and the rest
  for (const Subset& s : Subsets(rows)) {
    auto& [block, rest] = found[{s.preset, s.source}];
    std::set<uint64_t> sizes;
    for (size_t i : s.rows) sizes.insert(rows[i].bytes);
    if (sizes.size() >= 3) {
      block.panels.push_back({absl::StrCat(s.preset, ", ", s.ranks, " GPUs"), s.source, true, s.rows});
    } else {
      rest.title = absl::StrCat(s.preset, ", by GPUs and algorithm");
      rest.note = s.source;
      rest.rows.insert(rest.rows.end(), s.rows.begin(), s.rows.end());
    }
  }
  std::vector<Block> blocks;
  for (auto& [key, parts] : found) {
    if (!parts.first.panels.empty()) blocks.push_back(parts.first);
    if (!parts.second.rows.empty()) blocks.push_back({{parts.second}});
  }
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
    return std::pair(a.panels.size() > 1, !a.panels[0].curve) <
           std::pair(b.panels.size() > 1, !b.panels[0].curve);
  });
  return blocks;
}

Ranges RangesOf(const Block& block, const std::vector<MeasuredRow>& rows,
                const std::vector<PredictedColumn>& columns) {
  Ranges r;
  for (const Panel& p : block.panels) {
    for (size_t i : p.rows) {
      r.Take(rows[i].bytes, rows[i].time_us);
      for (const PredictedColumn& c : columns) {
        if (c.rows[i]) r.Take(rows[i].bytes, c.rows[i]->time_us);
      }
    }
  }
  return r;
}

void Legend(const std::vector<MeasuredRow>& rows, const std::vector<PredictedColumn>& columns, double width,
            Svg* svg) {
  size_t compared = 0;
  for (const MeasuredRow& r : rows) compared += r.left_out.empty();
  svg->Text(kMargin, 36, "All-reduce: measured and predicted", 21, "start", "#111", true);
  svg->Text(kMargin, 57,
            absl::StrCat(compared,
                         " published measurements. Above: time by bytes of a rank. Below: error, predicted / "
                         "measured - 1; shaded: 15 % from 1 MiB up, 30 % below."),
            12, "start", "#555");
  double x = kMargin + 4;
  const double y = 82;
  const auto entry = [&](const std::string& text) {
    svg->Text(x + 14, y + 4, text, 12, "start");
    x += 34 + 7.3 * static_cast<double>(text.size());
  };
  svg->Circle(x + 4, y, kDot, "#fff", kMeasuredColor);
  entry("measured");
  if (columns.size() > 1) {
    for (size_t c = 0; c < columns.size(); ++c) {
      svg->Line(x - 10, y, x + 10, y, "#333", kCurve, Dashes(c));
      entry(columns[c].name);
    }
  }
  std::set<std::string> labels;
  for (const PredictedColumn& c : columns) {
    for (const auto& p : c.rows) {
      if (p) labels.insert(LabelOf(*p));
    }
  }
  svg->Text(x, y + 4, "predicted, by the algorithm and protocol chosen:", 12, "start");
  x += 340;
  for (const std::string& l : labels) {
    svg->Line(x - 10, y, x + 10, y, ColorOf(l), kCurve + 1);
    entry(l);
  }
  svg->Line(kMargin, kHead - 10, width - kMargin, kHead - 10, "#ddd", 1);
}

}  // namespace

std::string Plot(const std::vector<MeasuredRow>& rows, const std::vector<PredictedColumn>& columns) {
  Svg svg;
  const double width = 2 * kMargin + kAcross * kPanelWidth;
  Legend(rows, columns, width, &svg);
  int row = 0, place = 0;
  for (const Block& b : BlocksOf(rows)) {
    if (b.panels.size() > 1 && place > 0) {
      ++row;
      place = 0;
    }
    const Ranges ranges = RangesOf(b, rows, columns);
    for (const Panel& p : b.panels) {
      if (place == kAcross) {
        ++row;
        place = 0;
      }
      DrawPanel(p, ranges, rows, columns, kMargin + place * kPanelWidth, kHead + row * kPanelHeight, &svg);
      ++place;
    }
  }
  return svg.Finish(width, kHead + (row + 1) * kPanelHeight + kMargin / 2);
}

}  // namespace chakra::validation
