#include "replay/compute/kernel_table.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/glob.h"
#include "trace/base/status_macros.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace {

constexpr double kMaxMicros = 1e12;

bool ValidDuration(double us) { return std::isfinite(us) && us >= 0 && us <= kMaxMicros; }

bool EndsWithAny(absl::string_view path, std::initializer_list<absl::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](absl::string_view end) { return absl::EndsWithIgnoreCase(path, end); });
}

}  // namespace

std::string WithoutBlanks(absl::string_view text) {
  std::string out;
  for (char c : text) {
    if (!absl::ascii_isspace(static_cast<unsigned char>(c))) out.push_back(c);
  }
  return out;
}

absl::Status CheckKernelRow(const proto::KernelRow& row, absl::string_view where) {
  const auto error = [&](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": ", what...));
  };
  if (row.name().empty()) return error("name is empty; expected a kernel's name");
  const std::pair<const char*, double> times[] = {
      {"duration_us", row.duration_us()}, {"min_us", row.min_us()}, {"max_us", row.max_us()}};
  for (const auto& [field, us] : times) {
    if (!ValidDuration(us)) return error(field, " is ", us, "; expected a number from 0 to ", kMaxMicros);
  }
  if (!std::isfinite(row.error()) || row.error() < 0) {
    return error("error is ", row.error(), "; expected a share >= 0, as 0.3 for 30 %");
  }
  const bool spread = row.min_us() != 0 || row.max_us() != 0;
  if (spread && !(row.min_us() <= row.duration_us() && row.duration_us() <= row.max_us())) {
    return error("duration_us is ", row.duration_us(), "; expected one from min_us, ", row.min_us(),
                 ", to max_us, ", row.max_us());
  }
  return absl::OkStatus();
}

absl::StatusOr<proto::KernelTable> LoadKernelTable(const std::string& path) {
  if (EndsWithAny(WithoutCompression(path), {".csv"})) {
    ASSIGN_OR_RETURN(std::string content, ReadFile(path));
    return ParseKernelCsv(content, path);
  }
  proto::KernelTable table;
  RETURN_IF_ERROR(ReadMessageFile(path, &table));
  return table;
}

absl::Status WriteKernelTable(const proto::KernelTable& table, const std::string& path) {
  const absl::string_view name = WithoutCompression(path);
  if (EndsWithAny(name, {".csv"})) return WriteFile(path, FormatKernelCsv(table));
  const MessageFormat format = EndsWithAny(name, {".json"})                          ? MessageFormat::kJson
                               : EndsWithAny(name, {".txtpb", ".textproto", ".txt"}) ? MessageFormat::kText
                                                                                     : MessageFormat::kBinary;
  return WriteMessageFile(table, format, path);
}

KernelKey KeyOf(const proto::KernelRow& row) {
  std::string shapes = WithoutBlanks(row.shapes());
  const bool by_work = shapes.empty();
  return {row.name(),
          std::move(shapes),
          WithoutBlanks(row.dtypes()),
          by_work ? row.operations() : 0,
          by_work ? row.bytes() : 0,
          row.code()};
}

absl::StatusOr<KernelTableIndex> KernelTableIndex::Make(const proto::KernelTable& table,
                                                        absl::string_view source) {
  KernelTableIndex index;
  for (int i = 0; i < table.row_size(); ++i) {
    const proto::KernelRow& row = table.row(i);
    const std::string where = absl::StrCat(source, ": row ", i, " (\"", row.name(), "\")");
    RETURN_IF_ERROR(CheckKernelRow(row, where));
    Row r{row.name(), WithoutBlanks(row.shapes()), WithoutBlanks(row.dtypes())};
    if (r.shapes.empty()) {
      r.operations = row.operations();
      r.bytes = row.bytes();
    }
    r.code = row.code();
    r.answer = {Time::FromNanos(row.duration_us() * 1000), row.error()};
    const auto [at, fresh] = index.exact_.try_emplace(
        KernelKey{r.name, r.shapes, r.dtypes, r.operations, r.bytes, r.code}, index.rows_.size());
    if (!fresh) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": name, shapes and dtypes", r.any_work() ? "" : ", operations and bytes",
                       r.code.empty() ? "" : " and code", " are those of row ", at->second));
    }
    if (absl::StrContains(r.name, "*")) index.wildcards_.push_back(index.rows_.size());
    index.coded_ = index.coded_ || !r.code.empty();
    index.rows_.push_back(std::move(r));
  }
  const auto rank = [&](size_t i) {
    const Row& r = index.rows_[i];
    const int given = (r.shapes.empty() ? 0 : 4) + (r.any_work() ? 0 : 2) + (r.dtypes.empty() ? 0 : 1);
    const auto stars = std::count(r.name.begin(), r.name.end(), '*');
    return std::make_pair(given, static_cast<std::ptrdiff_t>(r.name.size()) - stars);
  };
  std::stable_sort(index.wildcards_.begin(), index.wildcards_.end(),
                   [&](size_t a, size_t b) { return rank(a) > rank(b); });
  return index;
}

// Searches the rows whose code is `code`.
const KernelAnswer* KernelTableIndex::FindOf(const KernelQuery& q, absl::string_view code) const {
  const std::string s = WithoutBlanks(q.shapes), d = WithoutBlanks(q.dtypes);
  const std::string n(q.name), c(code);
  const KernelKey keys[] = {KernelKey{n, s, d, 0, 0, c},
                            KernelKey{n, s, "", 0, 0, c},
                            KernelKey{n, "", d, q.operations, q.bytes, c},
                            KernelKey{n, "", "", q.operations, q.bytes, c},
                            KernelKey{n, "", d, 0, 0, c},
                            KernelKey{n, "", "", 0, 0, c}};
  for (size_t i = s.empty() ? 2 : 0; i < std::size(keys); ++i) {
    const auto it = exact_.find(keys[i]);
    if (it != exact_.end()) return &rows_[it->second].answer;
  }
  for (size_t i : wildcards_) {
    const Row& r = rows_[i];
    if (r.code == code && (r.shapes.empty() || r.shapes == s) && (r.dtypes.empty() || r.dtypes == d) &&
        (r.any_work() || (r.operations == q.operations && r.bytes == q.bytes)) &&
        MatchesGlob(r.name, q.name)) {
      return &r.answer;
    }
  }
  return nullptr;
}

const KernelAnswer* KernelTableIndex::Find(const KernelQuery& q) const {
  if (!q.code.empty() && coded_) {
    if (const KernelAnswer* answer = FindOf(q, q.code); answer != nullptr) return answer;
  }
  return FindOf(q, "");
}

}  // namespace chakra
