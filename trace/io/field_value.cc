#include "trace/io/field_value.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/quantity.h"
#include "trace/base/status_macros.h"
#include "trace/io/setting_range.h"

namespace chakra {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using UnitKind = FieldUnit::Kind;

// If one suffix ends in another, the longer suffix comes first.
constexpr FieldUnit kUnits[] = {{UnitKind::kRate, "_gbytes_per_s", "GB/s", 1e9},
                                {UnitKind::kRate, "_bytes_per_s", "B/s", 1},
                                {UnitKind::kRate, "_gbps", "Gb/s", 0.125e9},
                                {UnitKind::kBytes, "_bytes", "B", 1},
                                {UnitKind::kTime, "_ps", "ps", 1},
                                {UnitKind::kTime, "_ns", "ns", 1e3},
                                {UnitKind::kTime, "_us", "us", 1e6}};

absl::Status Expected(absl::string_view value, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("\"", value, "\"; expected ", what));
}

// The maximum time that a field's text may give: the maximum of the field's range, but at least one second.
Time MostTime(const FieldDescriptor& field, const FieldUnit& unit) {
  const proto::Setting& setting = field.options().GetExtension(proto::setting);
  const Time second = Time::Micros(1000000);
  return setting.has_most() ? std::max(second, Time::FromNanos(setting.most() * unit.scale * 1e-3)) : second;
}

// Parses a quantity with its unit and converts it to the field's unit.
absl::StatusOr<double> WithUnit(absl::string_view text, const FieldDescriptor& field, const FieldUnit& unit) {
  if (unit.kind == UnitKind::kBytes) {
    const auto bytes = ParseBytes(text);
    return bytes.ok() ? absl::StatusOr<double>(static_cast<double>(*bytes)) : bytes.status();
  }
  if (unit.kind == UnitKind::kTime) {
    const auto time = ParseTime(text, MostTime(field, unit));
    return time.ok() ? absl::StatusOr<double>(static_cast<double>(time->picos()) / unit.scale)
                     : time.status();
  }
  const auto rate = ParseRate(text);
  return rate.ok() ? absl::StatusOr<double>(static_cast<double>(rate->bytes_per_second()) / unit.scale)
                   : rate.status();
}

// Parses a plain number, or a quantity with its unit.
absl::StatusOr<double> Number(absl::string_view text, const FieldDescriptor& field, const FieldUnit& unit,
                              bool needs_unit) {
  double v = 0;
  const bool plain = absl::SimpleAtod(text, &v) && std::isfinite(v);
  if (unit.kind == UnitKind::kNone) return plain ? absl::StatusOr<double>(v) : Expected(text, "a number");
  if (plain && (!needs_unit || unit.kind == UnitKind::kBytes)) return v;
  auto quantity = WithUnit(text, field, unit);
  if (quantity.ok() || needs_unit ||
      (!text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0]))))
    return quantity;
  return Expected(text, absl::StrCat("a number (of ", unit.sign, "), or one with its unit"));
}

template <typename T>
absl::StatusOr<T> Integer(absl::string_view text, const FieldDescriptor& field, bool needs_unit) {
  const FieldUnit unit = UnitOf(field);
  T out = 0;
  const bool plain = !needs_unit || unit.kind == UnitKind::kNone || unit.kind == UnitKind::kBytes;
  if (plain && absl::SimpleAtoi(text, &out)) return out;
  const SettingRange known(field, true);
  const absl::Status range =
      Expected(text, known.any() ? known.Text()
                                 : absl::StrCat("a whole number from ", std::numeric_limits<T>::min(), " to ",
                                                std::numeric_limits<T>::max()));
  double v = 0;
  if (absl::SimpleAtod(text, &v) && (v < 0 || unit.kind == UnitKind::kNone)) {
    // Accepts "1e6" too, but only up to 2^53, where doubles are exact.
    const double most = std::min(9007199254740992.0, static_cast<double>(std::numeric_limits<T>::max()));
    if (v != std::floor(v) || v < static_cast<double>(std::numeric_limits<T>::min()) || v > most)
      return range;
    return static_cast<T>(v);
  }
  if (unit.kind == UnitKind::kNone) return range;
  ASSIGN_OR_RETURN(const auto quantity, WithUnit(text, field, unit));
  if (quantity != std::floor(quantity) || quantity > static_cast<double>(std::numeric_limits<T>::max()))
    return range;
  return static_cast<T>(quantity);
}

