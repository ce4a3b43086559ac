#include "trace/foreign/rows.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/io/set_field.h"
#include "trace/io/settings.h"

namespace chakra::foreign {
namespace {

bool IsFlag(absl::string_view value) { return value == "yes" || value == "no"; }

bool MatchesValue(absl::string_view value, const std::string& text) {
  if (value == "any") return true;
  bool flag = false;
  if (IsFlag(value)) return absl::SimpleAtob(text, &flag) && flag == (value == "yes");
  double number = 0;
  if (value == "number") return absl::SimpleAtod(text, &number);
  return absl::c_any_of(absl::StrSplit(value, '|'),
                        [&](absl::string_view one) { return absl::EqualsIgnoreCase(one, text); });
}

// "a whole number, true, false, cpu or none".
std::string ValuesOf(absl::Span<const Row> rows) {
  std::vector<std::string> words;
  for (const Row& row : rows) {
    const absl::string_view value = row.value;
    if (value == "number" || IsFlag(value)) {
      words.emplace_back(value == "number" ? "a whole number" : value == "yes" ? "true" : "false");
    } else {
      for (const absl::string_view one : absl::StrSplit(value, '|')) words.emplace_back(one);
    }
  }
  std::string out;
  for (size_t i = 0; i < words.size(); ++i)
    absl::StrAppend(&out, i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  return out;
}

// Checks a number against the range of a field "training.seq".
absl::Status CheckNumber(absl::string_view path, int64_t number) {
  const size_t dot = path.find('.');
  const auto* part = proto::Workload::descriptor()->FindFieldByName(std::string(path.substr(0, dot)));
  const auto* field = part->message_type()->FindFieldByName(std::string(path.substr(dot + 1)));
  return CheckSetting(*field, static_cast<double>(number));
}

void ApplyRow(const Row& row, const std::string& names, ForeignKeys& keys, proto::Workload* out) {
  for (const absl::string_view setting : absl::StrSplit(row.setting, ' ', absl::SkipEmpty())) {
    const size_t equals = setting.find('=');
    const std::string path(setting.substr(0, equals));
    std::string value(equals == absl::string_view::npos ? "" : setting.substr(equals + 1));
    if (value.empty()) {
      const auto number = keys.Number(names);
      if (!number.has_value()) return;
      if (const absl::Status range = CheckNumber(path, *number); !range.ok()) {
        const size_t expected = range.message().find("expected");
        return keys.Refuse(names, range.message().substr(expected == absl::string_view::npos ? 0 : expected));
      }
      value = absl::StrCat(*number);
    }
    proto::Workload one;  // SetField() replaces the messages inside, which readers have references to
    if (const absl::Status set = SetField(path, value, &one); !set.ok()) {
      return keys.Fail(
          absl::Status(set.code(), absl::StrCat(keys.name(), ": ", keys.NameOf(names), ": ", set.message())));
    }
    out->MergeFrom(one);
  }
  if (*row.instead != '\0') keys.LeaveOut(names, row.instead);
}

}  // namespace

void ApplyRows(absl::Span<const Row> rows, absl::string_view under, ForeignKeys& keys, proto::Workload* out) {
  for (size_t first = 0; first < rows.size();) {
    size_t end = first + 1;
    while (end < rows.size() && absl::string_view(rows[end].keys) == rows[first].keys) ++end;
    const absl::Span<const Row> group = rows.subspan(first, end - first);
    const std::string names = Under(under, rows[first].keys);
    first = end;
    if (keys.Taken(names)) continue;
    const auto text = keys.Text(names);
    if (!text.has_value()) continue;
    const auto row = absl::c_find_if(group, [&](const Row& r) { return MatchesValue(r.value, *text); });
    bool on = true;
    if (row == group.end() && absl::SimpleAtob(*text, &on) && !on) continue;  // what no row has is off
    if (row == group.end()) {
      keys.Refuse(names, absl::StrCat("expected ", ValuesOf(group)));
    } else {
      ApplyRow(*row, names, keys, out);
    }
  }
}

}  // namespace chakra::foreign
