#include "test/validation/one_node.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/cluster/load.h"
#include "replay/collectives/registry.h"
#include "replay/nccl/constants.h"
#include "replay/run/collective_table.h"
#include "test/validation/csv_line.h"
#include "trace/base/median.h"

namespace chakra::validation {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr const char* kSizeBands[] = {"below 1 MiB", "1 to 32 MiB", "from 32 MiB"};
constexpr double kMostNodeMedian[] = {0.10, 0.08, 0.04};
constexpr double kMostAllToAll = 0.06;  // from 32 MiB
constexpr double kMostCell = 0.15;      // of a machine, collective and band of more than kSmallCell rows
constexpr size_t kSmallCell = 10;
constexpr double kNear = 0.3, kLeastNear = 0.9;

// The presets of NVLink machines; the constants of a machine that is left out come from the others.
constexpr const char* kSwitched[] = {"dgx-a100", "dgx-h200", "gb200-nvl72"};

size_t BandOf(uint64_t bytes) { return bytes < kMiB ? 0 : bytes < 32 * kMiB ? 1 : 2; }

using Key = std::tuple<std::string, std::string, size_t>;  // preset, collective, band

struct Cell {
  std::vector<double> errors, left_out;
};

double NodeError(const OneNodeRow& row, double us) { return us / row.time_us - 1; }

double MedianOfAbsolute(std::vector<double> errors) {
  for (double& e : errors) e = std::abs(e);
  return Median(std::move(errors));
}

// The bandwidth that NCCL's tuner allows one channel with LL, in GB/s.
double MostOfChannel(const proto::CollectiveLibrary& library) {
  return nccl::MaxLL(static_cast<Generation>(library.generation() - 1), 1) / library.channels();
}

using TermKey = std::pair<std::string, std::string>;

std::map<TermKey, proto::LibraryTerm> TermsOf(const proto::CollectiveLibrary& library) {
  std::map<TermKey, proto::LibraryTerm> terms;
  for (const proto::LibraryTerm& t : library.term()) {
    proto::LibraryTerm term = t;
    term.set_channel_gbytes_per_s(t.channel_gbytes_per_s() / MostOfChannel(library));
    terms.emplace(TermKey(t.algorithm(), t.protocol()), std::move(term));
  }
  return terms;
}

// The geometric means of the numbers of two terms; if one term lacks a number, the other term's number.
proto::LibraryTerm Mean(const proto::LibraryTerm& a, const proto::LibraryTerm& b) {
  proto::LibraryTerm mean = a;
  const auto* fields = a.GetDescriptor();
  const auto* at = a.GetReflection();
  for (int i = 0; i < fields->field_count(); ++i) {
    const auto* field = fields->field(i);
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE) continue;
    const double x = at->GetDouble(a, field), y = at->GetDouble(b, field);
    if (x == 0 && y == 0) continue;
    at->SetDouble(&mean, field, x == 0 ? y : y == 0 ? x : std::sqrt(x * y));
  }
  return mean;
}

// The preset with the constants of the other machines of kSwitched.
absl::Status LeaveOut(const std::string& preset, proto::Cluster* cluster) {
  std::map<TermKey, proto::LibraryTerm> terms;
  for (const char* other : kSwitched) {
    if (other == preset) continue;
    const absl::StatusOr<proto::Cluster> sibling = LoadCluster(other);
    if (!sibling.ok()) return sibling.status();
    for (const auto& [key, term] : TermsOf(sibling->collectives().library())) {
      const auto [found, added] = terms.emplace(key, term);
      if (!added) found->second = Mean(found->second, term);
    }
  }
  proto::CollectiveLibrary* library = cluster->mutable_collectives()->mutable_library();
  library->clear_term();
  for (auto& [key, term] : terms) {
    term.set_channel_gbytes_per_s(term.channel_gbytes_per_s() * MostOfChannel(*library));
    *library->add_term() = std::move(term);
  }
  return absl::OkStatus();
}

