#include "test/validation/panel.h"

#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "test/validation/summary.h"

namespace chakra::validation {
namespace {

constexpr double kLeft = 62, kRight = 12, kTop = 24, kTimes = 150, kGap = 10, kErrors = 66;
constexpr double kErrorLimit = 0.6,
                 kErrorTick = 0.5;  // of the error axis; marks beyond the limit are on its edge
constexpr char kGrid[] = "#e4e4e4", kFrame[] = "#999", kBand[] = "#eef4ea";

std::string TimeText(double us) {
  if (us < 1000) return absl::StrCat(us, " us");
  return us < 1e6 ? absl::StrCat(us / 1e3, " ms") : absl::StrCat(us / 1e6, " s");
}

// The coordinates of a panel, from values.
class Frame {
 public:
  Frame(const Panel& panel, const Ranges& r, double x, double y)
      : panel_(panel), r_(r), left_(x + kLeft), top_(y + kTop) {
    us_min_ = std::pow(10, std::floor(std::log10(r.us_min)));
    us_max_ = std::pow(10, std::ceil(std::log10(r.us_max)));
    us_top_ = std::ceil(r.us_max / 1e4 * 1.02) * 1e4;
  }
  double left() const { return left_; }
  double right() const { return left_ + kPanelWidth - kLeft - kRight; }
  double top() const { return top_; }
  double bottom() const { return top_ + kTimes; }
  double error_top() const { return bottom() + kGap; }
  double error_bottom() const { return error_top() + kErrors; }
  double us_min() const { return us_min_; }
  double us_max() const { return us_max_; }
  double us_top() const { return us_top_; }  // of a linear axis

  // The x of the k-th row of the panel.
  double Mark(size_t k) const {
    return left_ +
           (right() - left_) * (static_cast<double>(k) + 0.5) / static_cast<double>(panel_.rows.size());
  }
  double Bytes(double bytes) const {
    const double share = std::log(bytes / r_.bytes_min) / std::log(r_.bytes_max / r_.bytes_min);
    return left_ + 8 + (right() - left_ - 16) * share;
  }
  double Time(double us) const {
    const double share = panel_.curve ? std::log(us / us_min_) / std::log(us_max_ / us_min_) : us / us_top_;
    return bottom() - kTimes * share;
  }
  double Error(double error) const {
    const double e = std::clamp(error, -kErrorLimit, kErrorLimit);
    return error_top() + kErrors / 2 * (1 - e / kErrorLimit);
  }

