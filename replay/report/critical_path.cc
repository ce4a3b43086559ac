#include "replay/report/critical_path.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/report/row_table.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"

namespace chakra {
namespace {

constexpr int kPathRows = 8;
constexpr double kApart = 0.05;  // share of a gain; beyond it, the text says that the measured gain differs

std::string Table(const std::string& what, const google::protobuf::RepeatedPtrField<proto::PathShare>& rows,
                  TextPage* page) {
  if (rows.empty()) return "";
  RowTable<proto::PathShare> table;
  table.Title("name", what);
  for (int i = 0; i < std::min(kPathRows, rows.size()); ++i) table.Add(rows[i]);
  const int rest = rows.size() - kPathRows;
  return absl::StrCat("\n", table.Print(page),
                      rest > 0 ? absl::StrCat("  ... and ", rest, " more (all are in --format json)\n") : "");
}

std::string Sensitivities(const proto::CriticalPathReport& path, TextPage* page) {
  if (path.sensitivity().empty()) return "";
  const bool measured = std::any_of(path.sensitivity().begin(), path.sensitivity().end(),
                                    [](const proto::Sensitivity& s) { return s.measured(); });
  RowTable<proto::Sensitivity> table;
  if (measured) {
    table.Show("measured_ps", [](const proto::Sensitivity& s) {
      return s.measured() ? FormatTime(Time::Picos(s.measured_ps())) : "-";
    });
  } else {
    table.Without("measured");
  }
  for (int i = 0; i < std::min(kPathRows, path.sensitivity_size()); ++i) table.Add(path.sensitivity(i));
  // Gains below 1e-5 of the makespan are ignored.
  const bool apart = std::any_of(path.sensitivity().begin(), path.sensitivity().end(), [](const auto& s) {
    return s.measured() && s.gain() > 1e-5 &&
           std::abs(s.measured_ps() - s.gain_ps()) >
               static_cast<int64_t>(kApart * static_cast<double>(s.gain_ps()));
  });
  return absl::StrCat(
      "\nMaximum gain of a change, if this path stays the longest\n", table.Print(page),
      apart ? "  measured differs where other paths are nearly as long, and where messages share "
              "links: a small change may move all later nodes, in either direction\n"
            : "");
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

// Late ranks: others waited for them in collectives, and they waited at least 1 % of the makespan less than
// the median of similar ranks. A rank that is last because of the schedule of its stage is not late, since
// similar ranks are last too. Similar ranks have the same number of nodes; if any rank has a number of its
// own, all ranks count as similar.
std::vector<const proto::RankReport*> LateRanks(const proto::Report& report) {
  std::map<uint64_t, std::vector<double>> waits;
  std::vector<double> all;
  for (const proto::RankReport& r : report.rank()) {
    waits[r.nodes()].push_back(static_cast<double>(r.waited_ps()));
    all.push_back(static_cast<double>(r.waited_ps()));
  }
  const bool alone =
      std::any_of(waits.begin(), waits.end(), [](const auto& w) { return w.second.size() == 1; });
  std::map<uint64_t, double> medians;
  for (const auto& [nodes, of] : waits) medians[nodes] = Median(alone ? all : of);
  std::vector<const proto::RankReport*> ranks;
  for (const proto::RankReport& r : report.rank()) {
    const double less = medians[r.nodes()] - static_cast<double>(r.waited_ps());
    if (r.kept_waiting_ps() > 0 && less >= static_cast<double>(report.makespan_ps()) / 100)
      ranks.push_back(&r);
  }
  return ranks;
}

std::string Stragglers(const proto::Report& report, TextPage* page) {
  std::vector<const proto::RankReport*> ranks = LateRanks(report);
  if (ranks.empty()) return "";
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const auto* a, const auto* b) { return a->kept_waiting_ps() > b->kept_waiting_ps(); });
  RowTable<proto::RankReport> table("stragglers");
  table.Left("rank");
  for (size_t i = 0; i < std::min<size_t>(kPathRows, ranks.size()); ++i) table.Add(*ranks[i]);
  return absl::StrCat("\nStragglers: last to arrive at collectives\n", table.Print(page));
}

}  // namespace

std::string PrintCriticalPath(const proto::Report& report, TextPage* page) {
  if (!report.has_critical_path()) return "";
  const proto::CriticalPathReport& path = report.critical_path();
  return absl::StrCat("\nCritical path, of ", FormatCount(path.stretches()), " stretches",
                      Table("what takes the time", path.cause(), page), Table("where", path.lane(), page),
                      Table("operator", path.operator_(), page), Table("collective", path.collective(), page),
                      Table("links", path.link(), page), Sensitivities(path, page), Stragglers(report, page));
}

}  // namespace chakra