absl::StatusOr<CollectiveTable> TableFor(const OneNodeRow& row, bool left_out) {
  absl::StatusOr<proto::Cluster> cluster = LoadCluster(row.preset);
  if (!cluster.ok()) return cluster.status();
  if (left_out) {
    if (absl::Status s = LeaveOut(row.preset, &*cluster); !s.ok()) return s;
  }
  TableOptions options;
  options.ranks = row.ranks;
  const std::optional<CollectiveType> type = CollectiveNamed(row.collective);
  if (!type) return absl::InvalidArgumentError(absl::StrCat("no collective \"", row.collective, "\""));
  options.type = *type;
  return CollectiveTable::Make(*cluster, options);
}

std::map<Key, Cell> Cells(const std::vector<OneNodeRow>& rows, const std::vector<double>& presets,
                          const std::vector<double>& left_out) {
  std::map<Key, Cell> cells;
  for (size_t i = 0; i < rows.size(); ++i) {
    Cell& cell = cells[{rows[i].preset, rows[i].collective, BandOf(rows[i].bytes)}];
    cell.errors.push_back(NodeError(rows[i], presets[i]));
    if (left_out[i] > 0) cell.left_out.push_back(NodeError(rows[i], left_out[i]));
  }
  return cells;
}

double Near(const std::vector<double>& errors) {
  const auto near =
      std::count_if(errors.begin(), errors.end(), [](double e) { return std::abs(e) <= kNear; });
  return static_cast<double>(near) / static_cast<double>(errors.size());
}

void AppendErrors(const std::vector<double>& errors, std::string* out) {
  if (errors.empty()) {
    absl::StrAppend(out, " - | - | - |");
    return;
  }
  absl::StrAppendFormat(out, " %.1f %% | %+.1f %% | %.0f %% |", 100 * MedianOfAbsolute(errors),
                        100 * Median(errors), 100 * Near(errors));
}

Finding AtMost(const std::string& what, double median, size_t rows, double bound) {
  return {absl::StrFormat("%s: median |error| %.1f %% of %d rows; expected at most %.0f %%", what,
                          100 * median, rows, 100 * bound),
          median <= bound};
}

}  // namespace

absl::StatusOr<std::vector<OneNodeRow>> ParseOneNode(const std::string& text) {
  constexpr std::pair<const char*, const char*> kPresets[] = {
      {"A100", "dgx-a100"}, {"H200", "dgx-h200"}, {"GB200", "gb200-nvl72"}, {"L40S", "l40s"}};
  std::vector<OneNodeRow> rows;
  const absl::Status read = ForEachLine(text, [&](const CsvLine& line) {
    OneNodeRow row;
    for (const absl::Status& s : {line.Read("gpu", &row.gpu), line.Read("collective", &row.collective),
                                  line.Read("dtype", &row.dtype), line.Read("gpus", &row.ranks),
                                  line.Read("size_bytes", &row.bytes), line.Read("time_us", &row.time_us)}) {
      if (!s.ok()) return s;
    }
    for (const auto& [gpu, preset] : kPresets) {
      if (absl::StartsWith(row.gpu, gpu)) row.preset = preset;
    }
    if (row.preset.empty()) {
      return line.Error("gpu", absl::StrCat("is \"", row.gpu, "\"; expected A100..., H200, GB200 or L40S"));
    }
    rows.push_back(std::move(row));
    return absl::OkStatus();
  });
  if (!read.ok()) return read;
  return rows;
}

absl::StatusOr<std::vector<double>> PredictOneNode(const std::vector<OneNodeRow>& rows, bool left_out) {
  const std::set<std::string> switched(std::begin(kSwitched), std::end(kSwitched));
  std::map<std::tuple<std::string, std::string, int>, CollectiveTable> tables;
  std::vector<double> times;
  for (const OneNodeRow& row : rows) {
    times.push_back(0);
    if (left_out && switched.count(row.preset) == 0) continue;
    const auto key = std::tuple(row.preset, row.collective, row.ranks);
    auto at = tables.find(key);
    if (at == tables.end()) {
      absl::StatusOr<CollectiveTable> table = TableFor(row, left_out);
      if (!table.ok()) return table.status();
      at = tables.emplace(key, *std::move(table)).first;
    }
    const absl::StatusOr<TableRow> priced = at->second.Price(row.bytes);
    if (!priced.ok()) return priced.status();
    times.back() = priced->time_us;
  }
  return times;
}