 private:
  const Panel& panel_;
  const Ranges& r_;
  double left_, top_, us_min_, us_max_, us_top_;
};

void TimeTick(const Frame& f, double us, Svg* svg) {
  svg->Line(f.left(), f.Time(us), f.right(), f.Time(us), kGrid, 1);
  svg->Text(f.left() - 5, f.Time(us) + 3.5, TimeText(us), 10, "end");
}

void Axes(const Panel& panel, const Frame& f, const Ranges& r, Svg* svg) {
  svg->Text(f.left(), f.top() - 7, panel.title, 12, "start", "#111", true);
  svg->Text(f.left() + 6, f.top() + 14, panel.note, 10, "start", "#555");
  constexpr auto kFrom = static_cast<double>(kLarge);
  const double mid = panel.curve && r.bytes_min < kFrom ? std::min(f.Bytes(kFrom), f.right()) : f.left();
  for (const auto& [from, to, band] : {std::tuple{f.left(), mid, 0.30}, {mid, f.right(), 0.15}})
    svg->Rect(from, f.Error(band), to - from, f.Error(-band) - f.Error(band), kBand);
  if (panel.curve) {
    for (double us = f.us_min(); us <= f.us_max() * 1.01; us *= 10) TimeTick(f, us, svg);
    const double step = r.bytes_max / r.bytes_min > 4096 ? 32 : 8;  // ticks at 1 MiB and steps from it
    double first = kFrom;
    while (first / step >= r.bytes_min) first /= step;
    while (first < r.bytes_min) first *= step;
    for (double b = first; b <= r.bytes_max; b *= step) {
      svg->Line(f.Bytes(b), f.top(), f.Bytes(b), f.bottom(), kGrid, 1);
      svg->Line(f.Bytes(b), f.error_top(), f.Bytes(b), f.error_bottom(), kGrid, 1);
      svg->Text(f.Bytes(b), f.error_bottom() + 14, SizeText(static_cast<uint64_t>(b)), 10, "middle");
    }
    svg->Text((f.left() + f.right()) / 2, f.error_bottom() + 28, "bytes of a rank", 10, "middle", "#555");
  } else {
    for (double us = 0; us <= f.us_top() * 1.01; us += f.us_top() / 5) TimeTick(f, us, svg);
  }
  for (double e : {-kErrorTick, 0.0, kErrorTick}) {
    svg->Line(f.left(), f.Error(e), f.right(), f.Error(e), e == 0 ? kFrame : kGrid, 1);
    svg->Text(f.left() - 5, f.Error(e) + 3.5, e == 0 ? "0 %" : absl::StrFormat("%+.0f %%", 100 * e), 10,
              "end");
  }
  svg->Rect(f.left(), f.top(), f.right() - f.left(), kTimes, "none", kFrame);
  svg->Rect(f.left(), f.error_top(), f.right() - f.left(), kErrors, "none", kFrame);
  const double names = f.left() - 50;
  svg->Text(names, (f.top() + f.bottom()) / 2, "time", 10, "middle", "#555", false, -90);
  svg->Text(names, (f.error_top() + f.error_bottom()) / 2, "error", 10, "middle", "#555", false, -90);
}

// The curve changes its colour halfway between two sizes.
void Curve(const Panel& panel, const Frame& f, const std::vector<MeasuredRow>& rows,
           const PredictedColumn& column, const char* dashes, Svg* svg) {
  for (size_t k = 1; k < panel.rows.size(); ++k) {
    const size_t a = panel.rows[k - 1], b = panel.rows[k];
    if (!column.rows[a] || !column.rows[b]) continue;
    const double x0 = f.Bytes(static_cast<double>(rows[a].bytes)),
                 x1 = f.Bytes(static_cast<double>(rows[b].bytes));
    const double y0 = f.Time(column.rows[a]->time_us), y1 = f.Time(column.rows[b]->time_us);
    const double xm = (x0 + x1) / 2, ym = (y0 + y1) / 2;
    svg->Line(x0, y0, xm, ym, ColorOf(LabelOf(*column.rows[a])), kCurve, dashes);
    svg->Line(xm, ym, x1, y1, ColorOf(LabelOf(*column.rows[b])), kCurve, dashes);
  }
}

void ErrorMark(const Frame& f, double x, double error, const std::string& label, size_t column, Svg* svg) {
  const char* color = ColorOf(label);
  const double y = f.Error(error);
  if (std::abs(error) <= kErrorLimit) {
    svg->Line(x, f.Error(0), x, y, color, 1);
    svg->Circle(x, y, 2.6, column == 0 ? color : "#fff", color);
    return;
  }
  const bool up = error > 0;  // beyond the axis: also writes the number
  svg->Line(x, f.Error(0), x, y, color, 1, "2 2");
  svg->Text(x + 4, up ? y + 10 : y - 3, absl::StrFormat("%+.0f %%", 100 * error), 9, "start", color);
}

// The names of the marks of a panel without a curve.
void MarkNames(const Panel& panel, const Frame& f, const std::vector<MeasuredRow>& rows, Svg* svg) {
  std::map<uint64_t, std::set<int>> ranks;
  for (size_t k = 0; k < panel.rows.size(); ++k) {
    const MeasuredRow& r = rows[panel.rows[k]];
    ranks[r.bytes].insert(r.ranks);
    svg->Text(f.Mark(k) + 4, f.error_bottom() + 10,
              absl::StrCat(r.ranks, " ", r.rule.empty() ? "auto" : r.rule), 9, "end", "#333", false, -38);
  }
  std::vector<std::string> sizes;
  for (const auto& [bytes, of] : ranks) {
    sizes.push_back(absl::StrCat(SizeText(bytes), " on ", absl::StrJoin(of, ", ")));
  }
  svg->Text(f.right() - 6, f.bottom() - 7, absl::StrCat(absl::StrJoin(sizes, "; "), " GPUs"), 10, "end",
            "#555");
}

}  // namespace

std::string LabelOf(const Prediction& p) { return absl::StrCat(p.algorithm, "/", p.protocol); }

const char* ColorOf(const std::string& label) {
  static const std::map<std::string, const char*>& colors = *new std::map<std::string, const char*>{
      {"ring/ll", "#e8a33d"},     {"ring/ll128", "#d65f2f"},      {"ring/simple", "#9c2a4a"},
      {"tree/ll", "#74b3e0"},     {"tree/ll128", "#2f78b7"},      {"tree/simple", "#153e73"},
      {"nvls/simple", "#2e8b57"}, {"nvls_tree/simple", "#7a5cc0"}};
  const auto at = colors.find(label);
  return at == colors.end() ? "#777" : at->second;
}

const char* Dashes(size_t column) {
  constexpr const char* kDashes[] = {"", "5 3", "2 2"};
  return kDashes[std::min<size_t>(column, 2)];
}

void DrawPanel(const Panel& panel, const Ranges& ranges, const std::vector<MeasuredRow>& rows,
               const std::vector<PredictedColumn>& columns, double x, double y, Svg* svg) {
  const Frame f(panel, ranges, x, y);
  Axes(panel, f, ranges, svg);
  if (!panel.curve) MarkNames(panel, f, rows, svg);
  for (size_t c = 0; c < columns.size(); ++c) {
    if (panel.curve) Curve(panel, f, rows, columns[c], Dashes(c), svg);
    for (size_t k = 0; k < panel.rows.size(); ++k) {
      const size_t i = panel.rows[k];
      if (!columns[c].rows[i]) continue;
      const Prediction& p = *columns[c].rows[i];
      const double at = panel.curve ? f.Bytes(static_cast<double>(rows[i].bytes)) : f.Mark(k);
      if (!panel.curve) {
        const double line = f.Time(p.time_us);
        svg->Line(at - 8, line, at + 8, line, ColorOf(LabelOf(p)), kCurve + 0.7, Dashes(c));
      }
      ErrorMark(f, at, columns[c].Error(rows, i), LabelOf(p), c, svg);
    }
  }
  for (size_t k = 0; k < panel.rows.size(); ++k) {
    const MeasuredRow& r = rows[panel.rows[k]];
    const double at = panel.curve ? f.Bytes(static_cast<double>(r.bytes)) : f.Mark(k);
    svg->Circle(at, f.Time(r.time_us), kDot, "none", kMeasuredColor);
  }
}

}  // namespace chakra::validation
