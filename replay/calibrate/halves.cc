#include "replay/calibrate/halves.h"

#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_format.h"
#include "replay/calibrate/fit.h"
#include "trace/base/median.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using Table = std::tuple<std::string, CollectiveType, int>;  // file, collective, ranks

Table TableOf(const MeasuredRow& row) { return {row.file, row.type, row.ranks}; }

// By table: the time in place divided by the time out of place, in the median of the sizes that have both.
std::map<Table, double> Ratios(const std::vector<MeasuredRow>& rows) {
  std::map<Table, std::map<uint64_t, std::pair<double, double>>> times;  // by size: out of place, in place
  for (const MeasuredRow& row : rows) {
    auto& [out, in] = times[TableOf(row)][row.bytes];
    (row.in_place ? in : out) = row.time_us;
  }
  std::map<Table, double> ratios;
  for (const auto& [table, sizes] : times) {
    std::vector<double> of;
    for (const auto& [bytes, both] : sizes) {
      if (both.first > 0 && both.second > 0) of.push_back(both.second / both.first);
    }
    if (!of.empty()) ratios[table] = UpperMedian(std::move(of));
  }
  return ratios;
}

// Whether the in-place half is nearer to the prices of `cluster` than the other half.
absl::StatusOr<bool> InPlaceIsNearer(const proto::Cluster& cluster, const Table& table,
                                     const std::vector<MeasuredRow>& rows) {
  std::vector<MeasuredRow> own;
  for (const MeasuredRow& row : rows) {
    if (TableOf(row) == table) own.push_back(row);
  }
  ASSIGN_OR_RETURN(const std::vector<FittedRow> priced, PriceRows(cluster, cluster, own));
  std::vector<double> off[2];  // out of place, in place
  for (const FittedRow& row : priced)
    off[row.measured.in_place ? 1 : 0].push_back(std::abs(std::log(row.before_us / row.measured.time_us)));
  return UpperMedian(off[1]) < UpperMedian(off[0]);
}

std::string Apart(const Table& table, double ratio, bool in_place, bool asked) {
  return absl::StrFormat(
      "%s: %s of %d ranks takes %.3g times as long %s as %s: the two times measure different things (one of "
      "them runs another algorithm, or a copy); only %s is fitted, because it is %s",
      std::get<0>(table), std::string(Name(std::get<1>(table))), std::get<2>(table),
      ratio > 1 ? ratio : 1 / ratio, ratio > 1 ? "in place" : "out of place",
      ratio > 1 ? "out of place" : "in place", in_place ? "in place" : "out of place",
      asked ? "asked for"
            : absl::StrFormat("nearer to the cluster; --half %s fits the other",
                              in_place ? "out-of-place" : "in-place"));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ChooseHalves(const proto::Cluster& cluster,
                                                      std::optional<Half> asked,
                                                      std::vector<MeasuredRow>* rows,
                                                      std::vector<MeasuredRow>* others) {
  std::vector<std::string> told;
  std::map<Table, bool> keep_in_place;
  std::set<Table> apart;
  for (const auto& [table, ratio] : Ratios(*rows)) {
    keep_in_place[table] = asked == Half::kInPlace;
    if (ratio < kHalvesApart && ratio > 1 / kHalvesApart) continue;
    if (!asked) {
      ASSIGN_OR_RETURN(keep_in_place[table], InPlaceIsNearer(cluster, table, *rows));
    }
    apart.insert(table);
    told.push_back(Apart(table, ratio, keep_in_place[table], asked.has_value()));
  }
  std::vector<MeasuredRow> kept;
  for (MeasuredRow& row : *rows) {
    const auto found = keep_in_place.find(TableOf(row));
    if (found == keep_in_place.end() || found->second == row.in_place)
      kept.push_back(std::move(row));
    else if (!apart.contains(found->first))
      others->push_back(std::move(row));
  }
  *rows = std::move(kept);
  return told;
}

}  // namespace chakra
