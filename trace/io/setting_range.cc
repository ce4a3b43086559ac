#include "trace/io/setting_range.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace chakra {
namespace {

using google::protobuf::FieldDescriptor;

bool IsInteger(const FieldDescriptor& f) {
  const FieldDescriptor& value = f.is_map() ? *f.message_type()->map_value() : f;
  return value.cpp_type() != FieldDescriptor::CPPTYPE_DOUBLE &&
         value.cpp_type() != FieldDescriptor::CPPTYPE_FLOAT;
}

std::string Plain(double v) {
  return v == std::floor(v) && std::fabs(v) < 1e15 && std::fabs(v) >= 1e6
             ? absl::StrCat(static_cast<int64_t>(v))
             : absl::StrCat(v);
}

// Prints `v` with its unit; a time in the largest unit in which it is a whole number.
std::string PrintWithUnit(double v, const FieldUnit& unit) {
  constexpr std::pair<const char*, double> kTimes[] = {
      {"s", 1e12}, {"ms", 1e9}, {"us", 1e6}, {"ns", 1e3}, {"ps", 1}};
  constexpr double kTera = 1e12;
  if (unit.kind == FieldUnit::Kind::kBytes && v >= kTera && std::fmod(v, kTera) == 0)
    return absl::StrCat(Plain(v / kTera), "TB");
  if (unit.kind != FieldUnit::Kind::kTime) return absl::StrCat(Plain(v), unit.sign);
  const double picos = std::round(v * unit.scale);
  if (!(std::fabs(picos) < 1e18)) return absl::StrCat(v, unit.sign);
  for (const auto& [sign, scale] : kTimes) {
    if (picos == std::floor(picos / scale) * scale) return absl::StrCat(Plain(picos / scale), sign);
  }
  return absl::StrCat(v, unit.sign);
}

}  // namespace

SettingRange::SettingRange(const FieldDescriptor& field, bool by_key)
    : setting_(field.options().GetExtension(proto::setting)),
      unit_(by_key ? UnitOf(field) : FieldUnit()),
      whole_(IsInteger(field)) {}

bool SettingRange::any() const {
  return setting_.has_least() || setting_.has_above() || setting_.has_most() || setting_.has_below();
}

bool SettingRange::Holds(double v) const {
  if (setting_.has_also() && v == setting_.also()) return true;
  return std::isfinite(v) && !(setting_.has_least() && v < setting_.least()) &&
         !(setting_.has_above() && v <= setting_.above()) && !(setting_.has_most() && v > setting_.most()) &&
         !(setting_.has_below() && v >= setting_.below());
}

std::string SettingRange::Print(double v) const { return PrintWithUnit(v, unit_); }

std::string SettingRange::Text() const {
  const bool whole = whole_ && unit_.kind == FieldUnit::Kind::kNone;
  std::string text;
  if (setting_.has_least() && setting_.has_most()) {
    text = absl::StrCat(whole ? "a whole number from " : "", Print(setting_.least()), " to ",
                        Print(setting_.most()));
  } else {
    std::vector<std::string> ends;
    if (setting_.has_least()) ends.push_back(absl::StrCat(">= ", Print(setting_.least())));
    if (setting_.has_above()) ends.push_back(absl::StrCat("> ", Print(setting_.above())));
    if (setting_.has_most()) ends.push_back(absl::StrCat("<= ", Print(setting_.most())));
    if (setting_.has_below()) ends.push_back(absl::StrCat("< ", Print(setting_.below())));
    text = absl::StrCat(whole ? "a whole number " : "", absl::StrJoin(ends, " and "));
  }
  if (setting_.has_also()) absl::StrAppend(&text, ", or ", Print(setting_.also()));
  return text;
}

std::string SettingRange::Hint(double v) const {
  if (setting_.has_least() && v < setting_.least())
    return absl::StrCat("; the nearest is ", Print(setting_.least()));
  if (setting_.has_most() && v > setting_.most())
    return absl::StrCat("; the nearest is ", Print(setting_.most()));
  if (setting_.has_below() && setting_.below() == 1 && v > 1 && v <= 100) {
    return absl::StrCat("; ", v, " % is ", v / 100);
  }
  return "";
}

}  // namespace chakra
