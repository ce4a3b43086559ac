#include "replay/cli/kernels/kernels_print.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "trace/base/printable.h"
#include "trace/base/text_table.h"

namespace chakra::cli {
namespace {

constexpr size_t kNameWidth = 36;
constexpr size_t kShapesWidth = 28;
constexpr size_t kMissingRows = 16;
constexpr size_t kLeftOut = 200;  // maximum number of rows of a group that are checked

// The total time of all runs of a kernel.
double Total(const proto::KernelRow& row) {
  return row.duration_us() * static_cast<double>(std::max<uint64_t>(1, row.count()));
}

std::string Rate(double amount, double us, double unit) {
  return amount > 0 && us > 0 ? absl::StrFormat("%.3g", amount / us / unit) : "-";
}

std::string Spread(const proto::KernelRow& row) {
  if (row.error() > 0) return absl::StrFormat("+-%.0f %%", 100 * row.error());
  if (row.max_us() <= 0 || row.duration_us() <= 0) return "-";
  return absl::StrFormat("%.4g-%.4g", row.min_us(), row.max_us());
}

}  // namespace

std::string PrintKernels(const proto::KernelTable& table, size_t most, TextPage* page) {
  std::vector<int> order(table.row_size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return Total(table.row(a)) > Total(table.row(b)); });
  const size_t cut = order.size() > most ? order.size() - most : 0;
  order.resize(order.size() - cut);
  TextTable text({"name", "shapes", "count", "us", "spread", "TFLOP/s", "GB/s"},
                 {true, true, false, false, false, false, false});
  for (int i : order) {
    const proto::KernelRow& r = table.row(i);
    text.Add({Shorten(r.name(), kNameWidth, "-"), Shorten(r.shapes(), kShapesWidth, "any"),
              r.count() > 0 ? FormatCount(r.count()) : "-", absl::StrFormat("%.5g", r.duration_us()),
              Spread(r), Rate(static_cast<double>(r.operations()), r.duration_us(), 1e6),
              Rate(static_cast<double>(r.bytes()), r.duration_us(), 1e3)});
  }
  std::string out;
  if (!table.device().empty()) absl::StrAppend(&out, "device  ", Printable(table.device()), "\n");
  if (!table.source().empty()) absl::StrAppend(&out, "source  ", Printable(table.source()), "\n");
  absl::StrAppend(&out, text.Print(page));
  if (cut > 0) {
    absl::StrAppend(&out, "  ... and ", FormatCount(cut), " more rows (--rows N; all are in --format csv)\n");
  }
  return out;
}

std::string PrintTableCheck(const std::string& path, const proto::KernelTable& table,
                            const KernelInterpolation& interpolation) {
  std::vector<double> errors;
  for (const auto& ratio : interpolation.LeaveOneOut(kLeftOut)) {
    if (ratio.has_value()) errors.push_back(std::abs(*ratio - 1));
  }
  std::sort(errors.begin(), errors.end());
  std::string out =
      absl::StrCat(path, ": ", FormatCount(static_cast<uint64_t>(table.row_size())), " rows",
                   table.device().empty() ? "" : absl::StrCat(", device ", table.device()), "\n");
  absl::StrAppend(&out, "  interpolation: ", FormatCount(interpolation.grouped()), " rows in ",
                  FormatCount(interpolation.groups()),
                  " group(s) of one name, dtypes and pattern of shapes\n");
  if (errors.empty())
    return absl::StrCat(out, "  with each row left out in turn: no row lies between other rows\n");
  absl::StrAppend(
      &out, "  with each row left out in turn: ", FormatCount(errors.size()),
      absl::StrFormat(" are predicted from the others, off by %.1f %% in the median, %.1f %% at most\n",
                      100 * errors[errors.size() / 2], 100 * errors.back()));
  return out;
}

void Coverage::Add(const Graph& graph, const ComputeTimes& times, uint64_t uses) {
  outside_ += times.outside * uses;
  derived_ += times.derived * uses;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (graph.type[row] != NodeType::kComp || graph.is_kept_comm(row)) continue;
    const TimeSource time_source = times.time_source[row];
    nodes_[static_cast<size_t>(time_source)] += uses;
    if (time_source != TimeSource::kTable && time_source != TimeSource::kInterpolate && !graph.is_cpu(row)) {
      not_in_table_[std::string(graph.name_of(row))] += uses;
    }
  }
}

std::string Coverage::Print(TextPage* page) const {
  TextTable table({"compute time from", "nodes"}, {true, false});
  for (int i = 0; i < kTimeSources; ++i) {
    const auto time_source = static_cast<TimeSource>(i);
    const bool seldom = time_source == TimeSource::kModel || time_source == TimeSource::kRepriced;
    if (seldom && nodes_[i] == 0) continue;
    table.Add({std::string(Name(time_source)), FormatCount(nodes_[i])});
  }
  std::string out = table.Print(page);
  if (outside_ > 0) {
    absl::StrAppend(&out, "  interpolate refused ", FormatCount(outside_),
                    " nodes outside the measured rows\n");
  }
  if (derived_ > 0) {
    absl::StrAppend(&out, "  roofline derived the work of ", FormatCount(derived_),
                    " nodes from their shapes\n");
  }
  std::vector<std::pair<std::string, uint64_t>> missing(not_in_table_.begin(), not_in_table_.end());
  std::stable_sort(missing.begin(), missing.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (missing.empty())
    return absl::StrCat(out, "  every device operation is in the table or between its rows\n");
  absl::StrAppend(&out, "  device operations without a time in the table:\n");
  const size_t n = std::min(missing.size(), kMissingRows);
  for (size_t i = 0; i < n; ++i) {
    absl::StrAppend(&out, "    ", Shorten(missing[i].first, 70, "(no name)"), "  x ",
                    FormatCount(missing[i].second), "\n");
  }
  if (missing.size() > n)
    absl::StrAppend(&out, "    ... and ", FormatCount(missing.size() - n), " more names\n");
  return out;
}

}  // namespace chakra::cli
