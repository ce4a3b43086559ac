#include "test/validation/kernel_tables.h"

#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "test/validation/kernel_models.h"

namespace chakra::validation {
namespace {

// The lines of a CSV without quotes: the fields of the given columns.
class Lines {
 public:
  static absl::StatusOr<Lines> Read(const std::string& text, const std::vector<std::string>& columns) {
    Lines lines;
    std::map<std::string, size_t> at;
    size_t number = 0;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++number;
      absl::ConsumeSuffix(&line, "\r");
      if (line.empty()) continue;
      const std::vector<std::string> fields = absl::StrSplit(line, ',');
      if (at.empty()) {
        for (size_t i = 0; i < fields.size(); ++i) at[fields[i]] = i;
        for (const std::string& c : columns) {
          if (at.count(c) == 0)
            return absl::InvalidArgumentError(absl::StrCat("line 1: no column \"", c, "\""));
        }
        continue;
      }
      if (fields.size() != at.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("line ", number, ": ", fields.size(), " fields; expected ", at.size()));
      }
      lines.rows_.emplace_back();
      for (const std::string& c : columns) lines.rows_.back().push_back(fields[at[c]]);
      lines.numbers_.push_back(number);
    }
    return lines;
  }

  size_t size() const { return rows_.size(); }
  const std::vector<std::string>& operator[](size_t i) const { return rows_[i]; }

  absl::StatusOr<double> Number(size_t row, size_t column) const {
    double value = 0;
    if (absl::SimpleAtod(rows_[row][column], &value) && value > 0) return value;
    return absl::InvalidArgumentError(
        absl::StrCat("line ", numbers_[row], ": \"", rows_[row][column], "\"; expected a number above 0"));
  }

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> numbers_;
};

MeasuredTable& TableOf(const std::string& set, const std::string& label, std::vector<MeasuredTable>* tables) {
  for (MeasuredTable& t : *tables) {
    if (t.label == label) return t;
  }
  tables->push_back({set, label});
  return tables->back();
}

}  // namespace

absl::StatusOr<std::vector<MeasuredTable>> ParseAzure(const std::string& text) {
  const auto lines = Lines::Read(text, {"gpu", "benchmark", "precision", "m", "n", "k", "derived_time_us"});
  if (!lines.ok()) return lines.status();
  std::vector<MeasuredTable> tables;
  for (size_t i = 0; i < lines->size(); ++i) {
    const std::vector<std::string>& f = (*lines)[i];
    if (f[3].empty()) continue;
    const auto us = lines->Number(i, 6);
    if (!us.ok()) return us.status();
    MeasuredTable& t = TableOf("Azure GEMM", absl::StrCat(f[0], " ", f[2]), &tables);
    t.device = f[0];
    t.dtype = f[2] == "FP8" ? "fp8" : "fp16";
    t.row.push_back(absl::StrCat(f[3], " x ", f[4], " x ", f[5]));
    proto::KernelRow* row = t.table.add_row();
    row->set_name(f[1]);
    row->set_shapes(absl::StrCat("[[", f[3], ",", f[5], "],[", f[5], ",", f[4], "]]"));
    const char* type = f[2] == "FP8" ? "Tensor(c10::Float8_e4m3fn)" : "Tensor(c10::Half)";
    row->set_dtypes(absl::StrCat("['", type, "','", type, "']"));
    row->set_duration_us(*us);
  }
  return tables;
}

absl::StatusOr<std::vector<MeasuredTable>> ParseNeusight(const std::string& text, bool with_bytes) {
  const auto lines = Lines::Read(text, {"model", "device", "mode", "option(dp4/tp4/pp4=4 GPUs; fusion)",
                                        "seq_len", "batch", "measured_e2e_ms"});
  if (!lines.ok()) return lines.status();
  const std::string set = with_bytes ? "NeuSight, operations and bytes" : "NeuSight, operations alone";
  std::vector<MeasuredTable> tables;
  for (size_t i = 0; i < lines->size(); ++i) {
    const std::vector<std::string>& f = (*lines)[i];
    double numbers[3];
    for (size_t c = 0; c < 3; ++c) {
      const auto number = lines->Number(i, 4 + c);
      if (!number.ok()) return number.status();
      numbers[c] = *number;
    }
    const auto work =
        ModelWork(f[0], static_cast<int>(numbers[0]), static_cast<int>(numbers[1]), f[2] == "train");
    if (!work.has_value()) continue;
    MeasuredTable& t =
        TableOf(set, absl::StrCat(f[1], " ", f[2], f[3].empty() ? "" : absl::StrCat(" ", f[3])), &tables);
    t.device = f[1];
    t.dtype = "fp32";
    t.row.push_back(absl::StrCat(f[0], " batch ", f[5]));
    proto::KernelRow* row = t.table.add_row();
    row->set_name(f[2]);
    row->set_duration_us(numbers[2] * 1e3);
    row->set_operations(static_cast<uint64_t>(work->operations));
    if (with_bytes) row->set_bytes(static_cast<uint64_t>(work->bytes));
  }
  return tables;
}

}  // namespace chakra::validation
