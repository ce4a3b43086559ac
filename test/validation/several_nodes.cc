#include "test/validation/several_nodes.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/cluster/load.h"
#include "replay/run/collective_table.h"
#include "test/validation/measured.h"
#include "trace/base/median.h"

namespace chakra::validation {
namespace {

constexpr int kRanks = 32;
constexpr uint64_t kKiB = 1024;
constexpr uint64_t kLinks = 64 * kKiB * kKiB;  // from here on the links decide
constexpr double kMostMedian = 0.10;

struct Measured {
  uint64_t kib;
  double busbw;  // GB/s
};

// stas00/ml-engineering, network/benchmarks/README.md, all_reduce_bench.py on 4 nodes of 8 B200 (AWS P6), up
// to 10 calls in a row.
constexpr Measured kMeasured[] = {{32, 0.65},        {64, 1.27},        {128, 2.35},       {256, 4.06},
                                  {512, 6.99},       {1024, 12.47},     {2048, 20.79},     {4096, 31.63},
                                  {8192, 50.61},     {16384, 71.80},    {32768, 142.90},   {65536, 197.77},
                                  {131072, 260.50},  {262144, 283.23},  {524288, 309.91},  {1 << 20, 365.99},
                                  {1 << 21, 371.26}, {1 << 22, 374.66}, {1 << 23, 376.14}, {1 << 24, 376.71}};

absl::StatusOr<CollectiveTable> TableOf(const char* preset) {
  absl::StatusOr<proto::Cluster> cluster = LoadCluster(preset);
  if (!cluster.ok()) return cluster.status();
  TableOptions options;
  options.ranks = kRanks;
  return CollectiveTable::Make(*cluster, options);
}

double Error(const NodesRow& row, double us) { return us / row.measured_us - 1; }

}  // namespace

absl::StatusOr<std::vector<NodesRow>> PredictSeveralNodes() {
  absl::StatusOr<CollectiveTable> preset = TableOf("dgx-b200");
  if (!preset.ok()) return preset.status();
  absl::StatusOr<CollectiveTable> efa = TableOf("aws-p6-b200");
  if (!efa.ok()) return efa.status();
  std::vector<NodesRow> rows;
  for (const Measured& m : kMeasured) {
    NodesRow row;
    row.bytes = m.kib * kKiB;
    row.measured_us = static_cast<double>(row.bytes) * 2 * (kRanks - 1) / kRanks / (m.busbw * 1e3);
    const absl::StatusOr<TableRow> priced = preset->Price(row.bytes), with_efa = efa->Price(row.bytes);
    if (!priced.ok()) return priced.status();
    if (!with_efa.ok()) return with_efa.status();
    row.preset_us = priced->time_us;
    row.efa_us = with_efa->time_us;
    row.algorithm = absl::StrCat(priced->algorithm, "/", priced->protocol);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string SeveralNodesMarkdown(const std::vector<NodesRow>& rows) {
  std::string out =
      "\n# Four nodes\n\nAll-reduce on 4 nodes of 8 B200 (stas00/ml-engineering, network/benchmarks; AWS P6, EFA cards of "
      "400 Gb/s) against\n`dgx-b200`, whose cards are InfiniBand's, and `aws-p6-b200`, whose transport (efa-v4) was fitted on "
      "these rows among others.\n\n"
      "| size | measured | dgx-b200 | with | error | aws-p6-b200 | error |\n|---|---|---|---|---|---|---|\n";
  for (const NodesRow& r : rows) {
    absl::StrAppendFormat(&out, "| %s | %.1f us | %.1f us | %s | %+.1f %% | %.1f us | %+.1f %% |\n",
                          SizeText(r.bytes), r.measured_us, r.preset_us, r.algorithm,
                          100 * Error(r, r.preset_us), r.efa_us, 100 * Error(r, r.efa_us));
  }
  return out;
}

std::vector<Finding> CheckSeveralNodes(const std::vector<NodesRow>& rows) {
  std::vector<double> errors;
  for (const NodesRow& r : rows) {
    if (r.bytes >= kLinks) errors.push_back(std::abs(Error(r, r.preset_us)));
  }
  const double median = Median(errors);
  return {{absl::StrFormat(
               "four nodes of B200, from 64 MiB: median |error| %.1f %% of %d rows; expected at most %.0f %%",
               100 * median, errors.size(), 100 * kMostMedian),
           !errors.empty() && median <= kMostMedian}};
}

}  // namespace chakra::validation
