#include "test/validation/measured.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/validation/csv_line.h"

namespace chakra::validation {
namespace {

// Sets the machine and rule of a row, or the reason why the row is left out.
absl::Status Classify(const std::string& algorithm, const CsvLine& line, MeasuredRow* row) {
  if (row->gpu == "V100 (16 per node)") {
    row->left_out = "a misconfigured network";
    return absl::OkStatus();
  }
  if (row->nodes == 2) {
    row->left_out = "two nodes: a special case of NVLS-Tree";
    return absl::OkStatus();
  }
  for (const auto& [gpu, preset] :
       {std::pair{"A100", "dgx-a100"}, {"H200", "dgx-h200"}, {"V100", "dgx-v100"}})
    if (absl::StartsWith(row->gpu, gpu)) row->preset = preset;
  if (row->preset.empty()) {
    return line.Error("gpu", absl::StrCat("is \"", row->gpu, "\"; expected A100..., H200... or V100..."));
  }
  if (absl::StartsWith(algorithm, "Ring")) {
    row->rule = "ring";
  } else if (algorithm == "NVLSTree (forced)") {
    row->rule = "nvls_tree";
  } else if (algorithm != "NVLS" && algorithm != "default" && algorithm != "n/a" &&
             !absl::StartsWith(algorithm, "file says NVLS")) {
    return line.Error(
        "algorithm",
        absl::StrCat("is \"", algorithm, "\"; expected Ring..., NVLSTree (forced), NVLS, default or n/a"));
  }
  return absl::OkStatus();
}

absl::StatusOr<MeasuredRow> ParseLine(const CsvLine& line) {
  MeasuredRow row;
  std::string collective, algorithm;
  for (const absl::Status& s :
       {line.Read("collective", &collective), line.Read("gpu", &row.gpu), line.Read("source", &row.source),
        line.Read("algorithm", &algorithm), line.Read("gpus", &row.ranks), line.Read("nodes", &row.nodes),
        line.Read("size_bytes", &row.bytes), line.Read("time_us", &row.time_us),
        line.Read("busbw_GBps", &row.busbw)}) {
    if (!s.ok()) return s;
  }
  if (collective != "all_reduce") {
    return line.Error("collective", absl::StrCat("is \"", collective, "\"; expected all_reduce"));
  }
  row.source = row.source.substr(0, row.source.find(' '));
  // The other sources ran nccl-tests as its README shows, with -g and the devices of a node; vTrain had a
  // process for each GPU.
  if (row.source != "vTrain") row.devices_per_thread = std::max(1, row.ranks / row.nodes);
  if (absl::Status s = Classify(algorithm, line, &row); !s.ok()) return s;
  return row;
}

}  // namespace

absl::StatusOr<std::vector<MeasuredRow>> ParseMeasured(const std::string& text) {
  std::vector<MeasuredRow> rows;
  const absl::Status read = ForEachLine(text, [&](const CsvLine& line) {
    absl::StatusOr<MeasuredRow> row = ParseLine(line);
    if (row.ok()) rows.push_back(*std::move(row));
    return row.status();
  });
  if (!read.ok()) return read;
  return rows;
}

std::string Subset::Label() const { return absl::StrCat(preset, ", ", source, ", ", ranks, " GPUs"); }

std::vector<Subset> Subsets(const std::vector<MeasuredRow>& rows) {
  std::map<std::tuple<std::string, std::string, int>, Subset> found;
  for (size_t i = 0; i < rows.size(); ++i) {
    const MeasuredRow& r = rows[i];
    if (!r.left_out.empty()) continue;
    Subset& s = found[{r.preset, r.source, r.ranks}];
    s.preset = r.preset;
    s.source = r.source;
    s.ranks = r.ranks;
    s.rows.push_back(i);
  }
  std::vector<Subset> subsets;
  for (auto& [key, s] : found) {
    std::stable_sort(s.rows.begin(), s.rows.end(),
                     [&](size_t a, size_t b) { return rows[a].bytes < rows[b].bytes; });
    subsets.push_back(std::move(s));
  }
  return subsets;
}

std::string SizeText(uint64_t bytes) {
  constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  int unit = 0;
  for (; unit < 4 && bytes >= 1024 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return absl::StrCat(bytes, kUnits[unit]);
}

}  // namespace chakra::validation
