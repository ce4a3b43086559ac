#include "test/kernel_laws/rows.h"

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/io/csv.h"
#include "trace/io/file.h"

namespace chakra::kernel_laws {
namespace {

// One record by the names of its columns.
class Record {
 public:
  Record(const CsvReader& reader, const std::map<std::string, size_t>& columns,
         const std::vector<std::string>& fields)
      : reader_(reader), columns_(columns), fields_(fields) {}

  std::string Text(const std::string& column) {
    const auto at = columns_.find(column);
    if (at == columns_.end() || at->second >= fields_.size()) {
      status_.Update(reader_.Error(absl::StrCat("no field ", column)));
      return "";
    }
    return fields_[at->second];
  }
  double Number(const std::string& column) {
    double value = 0;
    const std::string text = Text(column);
    if (!absl::SimpleAtod(text, &value)) {
      status_.Update(reader_.Error(absl::StrCat(column, " is \"", text, "\"; expected a number")));
    }
    return value;
  }
  KernelDtype Dtype(const std::string& column) {
    const absl::StatusOr<KernelDtype> dtype = ParseKernelDtype(Text(column));
    if (!dtype.ok()) status_.Update(reader_.Error(dtype.status().message()));
    return dtype.value_or(KernelDtype::kBf16);
  }
  const absl::Status& status() const { return status_; }

 private:
  const CsvReader& reader_;
  const std::map<std::string, size_t>& columns_;
  const std::vector<std::string>& fields_;
  absl::Status status_;
};

absl::Status ReadTable(const std::string& path, const std::function<void(Record&)>& take) {
  absl::StatusOr<std::string> content = ReadFile(path);
  if (!content.ok()) return content.status();
  CsvReader reader(*content, path);
  std::vector<std::string> fields;
  absl::StatusOr<bool> more = reader.Next(&fields);
  if (!more.ok()) return more.status();
  std::map<std::string, size_t> columns;
  for (size_t i = 0; i < fields.size(); ++i) columns[fields[i]] = i;
  while ((more = reader.Next(&fields)).ok() && *more) {
    Record record(reader, columns, fields);
    take(record);
    if (!record.status().ok()) return record.status();
  }
  return more.status();
}

void Take(Record& r, std::vector<Row<GemmCall>>* out) {
  out->push_back({r.Text("device"),
                  r.Text("kernel"),
                  {r.Dtype("dtype"), 1, r.Number("m"), r.Number("n"), r.Number("k")},
                  r.Number("latency_us")});
}

void Take(Record& r, std::vector<Row<AttentionCall>>* out) {
  AttentionCall call = {r.Dtype("dtype"),   r.Dtype("kv_dtype"), r.Number("batch"),    r.Number("seq"),
                        r.Number("prefix"), r.Number("heads"),   r.Number("kv_heads"), r.Number("head_dim")};
  call.window = r.Number("window");
  out->push_back({r.Text("device"), r.Text("kernel"), call, r.Number("latency_us")});
}

void Take(Record& r, std::vector<Row<MoeCall>>* out) {
  MoeCall call = {r.Dtype("dtype"), r.Number("tokens"),  r.Number("hidden"), r.Number("inter"),
                  r.Number("topk"), r.Number("experts"), r.Number("tp"),     r.Number("ep")};
  const std::string spread = r.Text("distribution");
  if (absl::StartsWith(spread, "power_law_")) (void)absl::SimpleAtod(spread.substr(10), &call.power_law);
  out->push_back({r.Text("device"), r.Text("kernel"), call, r.Number("latency_us")});
}

// One of five by a hash of the numbers (FNV-1a), which no library's next version changes.
bool OneOfFive(std::initializer_list<double> numbers) {
  uint64_t hash = 1469598103934665603u;
  for (double x : numbers) {
    for (uint64_t bits = static_cast<uint64_t>(x * 1024); bits != 0; bits >>= 8) {
      hash = (hash ^ (bits & 255)) * 1099511628211u;
    }
    hash = (hash ^ 257) * 1099511628211u;
  }
  return (hash >> 33) % 5 == 0;
}

}  // namespace

absl::StatusOr<Rows> ReadRows(const std::string& folder) {
  Rows rows;
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) paths.push_back(entry.path());
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const std::string name = std::filesystem::path(path).filename();
    absl::Status status;
    if (absl::StartsWith(name, "gemm_")) {
      status = ReadTable(path, [&](Record& r) { Take(r, &rows.gemm); });
    } else if (absl::StartsWith(name, "attention_fwd_")) {
      status = ReadTable(path, [&](Record& r) { Take(r, &rows.attention); });
    } else if (absl::StartsWith(name, "moe_fwd_")) {
      status = ReadTable(path, [&](Record& r) { Take(r, &rows.moe); });
    }
    if (!status.ok()) return status;
  }
  return rows;
}

bool IsHeldOut(const GemmCall& c) { return OneOfFive({c.m, c.n, c.k}); }
bool IsHeldOut(const AttentionCall& c) {
  return OneOfFive({c.batch, c.seq, c.heads, c.kv_heads, c.head_dim, c.window});
}
bool IsHeldOut(const MoeCall& c) {
  return OneOfFive({c.tokens, c.hidden, c.inter, c.topk, c.experts, c.tp, c.ep, c.power_law});
}

}  // namespace chakra::kernel_laws