absl::StatusOr<bool> Boolean(absl::string_view text) {
  for (const char* yes : {"true", "yes", "1"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"false", "no", "0"}) {
    if (text == no) return false;
  }
  return Expected(text, "yes or no");
}

absl::StatusOr<int> EnumNumber(const EnumDescriptor& type, absl::string_view text) {
  const std::string word(text);
  const auto* found = type.FindValueByName(word);
  if (found == nullptr) found = type.FindValueByName(absl::AsciiStrToUpper(word));
  if (found != nullptr) return found->number();
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    const std::string& name = type.value(i)->name();
    if (!absl::EndsWith(name, "UNSPECIFIED")) names.push_back(absl::AsciiStrToLower(name));
  }
  const std::string nearest = NearestName(text, names);
  return Expected(text, absl::StrCat(absl::StrJoin(names, ", "),
                                     nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?")));
}

template <typename T, typename Set, typename SetAt, typename Add>
absl::Status Put(const absl::StatusOr<T>& value, ValuePlace place, const Set& set, const SetAt& set_at,
                 const Add& add) {
  if (!value.ok()) return value.status();
  if (place.how == ValuePlace::kSet) set(*value);
  if (place.how == ValuePlace::kSetAt) set_at(*value);
  if (place.how == ValuePlace::kAdd) add(*value);
  return absl::OkStatus();
}

}  // namespace

FieldUnit UnitOf(const FieldDescriptor& field) {
  for (const FieldUnit& u : kUnits) {
    if (absl::EndsWith(field.name(), u.suffix)) return u;
  }
  return FieldUnit();
}

absl::Status SetValue(absl::string_view text, bool needs_unit, ValuePlace place, const FieldDescriptor* f,
                      Message* m) {
  const Reflection& r = *m->GetReflection();
  const FieldUnit unit = UnitOf(*f);
#define CHAKRA_PUT(NAME, VALUE)                                       \
  return Put(                                                         \
      VALUE, place, [&](const auto& v) { r.Set##NAME(m, f, v); },     \
      [&](const auto& v) { r.SetRepeated##NAME(m, f, place.at, v); }, \
      [&](const auto& v) { r.Add##NAME(m, f, v); })
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      CHAKRA_PUT(Int32, Integer<int32_t>(text, *f, needs_unit));
    case FieldDescriptor::CPPTYPE_INT64:
      CHAKRA_PUT(Int64, Integer<int64_t>(text, *f, needs_unit));
    case FieldDescriptor::CPPTYPE_UINT32:
      CHAKRA_PUT(UInt32, Integer<uint32_t>(text, *f, needs_unit));
    case FieldDescriptor::CPPTYPE_UINT64:
      CHAKRA_PUT(UInt64, Integer<uint64_t>(text, *f, needs_unit));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      CHAKRA_PUT(Double, Number(text, *f, unit, needs_unit));
    case FieldDescriptor::CPPTYPE_FLOAT:
      CHAKRA_PUT(Float, Number(text, *f, unit, needs_unit));
    case FieldDescriptor::CPPTYPE_BOOL:
      CHAKRA_PUT(Bool, Boolean(text));
    case FieldDescriptor::CPPTYPE_ENUM:
      CHAKRA_PUT(EnumValue, EnumNumber(*f->enum_type(), text));
    case FieldDescriptor::CPPTYPE_STRING:
      CHAKRA_PUT(String, absl::StatusOr<std::string>(std::string(text)));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
#undef CHAKRA_PUT
  return absl::InternalError("a message is not a scalar");
}

}  // namespace chakra
