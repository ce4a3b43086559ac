#include "test/validation/public_figures.h"

#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/cluster/load.h"
#include "replay/collectives/accounting.h"
#include "replay/collectives/registry.h"
#include "replay/run/collective_table.h"
#include "test/validation/measured.h"
#include "trace/base/median.h"

namespace chakra::validation {
namespace {

constexpr double kKiB = 1024;
constexpr double kMostMedian = 0.10, kMostOfSource = 0.15;

struct Figure {
  double kib;
  double value;  // us, or GB/s of bus bandwidth
};

struct Source {
  const char* preset;
  const char* collective;
  int ranks;
  bool busbw;  // the values are bus bandwidths; otherwise times
  const char* from;
  std::vector<Figure> figures;
};

constexpr const char* kMlEngineering = "stas00/ml-engineering, network, NCCL 2.30.7";
constexpr const char* kMlEngineeringOld = "stas00/ml-engineering, network, NCCL 2.27.7";

const std::vector<Source>& Sources() {
  static const auto* sources = new std::vector<Source>{
      {"dgx-h100",
       "all_reduce",
       4,
       false,
       "vllm-project/vllm#24532, pynccl",
       {{512, 21}, {1024, 23}, {1536, 25}, {2048, 28}, {3072, 33}, {4096, 39}}},
      {"dgx-h100",
       "all_reduce",
       6,
       false,
       "vllm-project/vllm#24111, pynccl",
       {{512, 23}, {1024, 25}, {1536, 32}, {2048, 43}, {3072, 47}, {4096, 53}}},
      {"dgx-h100",
       "all_reduce",
       8,
       false,
       "vllm-project/vllm#42324, pynccl",
       {{512, 24},
        {1024, 25},
        {1536, 33},
        {2048, 37},
        {3072, 44},
        {4096, 50},
        {8192, 76},
        {16384, 121},
        {32768, 195},
        {65536, 316},
        {131072, 561}}},
      {"dgx-h200",
       "all_reduce",
       8,
       true,
       kMlEngineering,
       {{32, 3.20},        {64, 6.26},        {128, 12.40},      {256, 24.63},      {512, 48.30},
        {1024, 72.45},     {2048, 91.48},     {4096, 139.97},    {8192, 182.03},    {16384, 242.45},
        {32768, 298.44},   {65536, 369.82},   {131072, 411.21},  {262144, 442.27},  {524288, 455.82},
        {1 << 20, 464.00}, {1 << 21, 468.31}, {1 << 22, 473.10}, {1 << 23, 475.16}, {1 << 24, 480.70}}},
      {"dgx-h200", "all_gather", 8, true, kMlEngineeringOld, {{1 << 24, 361.4}}},
      {"dgx-h200", "reduce_scatter", 8, true, kMlEngineeringOld, {{1 << 24, 362.9}}},
      {"dgx-b200",
       "all_reduce",
       2,
       false,
       "vllm-project/vllm#42324, pynccl",
       {{512, 13}, {1024, 17}, {1536, 19}}},
      {"dgx-b200", "all_reduce", 4, true, kMlEngineeringOld, {{1 << 23, 673.2}}},
      {"dgx-b200", "all_reduce", 6, true, kMlEngineeringOld, {{1 << 23, 778.2}}},
      {"dgx-b200", "all_reduce", 7, true, kMlEngineeringOld, {{1 << 23, 811.2}}},
      {"dgx-b200",
       "all_reduce",
       8,
       true,
       kMlEngineering,
       {{32, 2.17},        {64, 3.95},        {128, 8.07},       {256, 15.57},      {512, 29.07},
        {1024, 58.54},     {2048, 104.27},    {4096, 127.85},    {8192, 195.60},    {16384, 294.36},
        {32768, 362.00},   {65536, 419.98},   {131072, 591.14},  {262144, 658.63},  {524288, 703.38},
        {1 << 20, 721.37}, {1 << 21, 739.47}, {1 << 22, 749.12}, {1 << 23, 832.48}, {1 << 24, 838.97}}},
      {"dgx-b300",
       "all_reduce",
       4,
       true,
       "an experiment on interference of 2026-03-11 with NCCL 2.29.7",
       {{4096, 150.41}, {8192, 254.66}, {16384, 259.00}, {32768, 420.04}, {65536, 559.04}, {131072, 575.96}}},
      {"gb200-nvl72",
       "all_reduce",
       72,
       false,
       "coreweave/nccl-tests#43",
       {{524288, 1806.7}, {1 << 20, 3108.8}, {1 << 21, 5589.1}, {1 << 22, 10094}, {1 << 23, 20299}}},
  };
  return *sources;
}

absl::StatusOr<CollectiveTable> FigureTable(const Source& source) {
  const absl::StatusOr<proto::Cluster> cluster = LoadCluster(source.preset);
  if (!cluster.ok()) return cluster.status();
  TableOptions options;
  options.ranks = source.ranks;
  const std::optional<CollectiveType> type = CollectiveNamed(source.collective);
  if (!type) return absl::InvalidArgumentError(absl::StrCat("no collective \"", source.collective, "\""));
  options.type = *type;
  return CollectiveTable::Make(*cluster, options);
}

double MeasuredUs(const Source& source, const Figure& figure) {
  if (!source.busbw) return figure.value;
  return figure.kib * kKiB * BusFactor(source.collective, source.ranks) / (figure.value * 1e3);
}

double FigureError(const PublicRow& row) { return row.predicted_us / row.measured_us - 1; }

std::string Text(const Source& s) { return absl::StrCat(s.preset, ", ", s.ranks, " GPUs, ", s.collective); }

// The medians of the absolute errors and of the errors.
std::pair<double, double> FigureMedians(const std::vector<PublicRow>& rows, std::optional<int> source) {
  std::vector<double> signed_errors, errors;
  for (const PublicRow& row : rows) {
    if (source && row.source != *source) continue;
    signed_errors.push_back(FigureError(row));
    errors.push_back(std::abs(FigureError(row)));
  }
  return {Median(errors), Median(signed_errors)};
}

}  // namespace

absl::StatusOr<std::vector<PublicRow>> PredictPublicFigures() {
  std::vector<PublicRow> rows;
  for (const Source& source : Sources()) {
    absl::StatusOr<CollectiveTable> table = FigureTable(source);
    if (!table.ok()) return table.status();
    for (const Figure& figure : source.figures) {
      PublicRow row;
      row.preset = source.preset;
      row.collective = source.collective;
      row.ranks = source.ranks;
      row.bytes = static_cast<uint64_t>(figure.kib * kKiB);
      row.measured_us = MeasuredUs(source, figure);
      row.source = static_cast<int>(&source - Sources().data());
      const absl::StatusOr<TableRow> priced = table->Price(row.bytes);
      if (!priced.ok()) return priced.status();
      row.predicted_us = priced->time_us;
      row.algorithm = absl::StrCat(priced->algorithm, "/", priced->protocol);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string PublicFiguresMarkdown(const std::vector<PublicRow>& rows) {
  std::string out =
      "\n# Public figures of one NVLink domain\n\n"
      "Collectives on machines and sizes that `nccl_one_node.csv` has not. From 4 MiB on 8 B200 the base and "
      "the "
      "link's\nshare of `nvls` are fitted on the rows here, so is where 4 B300 leave LL128, and of the table "
      "of chunks by "
      "which a channel of\n`nvls` carries its data (`NvlsChannelFor`): its rows from 128 KiB on, and the one "
      "above 4 GiB. Nothing else is. pynccl: calls of vLLM's\nbenchmark in a CUDA graph, whole "
      "microseconds.\n\n"
      "| machine | source | rows | median \\|error\\| | signed |\n|---|---|---|---|---|\n";
  const auto line = [&](const std::string& head, size_t count, std::pair<double, double> medians) {
    absl::StrAppendFormat(&out, "| %s | %d | %.1f %% | %+.1f %% |\n", head, count, 100 * medians.first,
                          100 * medians.second);
  };
  line("all | all", rows.size(), FigureMedians(rows, std::nullopt));
  for (size_t i = 0; i < Sources().size(); ++i) {
    const Source& s = Sources()[i];
    line(absl::StrCat(Text(s), " | ", s.from), s.figures.size(), FigureMedians(rows, static_cast<int>(i)));
  }
  absl::StrAppend(&out,
                  "\n| machine | GPUs | collective | size | measured | predicted | with | error |\n"
                  "|---|---|---|---|---|---|---|---|\n");
  for (const PublicRow& r : rows) {
    absl::StrAppendFormat(&out, "| %s | %d | %s | %s | %.1f us | %.1f us | %s | %+.1f %% |\n", r.preset,
                          r.ranks, r.collective, SizeText(r.bytes), r.measured_us, r.predicted_us,
                          r.algorithm, 100 * FigureError(r));
  }
  return out;
}

std::vector<Finding> CheckPublicFigures(const std::vector<PublicRow>& rows) {
  std::vector<Finding> findings;
  const auto add = [&](const std::string& what, double median, double bound) {
    findings.push_back(
        {absl::StrFormat("public figures, %s: median |error| %.1f %%; expected at most %.0f %%", what,
                         100 * median, 100 * bound),
         median <= bound});
  };
  add(absl::StrCat("all ", rows.size(), " rows"), FigureMedians(rows, std::nullopt).first, kMostMedian);
  for (size_t i = 0; i < Sources().size(); ++i) {
    add(Text(Sources()[i]), FigureMedians(rows, static_cast<int>(i)).first, kMostOfSource);
  }
  return findings;
}

}  // namespace chakra::validation
