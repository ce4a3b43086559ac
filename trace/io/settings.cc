#include "trace/io/settings.h"

#include <google/protobuf/descriptor.h>

#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/setting.pb.h"
#include "trace/base/status_macros.h"
#include "trace/io/field_value.h"
#include "trace/io/setting_range.h"
#include "trace/io/topic.h"

namespace chakra {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using proto::Setting;

const Setting& SettingOf(const FieldDescriptor& f) { return f.options().GetExtension(proto::setting); }
using Range = SettingRange;

absl::Status Check(const Range& range, const std::string& name, double v) {
  if (!range.any() || range.Holds(v)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", range.Print(v), "; expected ", range.Text(), range.Hint(v)));
}

// Reads a numeric field; `at` is the position in a repeated field, or -1. Returns false if the field is not
// numeric.
bool NumberAt(const Message& m, const FieldDescriptor* f, int at, double* out) {
  const Reflection& r = *m.GetReflection();
#define CHAKRA_GET(TYPE)                                                                  \
  *out = static_cast<double>(at < 0 ? r.Get##TYPE(m, f) : r.GetRepeated##TYPE(m, f, at)); \
  return true
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      CHAKRA_GET(Int32);
    case FieldDescriptor::CPPTYPE_INT64:
      CHAKRA_GET(Int64);
    case FieldDescriptor::CPPTYPE_UINT32:
      CHAKRA_GET(UInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      CHAKRA_GET(UInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      CHAKRA_GET(Double);
    default:
      return false;
  }
#undef CHAKRA_GET
}

// Checks that the value has a name: an enum read from a file may be any number.
absl::Status CheckEnum(const Message& m, const FieldDescriptor* f, const std::string& name) {
  const int number = m.GetReflection()->GetEnumValue(m, f);
  if (f->enum_type()->FindValueByNumber(number) != nullptr) return absl::OkStatus();
  std::vector<std::string> names;
  for (int i = 0; i < f->enum_type()->value_count(); ++i) names.push_back(f->enum_type()->value(i)->name());
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", number, "; expected ", absl::StrJoin(names, ", ")));
}

std::string LabelOf(const Message& m) {
  const FieldDescriptor* f = m.GetDescriptor()->FindFieldByName("label");
  return f == nullptr || f->is_repeated() || f->cpp_type() != FieldDescriptor::CPPTYPE_STRING
             ? ""
             : m.GetReflection()->GetString(m, f);
}

// Whether a field of the type, or of a message in it, is a setting. The depth is limited, because message
// types may contain themselves.
bool HasSettings(const Descriptor& type, int depth = 0) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& f = *type.field(i);
    if (f.options().HasExtension(proto::setting)) return true;
    if (f.message_type() != nullptr && depth < 8 && HasSettings(*f.message_type(), depth + 1)) return true;
  }
  return false;
}

absl::Status CheckAll(const Message& m, const std::string& place);

absl::Status CheckMap(const Message& m, const FieldDescriptor* f, const std::string& name) {
  const FieldDescriptor *key = f->message_type()->map_key(), *value = f->message_type()->map_value();
  const Range range(*f, false);
  // Check in the order of the keys, so that the same error is reported each time.
  std::map<std::string, double> values;
  for (int i = 0; i < m.GetReflection()->FieldSize(m, f); ++i) {
    const Message& entry = m.GetReflection()->GetRepeatedMessage(m, f, i);
    double v = 0;
    if (key->cpp_type() == FieldDescriptor::CPPTYPE_STRING && NumberAt(entry, value, -1, &v))
      values[entry.GetReflection()->GetString(entry, key)] = v;
  }
  for (const auto& [k, v] : values) {
    RETURN_IF_ERROR(Check(range, absl::StrCat(name, "[\"", k, "\"]"), v));
  }
  return absl::OkStatus();
}

absl::Status CheckField(const Message& m, const FieldDescriptor* f, const std::string& place) {
  const Reflection& r = *m.GetReflection();
  const std::string name = absl::StrCat(place, f->name());
  if (f->is_map()) return CheckMap(m, f, name);
  if (f->message_type() != nullptr && !HasSettings(*f->message_type())) return absl::OkStatus();
  const int n = f->is_repeated() ? r.FieldSize(m, f) : 1;
  const Range range(*f, false);
  for (int i = 0; i < n; ++i) {
    const int at = f->is_repeated() ? i : -1;
    const std::string one = at < 0 ? name : absl::StrCat(name, "[", at, "]");
    double v = 0;
    absl::Status s;
    if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const Message& inner = at < 0 ? r.GetMessage(m, f) : r.GetRepeatedMessage(m, f, at);
      const std::string label = LabelOf(inner);
      s = CheckAll(inner, label.empty() ? absl::StrCat(one, ".") : absl::StrCat(label, ": "));
    } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_ENUM && at < 0) {
      s = CheckEnum(m, f, one);
    } else if (NumberAt(m, f, at, &v)) {
      s = Check(range, one, v);
    }
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status CheckAll(const Message& m, const std::string& place) {
  std::vector<const FieldDescriptor*> fields;
  m.GetReflection()->ListFields(m, &fields);
  for (const FieldDescriptor* f : fields) {
    RETURN_IF_ERROR(CheckField(m, f, place));
  }
  return absl::OkStatus();
}

std::vector<const FieldDescriptor*> FieldsOf(const Descriptor& type, absl::string_view key) {
  std::vector<const FieldDescriptor*> fields;
  for (int i = 0; i < type.field_count(); ++i) {
    if (SettingKey(*type.field(i)) == key) fields.push_back(type.field(i));
  }
  return fields;
}

absl::Status UnknownKey(const std::string& key, const Descriptor& type) {
  std::vector<std::string> known;
  for (const SettingDoc& d : DescribeSettings(type)) known.push_back(d.key);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown key \"", key, "\"", SuggestKey(key, known, TopicOf(type))));
}

