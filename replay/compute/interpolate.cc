#include "replay/compute/interpolate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/compute/convex_weights.h"
#include "replay/compute/operators/operator_work.h"
#include "replay/compute/work_fit.h"

namespace chakra {
namespace {

// For operands of unknown type; a constant factor does not matter to the fitted model.
constexpr int kElementBytes = 4;
constexpr double kMaxPicos = 9e18;
constexpr double kMaxDimension = 9.3e18;

// The place of a kernel: the pattern that its group has in common, and its dimensions.
struct Place {
  std::string pattern;  // shapes with "#" for each dimension above 0; or "work" and the known quantities
  std::vector<double> dimensions;
};

// The place of a kernel by its shapes or, without shapes, by its work. nullopt: both are unknown.
std::optional<Place> PlaceOf(absl::string_view shapes, uint64_t operations, uint64_t bytes) {
  Place place;
  const std::string text = WithoutBlanks(shapes);
  if (text.empty()) {
    if (operations == 0 && bytes == 0) return std::nullopt;
    place.pattern = absl::StrCat("work", operations > 0 ? " operations" : "", bytes > 0 ? " bytes" : "");
    if (operations > 0) place.dimensions.push_back(static_cast<double>(operations));
    if (bytes > 0) place.dimensions.push_back(static_cast<double>(bytes));
    return place;
  }
  for (size_t i = 0; i < text.size();) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(text[i]))) {
      place.pattern.push_back(text[i++]);
      continue;
    }
    double value = 0;
    for (; i < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[i])); ++i) {
      value = value * 10 + (text[i] - '0');
    }
    place.pattern.push_back(value > 0 ? '#' : '0');
    if (!(value < kMaxDimension)) return std::nullopt;
    if (value > 0) place.dimensions.push_back(value);
  }
  return place;
}

// The work that a kernel's time scales with: that of its operator if known, else a pass over its operands.
WorkSample WorkOf(absl::string_view name, absl::string_view op, absl::string_view shapes,
                  absl::string_view dtypes) {
  const auto work = WorkOfKernel(name, op, shapes, dtypes, kElementBytes);
  if (work.has_value()) return {work->operations, work->bytes, 0};
  const auto operands = ParseOperands(shapes, dtypes);
  if (!operands.ok()) return {};
  WorkSample sample;
  for (const Operand& o : *operands) {
    for (const Shape& s : o.shapes)
      sample.bytes += Elements(s) * (o.element_bytes > 0 ? o.element_bytes : kElementBytes);
  }
  return sample;
}

}  // namespace

// The rows of a group: points of one space.
class KernelInterpolation::Group {
 public:
  void Add(size_t index, const proto::KernelRow& row, Place place) {
    rows_.push_back(index);
    row_.push_back(&row);
    dimensions_.push_back(std::move(place.dimensions));
    errors_.push_back(row.error());
  }

  size_t size() const { return rows_.size(); }
  const std::vector<size_t>& rows() const { return rows_; }

  // Call this after the last Add(). Finds the rows' work, and the dimensions that vary independently.
  void Finish() {
    name_ = row_[0]->name();
    op_ = row_[0]->op();
    dtypes_ = row_[0]->dtypes();
    for (const proto::KernelRow* r : row_) {
      if (r->op() != op_) op_.clear();
    }
    for (const proto::KernelRow* r : row_) {
      samples_.push_back(Work({r->name(), r->shapes(), r->dtypes(), r->operations(), r->bytes()}));
      samples_.back().time = r->duration_us();
    }
    row_.clear();
    const size_t columns = dimensions_[0].size();
    for (size_t c = 0; c < columns; ++c) {
      size_t same = c;
      const auto equal = [&](size_t a) {
        return std::all_of(dimensions_.begin(), dimensions_.end(),
                           [&](const auto& d) { return d[a] == d[c]; });
      };
      for (size_t b = 0; b < c && same == c; ++b) {
        if (equal(b)) same = b;
      }
      same_as_.push_back(same);
      const bool varies = std::any_of(dimensions_.begin(), dimensions_.end(),
                                      [&](const auto& d) { return d[c] != dimensions_[0][c]; });
      if (varies && same == c) axes_.push_back(c);
    }
    points_.dimension = axes_.size();
    points_.count = rows_.size();
    for (const auto& d : dimensions_) {
      for (size_t axis : axes_) points_.coordinates.push_back(std::log(d[axis]));
    }
  }

  // The work of a node of this group.
  WorkSample Work(const KernelQuery& q) const {
    if (!q.shapes.empty()) return WorkOf(name_, op_, q.shapes, dtypes_);
    return {static_cast<double>(q.operations), static_cast<double>(q.bytes), 0};
  }

  // Whether `dimensions` agree with the rows in the dimensions that are constant, or equal to another, in all
  // rows.
  bool Fits(const std::vector<double>& dimensions) const {
    for (size_t c = 0; c < dimensions.size(); ++c) {
      if (same_as_[c] != c && dimensions[c] != dimensions[same_as_[c]]) return false;
      const bool axis = std::find(axes_.begin(), axes_.end(), same_as_[c]) != axes_.end();
      if (!axis && dimensions[c] != dimensions_[0][c]) return false;
    }
    return true;
  }

  struct Estimate {
    double time;
    double straight;  // by a power law between the rows, without the fitted model
    std::vector<Weight> around;
  };

