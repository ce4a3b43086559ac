#include "trace/generate/foreign_keys.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace chakra::generate {
namespace {

bool IsNull(absl::string_view text) {
  return text.empty() || text == "null" || text == "None" || text == "~";
}

std::string Shown(const std::string& text) { return text.size() <= 60 ? text : text.substr(0, 57) + "..."; }

}  // namespace

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
  int64_t number = 0;
  if (absl::SimpleAtoi(v->text, &number) && number >= -1 && number <= (int64_t{1} << 40)) return number;
  Fail(absl::InvalidArgumentError(
      absl::StrCat(name_, ": ", key, " is \"", Shown(v->text), "\"; expected a whole number")));
  return std::nullopt;
}

std::optional<double> ForeignKeys::Share(absl::string_view keys) {
  std::string key;
  const Value* v = Find(keys, &key);
  if (v == nullptr) return std::nullopt;
  double share = 0;
  if (absl::SimpleAtod(v->text, &share) && share >= 0 && share <= 1) return share;
  Fail(absl::InvalidArgumentError(
      absl::StrCat(name_, ": ", key, " is \"", Shown(v->text), "\"; expected a number from 0 to 1")));
  return std::nullopt;
}

std::optional<bool> ForeignKeys::Flag(absl::string_view keys) {
  std::string key;
  const Value* v = Find(keys, &key);
  if (v == nullptr) return std::nullopt;
  bool flag = false;
  if (absl::SimpleAtob(v->text, &flag)) return flag;
  Fail(absl::InvalidArgumentError(
      absl::StrCat(name_, ": ", key, " is \"", Shown(v->text), "\"; expected true or false")));
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

void ForeignKeys::NameTheRest(const std::vector<absl::string_view>& harmless,
                              proto::Workload* workload) const {
  for (const std::string& what : left_out_) workload->add_left_out(what);
  for (const auto& [key, value] : values_) {
    if (value.taken || IsNull(value.text) || value.text == "false" || value.text == "False") continue;
    bool passed = false;
    for (const absl::string_view h : harmless) passed = passed || absl::StartsWith(key, h);
    if (!passed) workload->add_left_out(absl::StrCat(key, "=", Shown(value.text)));
  }
}

}  // namespace chakra::generate
