#include "replay/report/communication.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/report/row_table.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"

namespace chakra {
namespace {

constexpr size_t kRows = 16;

// Whether the bytes of the calls are unknown. Barriers carry no bytes.
bool Sizeless(absl::string_view kind, uint64_t bytes) { return bytes == 0 && kind != "barrier"; }

// Groups that differ only in their ranks, as one row with the means of their times.
struct Alike {
  proto::CollectiveReport row;
  int64_t groups = 0;
};

// The algorithm of most instances, and the number of other algorithms.
std::string AlgorithmName(const proto::CollectiveReport& c) {
  if (c.chosen_size() == 0) return c.algorithm().empty() ? "-" : c.algorithm();
  const auto most = std::max_element(
      c.chosen().begin(), c.chosen().end(),
      [](const proto::ChosenAlgorithm& a, const proto::ChosenAlgorithm& b) { return a.count() < b.count(); });
  return absl::StrCat(most->algorithm(),
                      c.chosen_size() > 1 ? absl::StrCat(" + ", c.chosen_size() - 1, " more") : "");
}

std::string GroupName(const proto::CollectiveReport& c) {
  return Shorten(c.group(), 20, c.kind() == "send_recv" ? "-" : "(all)");
}

void TakeMeans(Alike* a) {
  proto::CollectiveReport& c = a->row;
  const double bus = c.algbw_gbytes_per_s() > 0 ? c.busbw_gbytes_per_s() / c.algbw_gbytes_per_s() : 0;
  c.set_time_ps(c.time_ps() / a->groups);
  c.set_wait_ps(c.wait_ps() / a->groups);
  c.set_recorded_ps(c.recorded_ps() / a->groups);
  if (c.time_ps() > 0) {
    const double rate = static_cast<double>(c.bytes()) / static_cast<double>(c.time_ps()) * 1e3;
    c.set_algbw_gbytes_per_s(rate);
    c.set_busbw_gbytes_per_s(rate * bus);
  }
  if (c.simulated_to_recorded() > 0 && c.recorded_ps() > 0)
    c.set_simulated_to_recorded(static_cast<double>(c.time_ps()) / static_cast<double>(c.recorded_ps()));
}

// Merges groups of the same kind, dimension, size, number of calls, bytes and algorithm into one row; the
// longest first.
std::vector<Alike> MergeAlike(const proto::Report& r) {
  using Key = std::tuple<std::string, std::string, int, uint64_t, uint64_t, std::string, uint64_t>;
  std::map<Key, Alike> merged;
  for (const proto::CollectiveReport& c : r.collective()) {
    Alike& a = merged[{c.kind(), c.dimension(), c.ranks(), c.count(), c.bytes(), AlgorithmName(c),
                       c.recorded_count()}];
    if (++a.groups == 1) {
      a.row = c;
      continue;
    }
    a.row.set_time_ps(a.row.time_ps() + c.time_ps());
    a.row.set_wait_ps(a.row.wait_ps() + c.wait_ps());
    a.row.set_recorded_ps(a.row.recorded_ps() + c.recorded_ps());
  }
  std::vector<Alike> rows;
  for (auto& [key, a] : merged) {
    if (a.groups > 1) TakeMeans(&a);
    rows.push_back(std::move(a));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Alike& a, const Alike& b) { return a.row.time_ps() > b.row.time_ps(); });
  return rows;
}

// The sum over all groups of a kind along a dimension.
struct Sum {
  std::string kind, dimension;
  int64_t groups = 0, time_ps = 0, wait_ps = 0;  // times are sums over all groups
  uint64_t count = 0, bytes = 0;
  int least_ranks = 0, most_ranks = 0;
  int64_t mean_ps() const { return time_ps / groups; }
};

std::vector<Sum> SumsOf(const proto::Report& r) {
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const proto::CollectiveReport& c : r.collective()) {
    Sum& s = sums[{c.kind(), c.dimension()}];
    s.kind = c.kind();
    s.dimension = c.dimension();
    s.least_ranks = s.groups == 0 ? c.ranks() : std::min(s.least_ranks, c.ranks());
    s.most_ranks = std::max(s.most_ranks, c.ranks());
    ++s.groups;
    s.count += c.count();
    s.bytes += c.bytes();
    s.time_ps += c.time_ps();
    s.wait_ps += c.wait_ps();
  }
  std::vector<Sum> rows;
  for (auto& [key, sum] : sums) rows.push_back(std::move(sum));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Sum& a, const Sum& b) { return a.mean_ps() > b.mean_ps(); });
  return rows;
}

