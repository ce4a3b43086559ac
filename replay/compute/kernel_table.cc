#include "replay/compute/kernel_table.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/proto_io.h"

namespace chakra {
namespace {

constexpr double kMaxMicros = 1e12;

std::string WithoutBlanks(absl::string_view s) {
  std::string out;
  for (char c : s) {
    if (!absl::ascii_isspace(static_cast<unsigned char>(c))) out.push_back(c);
  }
  return out;
}

// Records of RFC 4180: fields by ',', quotes doubled inside quotes.
class CsvReader {
 public:
  CsvReader(absl::string_view content, absl::string_view name) : rest_(content), name_(name) {}

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ":", line_, ": ", what));
  }

  // False at the end. Skips empty lines.
  absl::StatusOr<bool> Next(std::vector<std::string>* fields) {
    for (;;) {
      if (rest_.empty()) return false;
      line_ = next_line_;
      fields->clear();
      absl::Status s = Record(fields);
      if (!s.ok()) return s;
      if (fields->size() > 1 || !absl::StripAsciiWhitespace((*fields)[0]).empty()) return true;
    }
  }

 private:
  absl::Status Record(std::vector<std::string>* fields) {
    for (;;) {
      fields->emplace_back();
      absl::Status s = Field(&fields->back());
      if (!s.ok()) return s;
      if (rest_.empty()) return absl::OkStatus();
      const char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '\n') {
        ++next_line_;
        return absl::OkStatus();
      }
    }
  }

  // Stops before ',' or the end of the line.
  absl::Status Field(std::string* out) {
    if (!rest_.empty() && rest_[0] == '"') {
      if (absl::Status s = Quoted(out); !s.ok()) return s;
      if (absl::StartsWith(rest_, "\r\n")) rest_.remove_prefix(1);
      if (rest_.empty() || rest_[0] == ',' || rest_[0] == '\n') return absl::OkStatus();
      return Error("text after a closing quote; expected ',' or the end of the line");
    }
    const size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    *out = std::string(rest_.substr(0, end));
    const bool last = end == rest_.size() || rest_[end] == '\n';
    if (last && !out->empty() && out->back() == '\r') out->pop_back();
    rest_.remove_prefix(end);
    return absl::OkStatus();
  }

  absl::Status Quoted(std::string* out) {
    for (size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '\n') ++next_line_;
      if (rest_[i] != '"') {
        out->push_back(rest_[i]);
      } else if (i + 1 < rest_.size() && rest_[i + 1] == '"') {
        out->push_back(rest_[i++]);
      } else {
        rest_.remove_prefix(i + 1);
        return absl::OkStatus();
      }
    }
    return Error("a quote that is not closed");
  }

  absl::string_view rest_;
  absl::string_view name_;
  size_t line_ = 0;
  size_t next_line_ = 1;
};

struct Columns {
  std::optional<size_t> name, shapes, dtypes, duration;
  size_t count = 0;
};

absl::StatusOr<Columns> ReadHeader(CsvReader* csv, absl::string_view file) {
  std::vector<std::string> fields;
  absl::StatusOr<bool> more = csv->Next(&fields);
  if (!more.ok()) return more.status();
  if (!*more) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": empty; expected a header with name and duration_us"));
  }
  if (absl::StartsWith(fields[0], "\xef\xbb\xbf")) fields[0].erase(0, 3);
  Columns columns;
  columns.count = fields.size();
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string f(absl::StripAsciiWhitespace(fields[i]));
    std::optional<size_t>* slot = f == "name"          ? &columns.name
                                  : f == "shapes"      ? &columns.shapes
                                  : f == "dtypes"      ? &columns.dtypes
                                  : f == "duration_us" ? &columns.duration
                                                       : nullptr;
    if (slot == nullptr) {
      return csv->Error(absl::StrCat("unknown column \"", f, "\"",
                                     SuggestName(f, {"name", "shapes", "dtypes", "duration_us"})));
    }
    if (slot->has_value()) return csv->Error(absl::StrCat("column \"", f, "\" is there twice"));
    *slot = i;
  }
  if (!columns.name || !columns.duration) {
    return csv->Error(absl::StrCat("no column \"", columns.name ? "duration_us" : "name",
                                   "\"; expected name and duration_us"));
  }
  return columns;
}

bool ValidDuration(double us) { return std::isfinite(us) && us >= 0 && us <= kMaxMicros; }

}  // namespace

