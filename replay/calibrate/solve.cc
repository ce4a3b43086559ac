#include "replay/calibrate/solve.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr double kFlat = 1.08;         // launches bound a row whose time is within this factor of them
constexpr double kLeastEffect = 0.01;  // minimum effect of a whole constant on the time of a row
constexpr double kLeastApart = 0.004;  // minimum part of this effect that no other constant explains
// The relative pull towards the given constants. Bandwidths are better known than latencies.
constexpr double kPull = 0.003, kLatencyPull = 0.0005;
constexpr int kRounds = 40;
constexpr double kSmallestError = 0.005;  // below this, absolute errors are smoothed
// The maximum standard errors of an identified constant: relative, and in us for a latency.
constexpr double kUncertain = 0.2, kUncertainUs = 1;
constexpr double kLeastScatter = 0.001;  // minimum scatter of any row
constexpr double kOthers = 4;  // the scatter of all labels has the weight of this many rows of a label

// Constants in the order in which they are tried, the most trusted first.
constexpr std::array<Constant, kConstants> kOrder = {kSlow, kNetworkSlow, kBase, kStep, kNetworkStep};

bool IsLatency(size_t j) { return j != kSlow && j != kNetworkSlow; }

// The reference value for relative changes of a constant.
double Scale(const LabelStart& label, size_t j) { return label.start[j] > 0 ? label.start[j] : 1; }

// The rows of one label, each divided by its measured time.
struct Rows {
  Eigen::MatrixXd effect;   // [row][constant]: effect of the whole constant
  Eigen::MatrixXd set;      // [row][constant]: effect of setting the constant to the label's start
  Eigen::VectorXd missing;  // the part of the measured time that the given constants do not explain
};

Rows Collect(const std::vector<Sample>& samples, const std::vector<size_t>& of,
             const std::vector<Linear>& linear, const LabelStart& label) {
  Rows rows{Eigen::MatrixXd(of.size(), kConstants), Eigen::MatrixXd(of.size(), kConstants),
            Eigen::VectorXd(of.size())};
  for (size_t r = 0; r < of.size(); ++r) {
    const Sample& s = samples[of[r]];
    const Linear& l = linear[of[r]];
    const auto row = static_cast<Eigen::Index>(r);
    rows.missing[row] = (s.measured_us - s.gap_us - l.fixed) / s.measured_us;
    for (int j = 0; j < kConstants; ++j) {
      const auto c = static_cast<size_t>(j);
      rows.effect(row, j) = l.slope[c] * Scale(label, c) / s.measured_us;
      rows.set(row, j) = l.slope[c] * (label.start[c] - l.start[c]) / s.measured_us;
    }
  }
  return rows;
}

// Accepts constants one by one, each only if the constants accepted before do not explain its effect.
std::vector<int> Identify(const Rows& rows, LabelFit* fit) {
  std::vector<int> taken;
  std::vector<Eigen::VectorXd> basis;
  for (const Constant j : kOrder) {
    Eigen::VectorXd column = rows.effect.col(j);
    if (column.isZero(1e-12)) continue;  // the library has no such constant
    if (column.cwiseAbs().maxCoeff() < kLeastEffect) {
      fit->reason[j] = "it changes none of these rows by 1 %";
      continue;
    }
    for (const Eigen::VectorXd& b : basis) column -= b * b.dot(column);
    const bool enough = static_cast<Eigen::Index>(taken.size()) < rows.effect.rows();
    if (!enough || column.cwiseAbs().maxCoeff() < kLeastApart) {
      fit->reason[j] =
          enough ? "these rows cannot separate it from the others; measure other numbers of ranks or sizes"
                 : "there are fewer rows than constants";
      continue;
    }
    basis.push_back(column.normalized());
    taken.push_back(j);
    fit->identified[j] = true;
  }
  return taken;
}

// The relative changes of the accepted constants that explain `missing`, by iterative reweighting.
Eigen::VectorXd LeastAbsolute(const Eigen::MatrixXd& effect, const Eigen::VectorXd& missing,
                              const Eigen::VectorXd& pull) {
  const auto n = effect.rows();
  const auto k = effect.cols();
  Eigen::MatrixXd a(n + k, k);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(n + k);
  Eigen::VectorXd weight = Eigen::VectorXd::Ones(n);
  Eigen::VectorXd change = Eigen::VectorXd::Zero(k);
  a.bottomRows(k) = pull.asDiagonal();
  for (int round = 0; round < kRounds; ++round) {
    a.topRows(n) = weight.asDiagonal() * effect;
    b.head(n) = missing.cwiseProduct(weight);
    change = a.colPivHouseholderQr().solve(b);
    const Eigen::VectorXd error = effect * change - missing;
    weight = error.cwiseAbs().cwiseMax(kSmallestError).cwiseSqrt().cwiseInverse() * std::sqrt(kSmallestError);
  }
  return change;
}

// The sum of the absolute errors, and the number of rows minus the number of constants.
struct Scatter {
  double sum = 0;
  double freedom = 0;
  double Mean() const { return freedom > 0 ? sum / freedom : 0; }
};