std::string OneNodeMarkdown(const std::vector<OneNodeRow>& rows, const std::vector<double>& presets,
                            const std::vector<double>& left_out) {
  std::string out = absl::StrCat(
      "\n# One node, a thread for each GPU\n\n", rows.size(),
      " times of nccl-tests, 2 to 8 GPUs (`nccl_one_node.csv`). preset: predicted with the presets, whose "
      "kernels' "
      "constants\nare fitted on these rows by protocol. left out: the machine's own data sheet with the "
      "other "
      "generations' constants.\nsigned: the median of predicted / measured - 1. near: rows within 30 %.\n\n"
      "| machine | collective | size | rows | preset: median | signed | near | left out: median | signed | "
      "near |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  std::map<size_t, Cell> bands;
  for (const auto& [key, cell] : Cells(rows, presets, left_out)) {
    Cell& band = bands[std::get<2>(key)];
    band.errors.insert(band.errors.end(), cell.errors.begin(), cell.errors.end());
    band.left_out.insert(band.left_out.end(), cell.left_out.begin(), cell.left_out.end());
  }
  const auto line = [&](const std::string& head, const Cell& cell) {
    absl::StrAppend(&out, "| ", head, " | ", cell.errors.size(), " |");
    AppendErrors(cell.errors, &out);
    AppendErrors(cell.left_out, &out);
    absl::StrAppend(&out, "\n");
  };
  for (const auto& [band, cell] : bands) line(absl::StrCat("all | all | ", kSizeBands[band]), cell);
  for (const auto& [key, cell] : Cells(rows, presets, left_out)) {
    line(absl::StrCat(std::get<0>(key), " | ", std::get<1>(key), " | ", kSizeBands[std::get<2>(key)]), cell);
  }
  return out;
}

std::vector<Finding> CheckOneNode(const std::vector<OneNodeRow>& rows, const std::vector<double>& presets) {
  std::vector<Finding> findings;
  std::vector<double> all, all_to_all, by_band[3];
  for (size_t i = 0; i < rows.size(); ++i) {
    all.push_back(NodeError(rows[i], presets[i]));
    by_band[BandOf(rows[i].bytes)].push_back(all.back());
    if (rows[i].collective == "all_to_all" && BandOf(rows[i].bytes) == 2) all_to_all.push_back(all.back());
  }
  for (size_t b = 0; b < 3; ++b) {
    if (by_band[b].empty()) continue;
    findings.push_back(AtMost(absl::StrCat("one node, ", kSizeBands[b]), MedianOfAbsolute(by_band[b]),
                              by_band[b].size(), kMostNodeMedian[b]));
  }
  if (!all_to_all.empty()) {
    findings.push_back(AtMost("one node, all_to_all from 32 MiB", MedianOfAbsolute(all_to_all),
                              all_to_all.size(), kMostAllToAll));
  }
  findings.push_back({absl::StrFormat("one node: %.0f %% of %d rows within 30 %%; expected at least %.0f %%",
                                      100 * Near(all), all.size(), 100 * kLeastNear),
                      Near(all) >= kLeastNear});
  for (const auto& [key, cell] : Cells(rows, presets, std::vector<double>(rows.size(), 0))) {
    if (cell.errors.size() <= kSmallCell) continue;
    findings.push_back(AtMost(absl::StrCat("one node, ", std::get<0>(key), ", ", std::get<1>(key), ", ",
                                           kSizeBands[std::get<2>(key)]),
                              MedianOfAbsolute(cell.errors), cell.errors.size(), kMostCell));
  }
  return findings;
}

}  // namespace chakra::validation