absl::StatusOr<proto::KernelTable> ParseKernelCsv(absl::string_view content, absl::string_view name) {
  CsvReader csv(content, name);
  absl::StatusOr<Columns> columns = ReadHeader(&csv, name);
  if (!columns.ok()) return columns.status();
  proto::KernelTable table;
  std::vector<std::string> fields;
  for (;;) {
    absl::StatusOr<bool> more = csv.Next(&fields);
    if (!more.ok()) return more.status();
    if (!*more) return table;
    if (fields.size() != columns->count) {
      return csv.Error(absl::StrCat(fields.size(), " fields; expected ", columns->count));
    }
    proto::KernelRow* row = table.add_row();
    row->set_name(fields[*columns->name]);
    if (row->name().empty()) return csv.Error("name is empty; expected a kernel's name");
    if (columns->shapes) row->set_shapes(fields[*columns->shapes]);
    if (columns->dtypes) row->set_dtypes(fields[*columns->dtypes]);
    double us = 0;
    const std::string& text = fields[*columns->duration];
    if (!absl::SimpleAtod(text, &us) || !ValidDuration(us)) {
      return csv.Error(
          absl::StrCat("duration_us is \"", text, "\"; expected a number from 0 to ", kMaxMicros));
    }
    row->set_duration_us(us);
  }
}

absl::StatusOr<proto::KernelTable> LoadKernelTable(const std::string& path) {
  if (absl::EndsWithIgnoreCase(path, ".csv")) {
    absl::StatusOr<std::string> content = ReadFile(path);
    if (!content.ok()) return content.status();
    return ParseKernelCsv(*content, path);
  }
  proto::KernelTable table;
  if (absl::Status s = ReadMessageFile(path, &table); !s.ok()) return s;
  return table;
}

bool GlobMatch(absl::string_view pattern, absl::string_view text) {
  size_t p = 0, t = 0, star = absl::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

absl::StatusOr<KernelTableIndex> KernelTableIndex::Make(const proto::KernelTable& table,
                                                        absl::string_view source) {
  KernelTableIndex index;
  for (int i = 0; i < table.row_size(); ++i) {
    const proto::KernelRow& row = table.row(i);
    const auto error = [&](absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat(source, ": row ", i, " (\"", row.name(), "\"): ", what));
    };
    if (row.name().empty()) return error("name is empty; expected a kernel's name");
    if (!ValidDuration(row.duration_us())) {
      return error(
          absl::StrCat("duration_us is ", row.duration_us(), "; expected a number from 0 to ", kMaxMicros));
    }
    Row r{row.name(), WithoutBlanks(row.shapes()), WithoutBlanks(row.dtypes()),
          Time::FromNanos(row.duration_us() * 1000)};
    const auto [at, fresh] = index.exact_.try_emplace(Key{r.name, r.shapes, r.dtypes}, index.rows_.size());
    if (!fresh) return error(absl::StrCat("name, shapes and dtypes are those of row ", at->second));
    if (absl::StrContains(r.name, "*")) index.wildcards_.push_back(index.rows_.size());
    index.rows_.push_back(std::move(r));
  }
  const auto rank = [&](size_t i) {
    const Row& r = index.rows_[i];
    const int given = (r.shapes.empty() ? 0 : 2) + (r.dtypes.empty() ? 0 : 1);
    const auto stars = std::count(r.name.begin(), r.name.end(), '*');
    return std::make_pair(given, static_cast<std::ptrdiff_t>(r.name.size()) - stars);
  };
  std::stable_sort(index.wildcards_.begin(), index.wildcards_.end(),
                   [&](size_t a, size_t b) { return rank(a) > rank(b); });
  return index;
}

const Time* KernelTableIndex::Find(absl::string_view name, absl::string_view shapes,
                                   absl::string_view dtypes) const {
  const std::string s = WithoutBlanks(shapes), d = WithoutBlanks(dtypes);
  const std::string n(name);
  for (const Key& key : {Key{n, s, d}, Key{n, s, ""}, Key{n, "", d}, Key{n, "", ""}}) {
    const auto it = exact_.find(key);
    if (it != exact_.end()) return &rows_[it->second].duration;
  }
  for (size_t i : wildcards_) {
    const Row& r = rows_[i];
    if ((r.shapes.empty() || r.shapes == s) && (r.dtypes.empty() || r.dtypes == d) &&
        GlobMatch(r.name, name)) {
      return &r.duration;
    }
  }
  return nullptr;
}

}  // namespace chakra