  // Interpolates from all rows except `without`. nullopt: outside the hull.
  std::optional<Estimate> Interpolate(const std::vector<double>& dimensions, const WorkSample& work,
                                      size_t without) const {
    std::vector<double> x;
    for (size_t axis : axes_) x.push_back(std::log(dimensions[axis]));
    auto around = ConvexWeights(points_, x, without);
    if (!around.has_value()) return std::nullopt;
    const WorkFit fit = FitWork(samples_, without);
    double log_time = LogModel(fit, work), straight = 0;
    for (const Weight& w : *around) {
      log_time += w.weight * Residual(fit, w.point);
      straight += w.weight * std::log(samples_[w.point].time);
    }
    return Estimate{std::exp(log_time), std::exp(straight), *std::move(around)};
  }

  // The ratio of the time of row `i`, found from the other rows, to its measured time.
  std::optional<double> LeftOut(size_t i) const {
    const auto estimate = Interpolate(dimensions_[i], samples_[i], i);
    if (!estimate.has_value()) return std::nullopt;
    return estimate->time / samples_[i].time;
  }

  double ErrorOf(const Estimate& estimate) const {
    std::optional<double> error;
    double own = 0, least = 0, most = 0;
    const WorkFit fit = FitWork(samples_, size());
    for (const Weight& w : estimate.around) {
      own = std::max(own, errors_[w.point]);
      const double r = Residual(fit, w.point);
      least = &w == &estimate.around[0] ? r : std::min(least, r);
      most = &w == &estimate.around[0] ? r : std::max(most, r);
      if (const auto ratio = LeftOut(w.point); ratio.has_value()) {
        error = std::max(error.value_or(0), std::abs(*ratio - 1));
      }
    }
    if (!error.has_value()) error = std::abs(estimate.straight / estimate.time - 1);
    return std::max(*error, std::expm1(most - least)) + own;
  }

 private:
  // A model time of 0 gives no information and counts as 1.
  static double LogModel(const WorkFit& fit, const WorkSample& work) {
    const double time = fit.Time(work.operations, work.bytes);
    return time > 0 ? std::log(time) : 0;
  }
  double Residual(const WorkFit& fit, size_t i) const {
    return std::log(samples_[i].time) - LogModel(fit, samples_[i]);
  }

  std::string name_, op_, dtypes_;            // op_: the operator of all rows; "" if they differ
  std::vector<size_t> rows_;                  // by row of the group: row of the table
  std::vector<const proto::KernelRow*> row_;  // empty after Finish()
  std::vector<std::vector<double>> dimensions_;
  std::vector<WorkSample> samples_;
  std::vector<double> errors_;
  std::vector<size_t> same_as_;  // by column: the first column that equals it in all rows
  std::vector<size_t> axes_;     // columns that vary independently
  PointSet points_;              // the logarithms of the columns of axes_
};

KernelInterpolation::KernelInterpolation(const proto::KernelTable& table) : rows_(table.row_size()) {
  for (int i = 0; i < table.row_size(); ++i) {
    const proto::KernelRow& r = table.row(i);
    if (r.duration_us() <= 0) continue;
    if (!r.shapes().empty() && !ParseOperands(r.shapes(), "").ok()) continue;
    auto place = PlaceOf(r.shapes(), r.operations(), r.bytes());
    if (!place.has_value() || place->dimensions.empty()) continue;
    std::unique_ptr<Group>& group = groups_[Key{r.name(), WithoutBlanks(r.dtypes()), place->pattern}];
    if (group == nullptr) group = std::make_unique<Group>();
    group->Add(static_cast<size_t>(i), r, *std::move(place));
  }
  for (auto it = groups_.begin(); it != groups_.end();) {
    if (it->second->size() < 2) {
      it = groups_.erase(it);
    } else {
      (it++)->second->Finish();
    }
  }
}

KernelInterpolation::~KernelInterpolation() = default;
KernelInterpolation::KernelInterpolation(KernelInterpolation&&) noexcept = default;

KernelInterpolation::Result KernelInterpolation::Find(const KernelQuery& query) const {
  Result result;
  const std::string name(query.name), dtypes = WithoutBlanks(query.dtypes);
  std::vector<Place> places;
  if (auto place = PlaceOf(query.shapes, query.operations, query.bytes)) places.push_back(*std::move(place));
  if (!query.shapes.empty()) {
    if (auto place = PlaceOf("", query.operations, query.bytes)) places.push_back(*std::move(place));
  }
  for (const Place& place : places) {
    for (const std::string& d : {dtypes, std::string()}) {
      const auto it = groups_.find(Key{name, d, place.pattern});
      if (it == groups_.end()) continue;
      const Group& group = *it->second;
      result.outcome = Outcome::kOutside;
      if (!group.Fits(place.dimensions)) continue;
      KernelQuery at = query;
      if (&place != &places[0]) at.shapes = "";
      const auto estimate = group.Interpolate(place.dimensions, group.Work(at), group.size());
      if (!estimate.has_value() || !(estimate->time * 1e6 < kMaxPicos)) continue;
      result.outcome = Outcome::kAnswered;
      result.duration = Time::FromNanos(estimate->time * 1000);
      result.error = group.ErrorOf(*estimate);
      return result;
    }
  }
  return result;
}

std::vector<std::optional<double>> KernelInterpolation::LeaveOneOut(size_t most) const {
  std::vector<std::optional<double>> ratios(rows_);
  for (const auto& [key, group] : groups_) {
    const size_t n = std::min(most, group->size());
    for (size_t k = 0; k < n; ++k) {
      const size_t i = n == group->size() ? k : k * group->size() / n;
      ratios[group->rows()[i]] = group->LeftOut(i);
    }
  }
  return ratios;
}

size_t KernelInterpolation::grouped() const {
  size_t rows = 0;
  for (const auto& [key, group] : groups_) rows += group->size();
  return rows;
}

}  // namespace chakra
