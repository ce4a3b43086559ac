// One panel of the plot: times above, errors below.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "test/validation/measured.h"
#include "test/validation/predict.h"
#include "test/validation/svg.h"

namespace chakra::validation {

inline constexpr double kPanelWidth = 330, kPanelHeight = 300;  // pixels, margins included
inline constexpr double kDot = 3.2, kCurve = 1.8;
inline constexpr char kMeasuredColor[] = "#222";

struct Panel {
  std::string title, note;   // the note is grey, inside the frame
  bool curve = false;        // a curve over bytes; otherwise one mark for each row
  std::vector<size_t> rows;  // by size
};

// The ranges of the axes of a panel.
struct Ranges {
  double bytes_min = std::numeric_limits<double>::max(), bytes_max = 0;
  double us_min = std::numeric_limits<double>::max(), us_max = 0;

  void Take(uint64_t bytes, double us) {
    const auto b = static_cast<double>(bytes);
    bytes_min = std::min(bytes_min, b);
    bytes_max = std::max(bytes_max, b);
    us_min = std::min(us_min, us);
    us_max = std::max(us_max, us);
  }
};

// "ring/ll128", and its colour.
std::string LabelOf(const Prediction& p);
const char* ColorOf(const std::string& label);
// The stroke of the curve of a column.
const char* Dashes(size_t column);

// Draws with the upper left corner of the panel at (x, y).
void DrawPanel(const Panel& panel, const Ranges& ranges, const std::vector<MeasuredRow>& rows,
               const std::vector<PredictedColumn>& columns, double x, double y, Svg* svg);

}  // namespace chakra::validation
