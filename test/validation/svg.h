// A drawing in SVG: lines, marks and text. Coordinates are pixels from the upper left corner, with one
// decimal.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace chakra::validation {

class Svg {
 public:
  void Line(double x0, double y0, double x1, double y1, const char* color, double width,
            const char* dashes = "") {
    absl::StrAppendFormat(
        &body_, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"%.1f\"%s%s%s/>\n", x0, y0, x1,
        y1, color, width, *dashes ? " stroke-dasharray=\"" : "", dashes, *dashes ? "\"" : "");
  }
  // A curve through all points.
  void Curve(const std::vector<std::pair<double, double>>& points, const char* color, double width) {
    if (points.empty()) return;
    absl::StrAppend(&body_, "<path d=\"M");
    for (const auto& [x, y] : points) absl::StrAppendFormat(&body_, "%.1f %.1f ", x, y);
    absl::StrAppendFormat(&body_, "\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n", color, width);
  }
  void Rect(double x, double y, double width, double height, const char* fill, const char* stroke = "none") {
    absl::StrAppendFormat(
        &body_, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"%s\"/>\n", x,
        y, width, height, fill, stroke);
  }
  void Circle(double x, double y, double radius, const char* fill, const char* stroke) {
    absl::StrAppendFormat(&body_, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" stroke=\"%s\"/>\n",
                          x, y, radius, fill, stroke);
  }
  // `anchor`: start, middle or end. `turn`: degrees, clockwise, about (x, y).
  void Text(double x, double y, const std::string& text, int size, const char* anchor,
            const char* fill = "#333", bool bold = false, double turn = 0) {
    absl::StrAppendFormat(&body_,
                          "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\"%s", x,
                          y, size, anchor, fill, bold ? " font-weight=\"bold\"" : "");
    if (turn != 0) absl::StrAppendFormat(&body_, " transform=\"rotate(%.0f %.1f %.1f)\"", turn, x, y);
    absl::StrAppendFormat(&body_, ">%s</text>\n",
                          absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}}));
  }

  // The whole file, on white.
  std::string Finish(double width, double height) const {
    return absl::StrFormat(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
               "%.0f\" "
               "font-family=\"DejaVu Sans, Verdana, sans-serif\" fill=\"none\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
               width, height, width, height) +
           body_ + "</svg>\n";
  }

 private:
  std::string body_;
};

}  // namespace chakra::validation