Scatter ScatterOf(const Eigen::VectorXd& left, Eigen::Index constants) {
  return {left.cwiseAbs().sum(), static_cast<double>(left.size() - constants)};
}

// The standard errors of the changes, for rows with mean absolute error `mean`. Errors are assumed to be
// normally distributed: their mean absolute value is sqrt(2 / pi) times the standard deviation, and the
// variance of a least absolute fit is pi / 2 times that of least squares.
Eigen::VectorXd StandardErrors(const Eigen::MatrixXd& effect, double mean, const Eigen::VectorXd& pull) {
  const auto k = effect.cols();
  Eigen::MatrixXd information = effect.transpose() * effect;
  information += pull.cwiseAbs2().asDiagonal();
  const Eigen::MatrixXd variance = information.colPivHouseholderQr().solve(Eigen::MatrixXd::Identity(k, k));
  return std::max(kLeastScatter, mean) * (M_PI / 2) * variance.diagonal().cwiseMax(0).cwiseSqrt();
}

// The free constants, and the remaining times that they must explain.
struct System {
  Eigen::MatrixXd effect;
  Eigen::VectorXd missing;
  Eigen::VectorXd pull;
};

System SystemOf(const Rows& rows, const LabelStart& label, const LabelFit& fit, const std::vector<int>& taken,
                const std::vector<int>& held) {
  const auto k = static_cast<Eigen::Index>(taken.size());
  System out{Eigen::MatrixXd(rows.effect.rows(), k), rows.missing, Eigen::VectorXd(k)};
  for (const int j : held) {
    const auto c = static_cast<size_t>(j);
    out.missing -= rows.set.col(j) + rows.effect.col(j) * ((fit.value[c] - label.start[c]) / Scale(label, c));
  }
  for (Eigen::Index i = 0; i < k; ++i) {
    const int j = taken[static_cast<size_t>(i)];
    out.missing -= rows.set.col(j);
    out.effect.col(i) = rows.effect.col(j);
    out.pull[i] = IsLatency(static_cast<size_t>(j)) ? kLatencyPull : kPull;
  }
  return out;
}

// The scatter of the rows before any constant is dropped.
Scatter ScatterOf(const Rows& rows, const LabelStart& label) {
  LabelFit fit;
  const std::vector<int> taken = Identify(rows, &fit);
  if (taken.empty()) return ScatterOf(rows.missing, 0);
  const System system = SystemOf(rows, label, fit, taken, {});
  const Eigen::VectorXd change = LeastAbsolute(system.effect, system.missing, system.pull);
  return ScatterOf(system.missing - system.effect * change, static_cast<Eigen::Index>(taken.size()));
}

std::string Uncertain(size_t j, double value, double error) {
  const double shown = IsLatency(j) ? value : 1 / value;
  return absl::StrFormat("the rows are too noisy to determine it: %.3g +- %.2g", shown,
                         IsLatency(j) ? error : error / value * shown);
}

// Solves for the accepted constants, except those that the rows leave uncertain. A constant that would exceed
// a bound is held at the bound. Returns the remaining sum of absolute errors.
double FitTaken(const Rows& rows, const LabelStart& label, double others, std::vector<int> taken,
                LabelFit* fit) {
  std::vector<int> held;
  double left = rows.missing.cwiseAbs().sum();
  while (!taken.empty()) {
    const System system = SystemOf(rows, label, *fit, taken, held);
    const Eigen::VectorXd change = LeastAbsolute(system.effect, system.missing, system.pull);
    const Eigen::VectorXd error = system.missing - system.effect * change;
    left = error.cwiseAbs().sum();
    const Scatter own = ScatterOf(error, system.effect.cols());
    const double mean = (own.sum + kOthers * others) / (std::max(0.0, own.freedom) + kOthers);
    const Eigen::VectorXd errors = StandardErrors(system.effect, mean, system.pull);
    size_t out = 0;
    bool doubtful = false;
    double most_doubt = 1, farthest = 0;
    for (size_t i = 0; i < taken.size(); ++i) {
      const auto c = static_cast<size_t>(taken[i]);
      const auto at = static_cast<Eigen::Index>(i);
      const double scale = Scale(label, c);
      const double value = label.start[c] + scale * change[at];
      fit->value[c] = std::clamp(value, label.lower[c], label.upper[c]);
      const double limit = std::max(kUncertain * fit->value[c], IsLatency(c) ? kUncertainUs : 0.0);
      const double past = std::abs(value - fit->value[c]) / scale;
      if (const double doubt = errors[at] * scale / limit; doubt > most_doubt) {
        most_doubt = doubt;
        doubtful = true;
        out = i;
        fit->reason[c] = Uncertain(c, fit->value[c], errors[at] * scale);
      } else if (!doubtful && past > farthest) {
        farthest = past;
        out = i;
      }
    }
    if (!doubtful && farthest == 0) break;
    const int constant = taken[out];
    taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(out));
    if (!doubtful) {
      held.push_back(constant);
      if (taken.empty()) left = SystemOf(rows, label, *fit, taken, held).missing.cwiseAbs().sum();
      continue;
    }
    fit->identified[static_cast<size_t>(constant)] = false;
    // Without the dropped constant, held constants may be inside their bounds again.
    taken.insert(taken.end(), held.begin(), held.end());
    held.clear();
    if (taken.empty()) left = rows.missing.cwiseAbs().sum();
  }
  for (size_t j = 0; j < kConstants; ++j) {
    if (fit->identified[j]) fit->reason[j].clear();
  }
  for (const int j : held) fit->bounded[static_cast<size_t>(j)] = true;
  return left;
}