std::string PrintSums(const std::vector<Sum>& sums, TextPage* page) {
  TextTable table({"kind", "dimension", "groups", "ranks", "count", "bytes", "time a group", "wait a group"},
                  {true, true, false, false, false, false, false, false});
  for (size_t i = 0; i < std::min(sums.size(), kRows); ++i) {
    const Sum& s = sums[i];
    std::string ranks = s.most_ranks == 0 ? "-" : absl::StrCat(s.most_ranks);
    if (s.least_ranks != s.most_ranks) ranks = absl::StrCat(s.least_ranks, "-", s.most_ranks);
    table.Add({s.kind, Shorten(s.dimension, 24, "-"), FormatCount(static_cast<uint64_t>(s.groups)), ranks,
               FormatCount(s.count), Sizeless(s.kind, s.bytes) ? "-" : FormatBytes(s.bytes),
               PsText(s.mean_ps()), PsText(s.wait_ps / s.groups)});
  }
  return absl::StrCat(
      "\nCommunication by kind and dimension of the split\n", table.Print(page),
      MoreRows(static_cast<int64_t>(sums.size()) - static_cast<int64_t>(kRows), "kinds and dimensions"));
}

std::string PrintRows(const proto::Report& r, const std::vector<Alike>& rows, TextPage* page) {
  const auto groups = [&rows](const proto::CollectiveReport& c) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&c](const Alike& a) { return &a.row == &c; });
    return FormatCount(static_cast<uint64_t>(at->groups));
  };
  const bool recorded = std::any_of(r.collective().begin(), r.collective().end(),
                                    [](const proto::CollectiveReport& c) { return c.recorded_count() > 0; });
  const bool several = std::any_of(rows.begin(), rows.end(), [](const Alike& a) { return a.groups > 1; });
  RowTable<proto::CollectiveReport> table;
  table.Show("group", GroupName).Show("algorithm", AlgorithmName).Without(recorded ? "rates" : "recorded");
  const auto sized = [](std::string (*cell)(const proto::CollectiveReport& c)) {
    return [cell](const proto::CollectiveReport& c) {
      return Sizeless(c.kind(), c.bytes()) ? std::string("-") : cell(c);
    };
  };
  table.Show("bytes", sized([](const proto::CollectiveReport& c) { return FormatBytes(c.bytes()); }));
  if (!recorded) {
    table
        .Show("algbw_gbytes_per_s", sized([](const proto::CollectiveReport& c) {
                return absl::StrFormat("%.2f", c.algbw_gbytes_per_s());
              }))
        .Show("busbw_gbytes_per_s", sized([](const proto::CollectiveReport& c) {
                return absl::StrFormat("%.2f", c.busbw_gbytes_per_s());
              }));
  }
  if (several) table.Insert(25, "groups", false, groups);
  table.Show("ranks", [](const proto::CollectiveReport& c) {
    return c.ranks() > 0 ? FormatCount(static_cast<uint64_t>(c.ranks())) : std::string("-");
  });
  if (recorded) {
    table
        .Show("recorded_ps",
              [](const proto::CollectiveReport& c) {
                return c.recorded_count() == 0 ? "-" : PsText(c.recorded_ps());
              })
        .Show("simulated_to_recorded", [](const proto::CollectiveReport& c) {
          return c.simulated_to_recorded() == 0 ? "-" : absl::StrFormat("%.3f", c.simulated_to_recorded());
        });
  }
  for (size_t i = 0; i < std::min(rows.size(), kRows); ++i) table.Add(rows[i].row);
  return absl::StrCat(
      "\nCommunication, the longest first (",
      several ? "symmetric groups share a row, with mean values; " : "",
      recorded ? "ratio: simulated time to recorded" : "algbw, busbw in GB/s", ")\n", table.Print(page),
      MoreRows(static_cast<int64_t>(rows.size()) - static_cast<int64_t>(kRows), "kinds and groups"));
}

}  // namespace

std::string GroupDimension(absl::string_view group, const std::vector<int>& ranks) {
  if (group.empty()) return "all ranks";
  const size_t slash = group.rfind('/');
  const absl::string_view job = slash == absl::string_view::npos ? "" : group.substr(0, slash + 1);
  absl::string_view own = group.substr(job.size());
  own = own.substr(0, own.find_last_not_of("0123456789:._-") + 1);
  if (!own.empty() && std::none_of(own.begin(), own.end(), absl::ascii_isdigit))
    return absl::StrCat(job, own);
  if (ranks.empty()) return "";
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  const int apart = sorted.size() < 2 ? 0 : sorted[1] - sorted[0];
  bool even = apart > 0;
  for (size_t i = 1; i < sorted.size(); ++i) even = even && sorted[i] - sorted[i - 1] == apart;
  return absl::StrCat(job, ranks.size(), ranks.size() == 1 ? " rank" : " ranks",
                      even ? absl::StrCat(", ", apart, " apart") : "");
}

std::string MoreRows(int64_t rest, absl::string_view what) {
  if (rest <= 0) return "";
  return absl::StrCat("  ... and ", FormatCount(static_cast<uint64_t>(rest)), " more ", what,
                      " (all are in --format json)\n");
}

std::string PrintCommunication(const proto::Report& r, TextPage* page) {
  if (r.collective_size() == 0) return "";
  const std::vector<Alike> rows = MergeAlike(r);
  const std::vector<Sum> sums = SumsOf(r);
  return absl::StrCat(sums.size() < rows.size() ? PrintSums(sums, page) : "", PrintRows(r, rows, page));
}

}  // namespace chakra
