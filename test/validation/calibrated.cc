#include "test/validation/calibrated.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/calibrate/fit.h"
#include "replay/cluster/load.h"
#include "trace/base/median.h"

namespace chakra::validation {
namespace {

constexpr double kBound = 0.055;  // of a machine and source
constexpr double kBoundOfAll = 0.04;
constexpr size_t kFewestSizes = 6;

using Measured = std::pair<std::string, std::string>;  // preset, source

std::map<Measured, std::vector<size_t>> MachinesOf(const std::vector<MeasuredRow>& rows) {
  std::map<Measured, std::vector<size_t>> machines;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].left_out.empty() && rows[i].rule.empty())
      machines[{rows[i].preset, rows[i].source}].push_back(i);
  }
  return machines;
}

chakra::MeasuredRow ForFit(const MeasuredRow& row, size_t i) {
  chakra::MeasuredRow out;
  out.ranks = row.ranks;
  out.bytes = row.bytes;
  out.time_us = row.time_us;
  out.devices_per_thread = row.devices_per_thread;
  out.file = row.source;
  out.line = static_cast<int>(i);
  return out;
}

}  // namespace

absl::StatusOr<PredictedColumn> CalibratedColumn(const std::vector<MeasuredRow>& rows, size_t third) {
  PredictedColumn column{"calibrated", std::vector<std::optional<Prediction>>(rows.size())};
  for (const auto& [machine, of] : MachinesOf(rows)) {
    std::vector<uint64_t> sizes;
    for (const size_t i : of) sizes.push_back(rows[i].bytes);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    if (sizes.size() < kFewestSizes) continue;
    std::vector<chakra::MeasuredRow> fitted, others;
    for (const size_t i : of) {
      const auto place =
          static_cast<size_t>(std::lower_bound(sizes.begin(), sizes.end(), rows[i].bytes) - sizes.begin());
      (place % 3 == third ? fitted : others).push_back(ForFit(rows[i], i));
    }
    const absl::StatusOr<proto::Cluster> preset = LoadCluster(machine.first);
    if (!preset.ok()) return preset.status();
    const absl::StatusOr<Fit> fit = Calibrate(*preset, fitted);
    if (!fit.ok()) return fit.status();
    const absl::StatusOr<std::vector<FittedRow>> judged = PriceRows(*preset, fit->cluster, others);
    if (!judged.ok()) return judged.status();
    for (const FittedRow& r : *judged) {
      const size_t slash = r.label.find('/');
      const bool host = slash == std::string::npos;  // bound by its launches
      column.rows[static_cast<size_t>(r.measured.line)] = Prediction{
          host ? "host" : r.label.substr(0, slash), host ? "launch" : r.label.substr(slash + 1), r.after_us};
    }
  }
  return column;
}

absl::StatusOr<std::vector<Finding>> CheckCalibrated(const std::vector<MeasuredRow>& rows) {
  std::vector<Finding> findings;
  for (size_t third = 0; third < 3; ++third) {
    const absl::StatusOr<PredictedColumn> column = CalibratedColumn(rows, third);
    if (!column.ok()) return column.status();
    std::vector<double> all;
    for (const auto& [machine, of] : MachinesOf(rows)) {
      std::vector<double> errors;
      for (const size_t i : of) {
        if (column->rows[i]) errors.push_back(std::abs(column->Error(rows, i)));
      }
      if (errors.empty()) continue;
      all.insert(all.end(), errors.begin(), errors.end());
      const double median = Median(errors);
      findings.push_back(
          {absl::StrFormat("calibrated on third %d: %s, %s: median error %.2f %% of %d other rows; "
                           "expected at most 5.5 %%",
                           third + 1, machine.first, machine.second, 100 * median, errors.size()),
           median <= kBound});
    }
    const double median = Median(all);
    findings.push_back({absl::StrFormat("calibrated on third %d: median error %.1f %% of all %d other rows; "
                                        "expected at most 4 %%",
                                        third + 1, 100 * median, all.size()),
                        median <= kBoundOfAll});
  }
  return findings;
}

}  // namespace chakra::validation
