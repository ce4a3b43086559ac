#include "trace/foreign/keys.h"

#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace chakra::foreign {
namespace {

bool IsNull(absl::string_view text) {
  return text.empty() || text == "null" || text == "None" || text == "~" || text == "[]";
}

std::string Shown(const std::string& text) { return text.size() <= 60 ? text : text.substr(0, 57) + "..."; }

bool MatchesName(absl::string_view key, absl::string_view name) {
  return absl::ConsumeSuffix(&name, "*") ? absl::StartsWith(key, name) : key == name;
}

}  // namespace

std::string Under(absl::string_view table, absl::string_view keys) {
  if (table.empty()) return std::string(keys);
  return absl::StrJoin(absl::StrSplit(keys, '|'), "|", [&](std::string* out, absl::string_view key) {
    absl::StrAppend(out, table, ".", key);
  });
}

bool ForeignKeys::Has(absl::string_view keys) const {
  for (const absl::string_view one : absl::StrSplit(keys, '|')) {
    const auto it = values_.find(std::string(one));
    if (it != values_.end() && !IsNull(it->second.text)) return true;
  }
  return false;
}

bool ForeignKeys::HasPrefix(absl::string_view prefix) const {
  const auto it = values_.lower_bound(std::string(prefix));
  return it != values_.end() && absl::StartsWith(it->first, prefix);
}

bool ForeignKeys::Taken(absl::string_view keys) const {
  for (const absl::string_view one : absl::StrSplit(keys, '|')) {
    const auto it = values_.find(std::string(one));
    if (it != values_.end() && it->second.taken) return true;
  }
  return false;
}

std::string ForeignKeys::NameOf(absl::string_view keys) const {
  for (const absl::string_view one : absl::StrSplit(keys, '|')) {
    const auto it = values_.find(std::string(one));
    if (it != values_.end() && !IsNull(it->second.text)) return std::string(one);
  }
  return std::string(keys.substr(0, keys.find('|')));
}

ForeignKeys::Value* ForeignKeys::Find(absl::string_view keys, std::string* key) {
  Value* found = nullptr;
  for (const absl::string_view one : absl::StrSplit(keys, '|')) {
    const auto it = values_.find(std::string(one));
    if (it == values_.end()) continue;
    it->second.taken = true;
    if (found != nullptr || IsNull(it->second.text)) continue;
    found = &it->second;
    *key = std::string(one);
  }
  return found;
}

void ForeignKeys::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

std::optional<std::string> ForeignKeys::Text(absl::string_view keys) {
  std::string key;
  const Value* v = Find(keys, &key);
  return v == nullptr ? std::nullopt : std::optional<std::string>(v->text);
}

std::optional<int64_t> ForeignKeys::Number(absl::string_view keys) {
  std::string key;
  const Value* v = Find(keys, &key);
  if (v == nullptr) return std::nullopt;
  constexpr int64_t kMost = int64_t{1} << 40;
  int64_t number = 0;
  double real = 0;
  if (absl::SimpleAtoi(v->text, &number) && number >= -1 && number <= kMost) return number;
  if (absl::SimpleAtod(v->text, &real) && real >= -1 && real <= static_cast<double>(kMost) &&
      std::trunc(real) == real)
    return static_cast<int64_t>(real);
  Refuse(key, "expected a whole number");
  return std::nullopt;
}

std::optional<double> ForeignKeys::Share(absl::string_view keys) {
  std::string key;
  const Value* v = Find(keys, &key);
  if (v == nullptr) return std::nullopt;
  double share = 0;
  if (absl::SimpleAtod(v->text, &share) && share >= 0 && share <= 1) return share;
  Refuse(key, "expected a number from 0 to 1");
  return std::nullopt;
}

std::optional<bool> ForeignKeys::Flag(absl::string_view keys) {
  std::string key;
  const Value* v = Find(keys, &key);
  if (v == nullptr) return std::nullopt;
  bool flag = false;
  if (absl::SimpleAtob(v->text, &flag)) return flag;
  Refuse(key, "expected true or false");
  return std::nullopt;
}

int64_t ForeignKeys::Need(absl::string_view keys) {
  if (const std::optional<int64_t> n = Number(keys)) return *n;
  const absl::string_view first = keys.substr(0, keys.find('|'));
  Fail(absl::InvalidArgumentError(absl::StrCat(name_, ": ", first, " is missing; expected a whole number")));
  return 1;
}

void ForeignKeys::Refuse(absl::string_view keys, absl::string_view what) {
  std::string key(keys.substr(0, keys.find('|')));
  const Value* v = Find(keys, &key);
  Fail(absl::InvalidArgumentError(absl::StrCat(
      name_, ": ", key, v == nullptr ? "" : absl::StrCat(" is \"", Shown(v->text), "\""), "; ", what)));
}

void ForeignKeys::LeaveOut(absl::string_view what) { left_out_.push_back(absl::StrCat(place_, what)); }

void ForeignKeys::LeaveOut(absl::string_view keys, absl::string_view instead) {
  std::string key;
  const Value* v = Find(keys, &key);
  if (v != nullptr) LeaveOut(absl::StrCat(key, "=", Shown(v->text), ": ", instead));
}

void ForeignKeys::Pass(absl::Span<const char* const> harmless, absl::string_view under) {
  for (auto& [key, value] : values_) {
    absl::string_view name = key;
    if (value.taken || (!under.empty() && !absl::ConsumePrefix(&name, absl::StrCat(under, ".")))) continue;
    for (const char* const h : harmless) value.taken = value.taken || MatchesName(name, h);
  }
}

void ForeignKeys::NameTheRest(absl::Span<const char* const> harmless, proto::Workload* workload,
                              absl::string_view under) {
  Pass(harmless, under);
  for (const std::string& what : left_out_) workload->add_left_out(what);
  for (const auto& [key, value] : values_) {
    if (value.taken || IsNull(value.text) || absl::EqualsIgnoreCase(value.text, "false")) continue;
    workload->add_left_out(absl::StrCat(place_, key, "=", Shown(value.text)));
  }
  left_out_.clear();
}

}  // namespace chakra::foreign
