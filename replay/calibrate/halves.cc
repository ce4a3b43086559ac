#include "replay/calibrate/halves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "absl/strings/str_format.h"
#include "replay/calibrate/fit.h"

namespace chakra {
namespace {

using Table = std::tuple<std::string, CollectiveType, int>;  // file, collective, ranks

Table TableOf(const MeasuredRow& row) { return {row.file, row.type, row.ranks}; }

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// In place over out of place, in the median of the lines that have both.
std::map<Table, double> Ratios(const std::vector<MeasuredRow>& rows) {
  std::map<Table, std::map<int, std::pair<double, double>>> times;  // by line: out of place, in place
  for (const MeasuredRow& row : rows) {
    auto& [out, in] = times[TableOf(row)][row.line];
    (row.in_place ? in : out) = row.time_us;
  }
  std::map<Table, double> ratios;
  for (const auto& [table, lines] : times) {
    std::vector<double> of;
    for (const auto& [line, both] : lines) {
      if (both.first > 0 && both.second > 0) of.push_back(both.second / both.first);
    }
    if (!of.empty()) ratios[table] = Median(std::move(of));
  }
  return ratios;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ChooseHalves(const proto::Cluster& cluster,
                                                      std::vector<MeasuredRow>* rows) {
  std::vector<std::string> told;
  std::map<Table, bool> keep_in_place;
  for (const auto& [table, ratio] : Ratios(*rows)) {
    if (ratio < kHalvesApart && ratio > 1 / kHalvesApart) continue;
    std::vector<MeasuredRow> own;
    for (const MeasuredRow& row : *rows) {
      if (TableOf(row) == table) own.push_back(row);
    }
    const absl::StatusOr<std::vector<FittedRow>> priced = PriceRows(cluster, cluster, own);
    if (!priced.ok()) return priced.status();
    std::vector<double> off[2];  // out of place, in place
    for (const FittedRow& row : *priced)
      off[row.measured.in_place ? 1 : 0].push_back(std::abs(std::log(row.before_us / row.measured.time_us)));
    const bool in_place = Median(off[1]) < Median(off[0]);
    keep_in_place[table] = in_place;
    told.push_back(
        absl::StrFormat("%s: %s of %d ranks takes %.3g times as long %s as %s: the two measure different "
                        "things (an algorithm of its "
                        "own runs in one of them, or a copy); only %s is fitted, which is nearer to the "
                        "cluster; cut the other's "
                        "columns off to fit it",
                        std::get<0>(table), std::string(Name(std::get<1>(table))), std::get<2>(table),
                        ratio > 1 ? ratio : 1 / ratio, ratio > 1 ? "in place" : "out of place",
                        ratio > 1 ? "out of place" : "in place", in_place ? "in place" : "out of place"));
  }
  rows->erase(std::remove_if(rows->begin(), rows->end(),
                             [&](const MeasuredRow& row) {
                               const auto kept = keep_in_place.find(TableOf(row));
                               return kept != keep_in_place.end() && kept->second != row.in_place;
                             }),
              rows->end());
  return told;
}

}  // namespace chakra