void FitLabel(const Rows& rows, const LabelStart& label, double others, LabelFit* fit) {
  std::vector<int> taken = Identify(rows, fit);
  LabelFit best = *fit;
  double left = FitTaken(rows, label, others, taken, &best);
  // If groups have several values, a single value replaces them only if it lowers the error.
  for (const Constant j : {kStep, kNetworkStep}) {
    if (!best.identified[j] || label.least[j] >= label.start[j]) continue;
    taken.erase(std::find(taken.begin(), taken.end(), j));
    LabelFit without = *fit;
    without.identified[j] = false;
    without.reason[j] = "no single value fits all numbers of ranks better";
    const double then = FitTaken(rows, label, others, taken, &without);
    if (then > left) {
      taken.push_back(j);
      continue;
    }
    left = then;
    best = without;
    *fit = without;
    for (const int k : taken) fit->identified[static_cast<size_t>(k)] = true;
  }
  *fit = best;
}

}  // namespace

absl::StatusOr<Solution> SolveAt(Samples& samples, const std::vector<std::string>& label, double enqueue_us,
                                 bool enqueue_identified) {
  const std::vector<Sample>& all = samples.all();
  Solution out;
  out.enqueue_us = enqueue_us;
  out.enqueue_identified = enqueue_identified;
  std::vector<Linear> linear(all.size());
  std::map<std::string, std::vector<size_t>> of;
  Scatter scatter;  // scatter of all rows
  for (size_t i = 0; i < all.size(); ++i) {
    ASSIGN_OR_RETURN(linear[i], samples.AsLabel(i, label[i]));
    of[label[i]];
    const double launches = enqueue_us * all[i].devices_per_thread;
    if (!enqueue_identified || all[i].measured_us > kFlat * launches) {
      of[label[i]].push_back(i);
    } else {
      scatter.sum += std::abs(launches / all[i].measured_us - 1);
      scatter.freedom += 1;
    }
  }
  std::map<std::string, Rows> rows;
  for (const auto& [name, indices] : of) {
    const LabelStart& start = samples.labels().at(name);
    out.labels[name].value = start.start;
    if (indices.empty()) continue;
    const Rows& label_rows = rows.emplace(name, Collect(all, indices, linear, start)).first->second;
    const Scatter own = ScatterOf(label_rows, start);
    scatter.sum += own.sum;
    scatter.freedom += own.freedom;
  }
  for (const auto& [name, of_label] : rows) {
    FitLabel(of_label, samples.labels().at(name), scatter.Mean(), &out.labels[name]);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const LabelFit& fit = out.labels[label[i]];
    double us = all[i].gap_us + linear[i].fixed;
    for (size_t j = 0; j < kConstants; ++j) {
      if (fit.identified[j]) us += linear[i].slope[j] * (fit.value[j] - linear[i].start[j]);
    }
    us = std::max({enqueue_us * all[i].devices_per_thread, us, 1e-3});
    out.cost += std::abs(std::log(us / all[i].measured_us));
  }
  return out;
}

absl::StatusOr<Solution> Solve(Samples& samples, const std::vector<std::string>& label) {
  // By series: (time for each device, size), the shortest time first.
  std::map<int, std::vector<std::pair<double, uint64_t>>> series;
  // A launch cannot take longer than a whole row.
  double most = samples.library().enqueue_us;
  for (const Sample& s : samples.all()) {
    series[s.series].push_back({s.measured_us / s.devices_per_thread, s.bytes});
    most = std::min(most, series[s.series].back().first);
  }
  absl::StatusOr<Solution> best = SolveAt(samples, label, most, false);
  if (!best.ok()) return best;
  std::set<double> trials;
  for (auto& [id, rows] : series) {
    std::sort(rows.begin(), rows.end());
    size_t n = 0;
    std::set<uint64_t> sizes;
    while (n < rows.size() && rows[n].first <= rows[0].first * kFlat * kFlat) sizes.insert(rows[n++].second);
    if (sizes.size() > 1) trials.insert((rows[(n - 1) / 2].first + rows[n / 2].first) / 2);
  }
  for (const double trial : trials) {
    absl::StatusOr<Solution> solution = SolveAt(samples, label, trial, true);
    if (!solution.ok()) return solution;
    if (solution->cost < best->cost) best = std::move(solution);
  }
  return best;
}

}  // namespace chakra
