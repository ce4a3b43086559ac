#include "test/validation/experts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/cluster/load.h"
#include "replay/run/collective_table.h"
#include "test/validation/csv_line.h"
#include "trace/base/median.h"

namespace chakra::validation {
namespace {

constexpr int kNode = 8;  // GPUs
constexpr double kMostExpertsMedian = 0.10;

// How the names of machines in the table begin, with their presets.
constexpr std::pair<const char*, const char*> kExpertPresets[] = {
    {"H800", "dgx-h800"}, {"SM90", "dgx-h100"}, {"SM100", "dgx-b200"}};

// The expected number of `places` that hold the `topk` random experts of a token.
double Distinct(int places, int topk) { return places * (1 - std::pow(1 - 1.0 / places, topk)); }

// The bytes of a token: FP8 with a scale for each 128 values, and its index (deepseek-ai/DeepEP, tests);
// BF16.
double TokenBytes(const std::string& op, int hidden) {
  return absl::StrContains(op, "FP8") ? hidden + hidden / 128 * 4 + 16 : hidden * 2;
}

// The time of an all-to-all with `bytes` for each of `ranks`.
absl::StatusOr<double> Price(const ExpertsRow& row, const std::string& rule, int ranks, double bytes) {
  const absl::StatusOr<proto::Cluster> cluster = LoadCluster(row.preset);
  if (!cluster.ok()) return cluster.status();
  TableOptions options;
  options.type = CollectiveType::kAllToAll;
  options.ranks = ranks;
  options.algorithm = rule;
  absl::StatusOr<CollectiveTable> table = CollectiveTable::Make(*cluster, options);
  if (!table.ok()) return table.status();
  const absl::StatusOr<TableRow> priced = table->Price(static_cast<uint64_t>(bytes));
  if (!priced.ok()) return priced.status();
  return priced->device_us - cluster->collectives().library().kernel_gap_us();
}

absl::StatusOr<ExpertsRow> RowOf(const CsvLine& line) {
  ExpertsRow row;
  int tokens = 0, hidden = 0, topk = 0;
  double rate = 0;
  for (const absl::Status& s :
       {line.Read("kernel", &row.kernel), line.Read("gpu_nic", &row.machine), line.Read("op", &row.op),
        line.Read("ep_size", &row.ranks), line.Read("tokens_per_rank", &tokens), line.Read("hidden", &hidden),
        line.Read("topk", &topk), line.Read("bottleneck_GBps", &rate)}) {
    if (!s.ok()) return s;
  }
  for (const auto& [begin, preset] : kExpertPresets) {
    if (absl::StartsWith(row.machine, begin)) row.preset = preset;
  }
  if (row.preset.empty()) return line.Error("gpu_nic", "names no machine that has a preset");
  // A token goes to each of its experts, or once to each rank of a node, or once to each node.
  const bool low_latency = row.kernel == "low-latency";
  const double copies = low_latency          ? topk
                        : row.ranks <= kNode ? Distinct(row.ranks, topk)
                                             : Distinct(row.ranks / kNode, topk);
  row.rule = low_latency ? "deepep_low_latency" : "deepep";
  row.bytes = std::round(tokens * copies * TokenBytes(row.op, hidden));
  row.measured_us = row.bytes / (rate * 1e3);
  absl::StatusOr<std::string> latency = line.Text("latency_us");
  if (!latency.ok()) return latency.status();
  if (!latency->empty()) {
    if (absl::Status s = line.Read("latency_us", &row.measured_us); !s.ok()) return s;
  }
  const absl::StatusOr<double> library = Price(row, "auto", row.ranks, row.bytes),
                               kernel = Price(row, row.rule, row.ranks, row.bytes);
  if (!library.ok()) return library.status();
  if (!kernel.ok()) return kernel.status();
  row.library_us = *library;
  row.kernel_us = *kernel;
  if (low_latency || row.ranks <= kNode) return row;
  // From the first GPU of a node, tokens of all nodes continue over NVLink as they arrive, once to each rank.
  const absl::StatusOr<double> inside = Price(
      row, row.rule, kNode, std::round(tokens * Distinct(row.ranks, topk) * TokenBytes(row.op, hidden)));
  if (!inside.ok()) return inside.status();
  row.kernel_us = std::max(row.kernel_us, *inside);
  return row;
}

double ExpertsError(const ExpertsRow& row, double us) { return us / row.measured_us - 1; }

// The median error of the rows of `kernel`; of all rows if `kernel` is empty.
double MedianOfExperts(const std::vector<ExpertsRow>& rows, const std::string& kernel, bool library) {
  std::vector<double> errors;
  for (const ExpertsRow& r : rows) {
    if (kernel.empty() || r.kernel == kernel)
      errors.push_back(std::abs(ExpertsError(r, library ? r.library_us : r.kernel_us)));
  }
  return Median(std::move(errors));
}

}  // namespace

absl::StatusOr<std::vector<ExpertsRow>> PredictExperts(const std::string& csv) {
  std::vector<ExpertsRow> rows;
  const absl::Status read = ForEachLine(csv, [&](const CsvLine& line) -> absl::Status {
    absl::StatusOr<ExpertsRow> row = RowOf(line);
    if (!row.ok()) return row.status();
    rows.push_back(*std::move(row));
    return absl::OkStatus();
  });
  if (!read.ok()) return read;
  return rows;
}

std::string ExpertsMarkdown(const std::vector<ExpertsRow>& rows) {
  std::string out =
      "\n# Dispatch and combine of experts\n\n"
      "DeepEP (`moe_all2all_deepep.csv`) against the library's own all_to_all of the same bytes, and against "
      "`deepep` and\n`deepep_low_latency`, kernels of all_to_all that a rule asks for. low-latency: measured "
      "times; the base and the share\nof the card are fitted on these 12 rows, the share of NVLink is what "
      "DeepEP calls usable. Others: times from published\nbandwidths, bytes by experts chosen at random; the "
      "shares are fitted on `normal`, 8, 32 and 64 GPUs, nothing on V2.\nBetween nodes the longer counts: "
      "once to each node over the network, and once to each rank from its node's first GPU over NVLink,\nas "
      "generated steps have both (`parallel.dispatcher`).\n\n"
      "| kernels | rows | median \\|error\\| of the library's all_to_all | of DeepEP's kernel |\n"
      "|---|---|---|---|\n";
  for (const char* kernel : {"", "low-latency", "normal", "V2"}) {
    const auto count = std::count_if(
        rows.begin(), rows.end(), [&](const ExpertsRow& r) { return *kernel == '\0' || r.kernel == kernel; });
    absl::StrAppendFormat(&out, "| %s | %d | %.1f %% | %.1f %% |\n", *kernel == '\0' ? "all" : kernel, count,
                          100 * MedianOfExperts(rows, kernel, true),
                          100 * MedianOfExperts(rows, kernel, false));
  }
  absl::StrAppend(
      &out,
      "\n| kernel | machine | preset | GPUs | what | MB | measured | library | error | DeepEP's | "
      "error |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const ExpertsRow& r : rows) {
    const std::string machine =
        r.machine.substr(0, std::min(r.machine.find(','), r.machine.find(" (NVLink")));
    absl::StrAppendFormat(
        &out, "| %s | %s | %s | %d | %s | %.1f | %.0f us | %.0f us | %+.1f %% | %.0f us | %+.1f %% |\n",
        r.kernel, machine, r.preset, r.ranks, r.op, r.bytes * 1e-6, r.measured_us, r.library_us,
        100 * ExpertsError(r, r.library_us), r.kernel_us, 100 * ExpertsError(r, r.kernel_us));
  }
  return out;
}

std::vector<Finding> CheckExperts(const std::vector<ExpertsRow>& rows) {
  std::vector<Finding> findings;
  for (const char* kernel : {"", "low-latency", "normal", "V2"}) {
    const double median = MedianOfExperts(rows, kernel, false);
    findings.push_back(
        {absl::StrFormat("experts, %s: median |error| %.1f %%; expected at most %.0f %%",
                         *kernel == '\0' ? "all" : kernel, 100 * median, 100 * kMostExpertsMedian),
         !rows.empty() && median <= kMostExpertsMedian});
  }
  return findings;
}

}  // namespace chakra::validation
