#include "test/validation/measured.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/io/csv.h"

namespace chakra::validation {
namespace {

// Fields of one line by the name of their column.
class Line {
 public:
  Line(const std::map<std::string, size_t>& columns, std::vector<std::string> fields, size_t number)
      : columns_(columns), fields_(std::move(fields)), number_(number) {}

  absl::StatusOr<std::string> Text(const std::string& column) const {
    const auto at = columns_.find(column);
    if (at == columns_.end()) return Error(column, "is no column of the header");
    if (at->second >= fields_.size()) return Error(column, "is missing");
    return fields_[at->second];
  }

  template <typename T>
  absl::Status Read(const std::string& column, T* value) const {
    absl::StatusOr<std::string> text = Text(column);
    if (!text.ok()) return text.status();
    if constexpr (std::is_same_v<T, std::string>) {
      *value = *text;
    } else if constexpr (std::is_same_v<T, double>) {
      if (!absl::SimpleAtod(*text, value) || !(*value > 0)) return NotPositive(column, *text);
    } else {
      if (!absl::SimpleAtoi(*text, value) || *value < 1) return NotPositive(column, *text);
    }
    return absl::OkStatus();
  }

  absl::Status Error(const std::string& column, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", number_, ": ", column, " ", what));
  }

 private:
  absl::Status NotPositive(const std::string& column, const std::string& text) const {
    return Error(column, absl::StrCat("is \"", text, "\"; expected a number above 0"));
  }

  const std::map<std::string, size_t>& columns_;
  std::vector<std::string> fields_;
  size_t number_;
};

// The machine and rule of a row, or the reason why it is left out.
absl::Status Classify(const std::string& algorithm, const Line& line, MeasuredRow* row) {
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

absl::StatusOr<MeasuredRow> ParseLine(const Line& line) {
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
  if (absl::Status s = Classify(algorithm, line, &row); !s.ok()) return s;
  return row;
}

}  // namespace

absl::StatusOr<std::vector<MeasuredRow>> ParseMeasured(const std::string& text) {
  CsvReader csv(text, "table");
  std::vector<std::string> fields;
  std::map<std::string, size_t> columns;
  std::vector<MeasuredRow> rows;
  for (;;) {
    const absl::StatusOr<bool> more = csv.Next(&fields);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (columns.empty()) {
      for (const std::string& name : fields) columns.emplace(name, columns.size());
      continue;
    }
    absl::StatusOr<MeasuredRow> row = ParseLine(Line(columns, fields, csv.line()));
    if (!row.ok()) return row.status();
    rows.push_back(*std::move(row));
  }
  if (rows.empty()) return absl::InvalidArgumentError("no rows; expected a header and at least one");
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