// Reads one value of a short form.
absl::Status ReadOne(absl::string_view value, const FieldDescriptor* f, Message* m) {
  if (!f->is_repeated()) return SetValue(value, true, {}, f, m);
  m->GetReflection()->ClearField(m, f);
  if (value.empty()) return absl::OkStatus();
  if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
    return SetValue(value, true, {ValuePlace::kAdd}, f, m);
  for (const absl::string_view part : absl::StrSplit(value, 'x')) {
    RETURN_IF_ERROR(SetValue(part, true, {ValuePlace::kAdd}, f, m));
  }
  return absl::OkStatus();
}

// Reads a value whose unit determines which one of `fields` it sets.
absl::Status ReadByUnit(absl::string_view value, const std::vector<const FieldDescriptor*>& fields,
                        Message* m) {
  const bool has_unit = !value.empty() && absl::ascii_isalpha(static_cast<unsigned char>(value.back()));
  for (const FieldDescriptor* f : fields) {
    if (has_unit && SetValue(value, true, {}, f, m).ok()) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", value, "\"; expected a size in bytes (not bits) or a time, with its unit, as 400KB or 32us"));
}

// Checks the range of the fields that `key` sets.
absl::Status CheckKey(const std::string& key, const std::vector<const FieldDescriptor*>& fields,
                      const Message& m) {
  for (const FieldDescriptor* f : fields) {
    const Range range(*f, true);
    const int n = f->is_repeated() ? m.GetReflection()->FieldSize(m, f) : 1;
    double v = 0;
    for (int i = 0; i < n; ++i) {
      if (!f->is_repeated() && !m.GetReflection()->HasField(m, f))
        continue;  // absent; 0 counts as absent for some fields
      if (!NumberAt(m, f, f->is_repeated() ? i : -1, &v)) continue;
      RETURN_IF_ERROR(Check(range, key, v));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadItem(const std::string& key, const std::string& value, Message* m) {
  const std::vector<const FieldDescriptor*> fields = FieldsOf(*m->GetDescriptor(), key);
  if (fields.empty() || key.empty()) return UnknownKey(key, *m->GetDescriptor());
  const bool text = fields[0]->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  const absl::string_view inner = text ? WithoutParentheses(value) : absl::string_view(value);
  if (text && inner.empty() && !SettingOf(*fields[0]).may_be_empty()) {
    return absl::InvalidArgumentError(absl::StrCat(key, " is empty; expected text"));
  }
  const absl::Status read = fields.size() == 1 ? ReadOne(inner, fields[0], m) : ReadByUnit(inner, fields, m);
  if (!read.ok()) return absl::InvalidArgumentError(absl::StrCat(key, " is ", read.message()));
  return CheckKey(key, fields, *m);
}

absl::Status After(absl::string_view name, const absl::Status& s) {
  return s.ok() ? s : absl::InvalidArgumentError(absl::StrCat(name, ": ", s.message()));
}

std::string Words(const google::protobuf::EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 0; i < type.value_count(); ++i) words.push_back(absl::AsciiStrToLower(type.value(i)->name()));
  const std::string last = words.back();
  words.pop_back();
  return absl::StrCat(absl::StrJoin(words, ", "), " or ", last);
}

// Returns the allowed values of a field, by its type and range.
std::string ValuesOf(const FieldDescriptor& f) {
  if (f.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) return Words(*f.enum_type());
  if (f.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) return "yes or no";
  const Range range(f, true);
  return range.any() ? range.Text() : "";
}

}  // namespace

std::string SettingKey(const FieldDescriptor& field) {
  if (!field.options().HasExtension(proto::setting) || SettingOf(field).short_form()) return "";
  if (!SettingOf(field).key().empty()) return SettingOf(field).key();
  return field.name().substr(0, field.name().size() - UnitOf(field).suffix.size());
}

absl::Status ReadSettings(const ShortForm& form, Message* out) {
  std::unique_ptr<Message> changed(out->New());
  changed->CopyFrom(*out);
  for (const auto& [key, value] : form.set) {
    RETURN_IF_ERROR(ReadItem(key, value, changed.get()));
  }
  out->GetReflection()->Swap(out, changed.get());
  return absl::OkStatus();
}

absl::Status ReadSettings(absl::string_view text, absl::string_view name, Message* out) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty()) return absl::OkStatus();
  const auto form = ParseShortForm(absl::StrCat("x:", text));
  return After(name, form.ok() ? ReadSettings(*form, out) : form.status());
}

