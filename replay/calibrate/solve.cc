#include "replay/calibrate/solve.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"

namespace chakra {
namespace {

constexpr double kFlat = 1.08;         // rows within this of the launches are bound by them
constexpr double kLeastEffect = 0.01;  // on the time of a row, of a whole constant
constexpr double kLeastApart = 0.004;  // of it that no other constant explains
// Towards the constants given, relative: bandwidths are known better than latencies.
constexpr double kPull = 0.003, kLatencyPull = 0.0005;
constexpr int kRounds = 40;
constexpr double kSmallestError = 0.005;  // where absolute values are rounded off

// Constants in the order in which they are believed in.
constexpr std::array<Constant, kConstants> kOrder = {kSlow, kNetworkSlow, kBase, kStep, kNetworkStep};

// The rows of one label, each divided by its measured time.
struct Rows {
  Eigen::MatrixXd effect;   // [row][constant]: of the whole constant
  Eigen::VectorXd missing;  // of the measured time, with the constants given
};

Rows Collect(const std::vector<Sample>& samples, const std::vector<size_t>& of,
             const std::vector<Linear>& linear, const Constants& start) {
  Rows rows{Eigen::MatrixXd(of.size(), kConstants), Eigen::VectorXd(of.size())};
  for (size_t r = 0; r < of.size(); ++r) {
    const Sample& s = samples[of[r]];
    const Linear& l = linear[of[r]];
    rows.missing[static_cast<Eigen::Index>(r)] = (s.measured_us - s.launch_us - l.fixed) / s.measured_us;
    for (int j = 0; j < kConstants; ++j) {
      const auto c = static_cast<size_t>(j);
      rows.effect(static_cast<Eigen::Index>(r), j) = l.slope[c] * start[c] / s.measured_us;
    }
  }
  return rows;
}

// Takes constants one by one while they say something that those taken do not.
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
          enough ? "these rows cannot tell it from the others; measure other numbers of ranks or sizes"
                 : "there are fewer rows than constants";
      continue;
    }
    basis.push_back(column.normalized());
    taken.push_back(j);
    fit->identified[j] = true;
  }
  return taken;
}

// Relative changes of the taken constants: iteratively reweighted, none below -1 (a constant of 0).
Eigen::VectorXd LeastAbsolute(const Rows& rows, const std::vector<int>& taken) {
  const auto n = rows.effect.rows();
  const auto k = static_cast<Eigen::Index>(taken.size());
  Eigen::MatrixXd a(n + k, k);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(n + k);
  Eigen::VectorXd weight = Eigen::VectorXd::Ones(n);
  Eigen::VectorXd change = Eigen::VectorXd::Zero(k);
  for (int round = 0; round < kRounds; ++round) {
    for (Eigen::Index j = 0; j < k; ++j) {
      a.col(j).head(n) = rows.effect.col(taken[static_cast<size_t>(j)]).cwiseProduct(weight);
    }
    a.bottomRows(k).setZero();
    for (Eigen::Index j = 0; j < k; ++j) {
      const int constant = taken[static_cast<size_t>(j)];
      a(n + j, j) = constant == kSlow || constant == kNetworkSlow ? kPull : kLatencyPull;
    }
    b.head(n) = rows.missing.cwiseProduct(weight);
    change = a.colPivHouseholderQr().solve(b).cwiseMax(-0.999);
    Eigen::VectorXd error = -rows.missing;
    for (Eigen::Index j = 0; j < k; ++j) error += rows.effect.col(taken[static_cast<size_t>(j)]) * change[j];
    weight = error.cwiseAbs().cwiseMax(kSmallestError).cwiseSqrt().cwiseInverse() * std::sqrt(kSmallestError);
  }
  return change;
}

}  // namespace

absl::StatusOr<Solution> SolveAt(Samples& samples, const std::vector<std::string>& label, double enqueue_us,
                                 bool enqueue_identified) {
  const std::vector<Sample>& all = samples.all();
  Solution out;
  out.enqueue_us = enqueue_us;
  out.enqueue_identified = enqueue_identified;
  out.time_us.assign(all.size(), 0);
  out.launches.assign(all.size(), false);
  std::vector<Linear> linear(all.size());
  std::map<std::string, std::vector<size_t>> of;
  for (size_t i = 0; i < all.size(); ++i) {
    const absl::StatusOr<Linear> l = samples.AsLabel(i, label[i]);
    if (!l.ok()) return l.status();
    linear[i] = *l;
    of[label[i]];
    const double launches = enqueue_us * all[i].devices_per_thread;
    if (!enqueue_identified || all[i].measured_us > kFlat * launches) of[label[i]].push_back(i);
  }
  for (const auto& [name, indices] : of) {
    const Constants& start = samples.labels().at(name).start;
    LabelFit& fit = out.labels[name];
    fit.value = start;
    const Rows rows = Collect(all, indices, linear, start);
    const std::vector<int> taken = indices.empty() ? std::vector<int>() : Identify(rows, &fit);
    if (taken.empty()) continue;
    const Eigen::VectorXd change = LeastAbsolute(rows, taken);
    for (size_t j = 0; j < taken.size(); ++j) {
      const auto c = static_cast<size_t>(taken[j]);
      fit.value[c] = start[c] * (1 + change[static_cast<Eigen::Index>(j)]);
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const LabelFit& fit = out.labels[label[i]];
    const Constants& start = samples.labels().at(label[i]).start;
    double us = all[i].launch_us + linear[i].fixed;
    for (size_t j = 0; j < kConstants; ++j) us += linear[i].slope[j] * (fit.value[j] - start[j]);
    const double launches = enqueue_us * all[i].devices_per_thread;
    out.launches[i] = launches >= us;
    out.time_us[i] = std::max({launches, us, 1e-3});
    out.cost += std::abs(std::log(out.time_us[i] / all[i].measured_us));
  }
  return out;
}

absl::StatusOr<Solution> Solve(Samples& samples, const std::vector<std::string>& label) {
  const std::vector<Sample>& all = samples.all();
  // No launch may take longer than a whole row.
  double most = samples.library().enqueue_us;
  std::set<double> trials;
  std::vector<double> each;
  for (const Sample& s : all) each.push_back(s.measured_us / s.devices_per_thread);
  most = std::min(most, *std::min_element(each.begin(), each.end()));
  std::sort(each.begin(), each.end());
  absl::StatusOr<Solution> best = SolveAt(samples, label, most, false);
  if (!best.ok()) return best;
  // The median of the rows that are within kFlat of the smallest of them.
  for (size_t first = 0; first < each.size(); ++first) {
    size_t last = first;
    while (last + 1 < each.size() && each[last + 1] <= each[first] * kFlat * kFlat) ++last;
    if (first > 0 || last < first + 1) break;
    for (size_t i = first; i <= last; ++i) trials.insert(each[i]);
  }
  for (const double trial : trials) {
    absl::StatusOr<Solution> solution = SolveAt(samples, label, trial, true);
    if (!solution.ok()) return solution;
    if (solution->cost < best->cost) best = std::move(solution);
  }
  return best;
}

}  // namespace chakra