absl::Status CheckSettings(const Message& message, absl::string_view place) {
  return CheckAll(message, std::string(place));
}

absl::Status CheckSetting(const FieldDescriptor& field, double value) {
  return Check(Range(field, true), SettingKey(field), value);
}

double SettingNumber(const Message& message, const FieldDescriptor& field) {
  double v = 0;
  NumberAt(message, &field, -1, &v);
  return v;
}

absl::Status ExpandShortForm(Message* message) {
  const Descriptor& type = *message->GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* f = type.field(i);
    if (!f->options().HasExtension(proto::setting) || !SettingOf(*f).short_form()) continue;
    const std::string text = message->GetReflection()->GetString(*message, f);
    if (text.empty()) continue;
    RETURN_IF_ERROR(ReadSettings(text, f->name(), message));
    message->GetReflection()->ClearField(message, f);
  }
  return absl::OkStatus();
}

std::vector<SettingDoc> DescribeSettings(const Descriptor& type) {
  std::vector<SettingDoc> docs;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& f = *type.field(i);
    const std::string key = SettingKey(f), range = ValuesOf(f);
    if (key.empty()) continue;
    if (!docs.empty() && docs.back().key == key) {  // another field of a oneof with the same key
      absl::StrAppend(&docs.back().values, ", or ", range);
      continue;
    }
    docs.push_back({key, SettingOf(f).fallback(), SettingOf(f).doc(), range});
  }
  return docs;
}

}  // namespace chakra
