#include "trace/io/json_message.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>

#include <limits>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Kind = JsonValue::Kind;

const FieldDescriptor* FindField(const Descriptor* type, const std::string& key) {
  if (const FieldDescriptor* f = type->FindFieldByName(key)) return f;
  for (int i = 0; i < type->field_count(); ++i) {
    if (type->field(i)->json_name() == key) return type->field(i);
  }
  return nullptr;
}

class Filler {
 public:
  explicit Filler(const JsonReader& reader) : reader_(reader) {}

  absl::Status Fill(const JsonValue& object, Message* out, const UnknownKey& unknown) {
    const Descriptor* type = out->GetDescriptor();
    if (!object.is(Kind::kObject)) {
      return reader_.Error(
          object.begin, absl::StrCat("expected an object (", type->name(), "), found ", Name(object.kind)));
    }
    if (absl::StartsWith(type->full_name(), "google.protobuf.")) return FillWellKnown(object, out);
    std::set<const FieldDescriptor*> seen;
    std::set<const google::protobuf::OneofDescriptor*> chosen;
    for (const JsonMember& m : object.members) {
      const FieldDescriptor* f = FindField(type, m.key);
      if (f == nullptr) {
        RETURN_IF_ERROR(unknown ? unknown(m) : UnknownField(type, m));
        continue;
      }
      if (!seen.insert(f).second)
        return reader_.Error(m.at, absl::StrCat("field '", f->name(), "' given twice"));
      if (m.value.is(Kind::kNull)) continue;
      const auto* oneof = f->real_containing_oneof();
      if (oneof != nullptr && !chosen.insert(oneof).second) {
        return reader_.Error(m.at, absl::StrCat("field '", f->name(), "': only one field of '", oneof->name(),
                                                "' may be set"));
      }
      RETURN_IF_ERROR(FillField(m, f, out));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status UnknownField(const Descriptor* type, const JsonMember& m) {
    std::vector<std::string> names;
    for (int i = 0; i < type->field_count(); ++i) names.push_back(type->field(i)->name());
    return absl::InvalidArgumentError(absl::StrCat("unknown field '", m.key, "' at ", reader_.Where(m.at),
                                                   SuggestName(m.key, names), " (in ", type->name(), ")"));
  }

  absl::Status FillWellKnown(const JsonValue& object, Message* out) {
    const auto s = google::protobuf::util::JsonStringToMessage(std::string(reader_.Raw(object)), out);
    return s.ok() ? absl::OkStatus() : reader_.Error(object.begin, std::string(s.message()));
  }

  absl::Status FillField(const JsonMember& m, const FieldDescriptor* f, Message* out) {
    if (f->is_map()) return FillMap(m, f, out);
    if (!f->is_repeated()) return Set(m.value, f, f->name(), out);
    if (!m.value.is(Kind::kArray)) return Wrong(m.value, f->name(), "an array");
    for (const JsonValue& item : m.value.items) {
      RETURN_IF_ERROR(Set(item, f, f->name(), out));
    }
    return absl::OkStatus();
  }

  absl::Status FillMap(const JsonMember& m, const FieldDescriptor* f, Message* out) {
    if (!m.value.is(Kind::kObject)) return Wrong(m.value, f->name(), "an object");
    const FieldDescriptor* value_field = f->message_type()->map_value();
    for (const JsonMember& entry : m.value.members) {
      Message* pair = out->GetReflection()->AddMessage(out, f);
      JsonValue key;
      key.kind = Kind::kString;
      key.begin = entry.at;
      key.text = entry.key;
      RETURN_IF_ERROR(Set(key, f->message_type()->map_key(), f->name(), pair));
      RETURN_IF_ERROR(Set(entry.value, value_field, absl::StrCat(f->name(), "[\"", entry.key, "\"]"), pair));
    }
    return absl::OkStatus();
  }

  absl::Status Wrong(const JsonValue& v, const std::string& label, absl::string_view what) {
    std::string found(Name(v.kind));
    if (v.is(Kind::kNumber)) absl::StrAppend(&found, " ", v.text);
    if (v.is(Kind::kString)) absl::StrAppend(&found, " \"", absl::CHexEscape(v.text.substr(0, 40)), "\"");
    return reader_.Error(v.begin, absl::StrCat("field '", label, "': expected ", what, ", found ", found));
  }

  template <typename T>
  absl::Status SetInteger(const JsonValue& v, const FieldDescriptor* f, const std::string& label,
                          Message* out,
                          void (google::protobuf::Reflection::*set)(Message*, const FieldDescriptor*, T)
                              const,
                          void (google::protobuf::Reflection::*add)(Message*, const FieldDescriptor*, T)
                              const) {
    int64_t s = 0;
    uint64_t u = 0;
    bool ok;
    if constexpr (std::is_signed_v<T>) {
      ok = v.ToInt64(&s) && s >= std::numeric_limits<T>::min() && s <= std::numeric_limits<T>::max();
    } else {
      ok = v.ToUint64(&u) && u <= std::numeric_limits<T>::max();
    }
    if (!ok) return Wrong(v, label, absl::StrCat("an integer (", f->type_name(), ")"));
    const T value = std::is_signed_v<T> ? static_cast<T>(s) : static_cast<T>(u);
    (out->GetReflection()->*(f->is_repeated() ? add : set))(out, f, value);
    return absl::OkStatus();
  }

  absl::Status SetEnum(const JsonValue& v, const FieldDescriptor* f, const std::string& label, Message* out) {
    const auto* type = f->enum_type();
    int number = 0;
    if (v.is(Kind::kString)) {
      const EnumValueDescriptor* value = type->FindValueByName(v.text);
      if (value == nullptr) {
        std::vector<std::string> names;
        for (int i = 0; i < type->value_count(); ++i) names.push_back(type->value(i)->name());
        return absl::InvalidArgumentError(absl::StrCat("field '", label, "': unknown value '", v.text,
                                                       "' at ", reader_.Where(v.begin),
                                                       SuggestName(v.text, names)));
      }
      number = value->number();
    } else {
      int64_t n;
      if (!v.ToInt64(&n) || n < INT32_MIN || n > INT32_MAX)
        return Wrong(v, label, "the name of an enum value");
      number = static_cast<int>(n);
    }
    const auto* r = out->GetReflection();
    f->is_repeated() ? r->AddEnumValue(out, f, number) : r->SetEnumValue(out, f, number);
    return absl::OkStatus();
  }

  absl::Status SetString(const JsonValue& v, const FieldDescriptor* f, const std::string& label,
                         Message* out) {
    if (!v.is(Kind::kString)) return Wrong(v, label, "a string");
    std::string bytes;
    if (f->type() == FieldDescriptor::TYPE_BYTES) {
      if (!absl::Base64Unescape(v.text, &bytes) && !absl::WebSafeBase64Unescape(v.text, &bytes)) {
        return Wrong(v, label, "base64");
      }
    } else {
      bytes = v.text;
    }
    const auto* r = out->GetReflection();
    f->is_repeated() ? r->AddString(out, f, bytes) : r->SetString(out, f, bytes);
    return absl::OkStatus();
  }

  absl::Status SetReal(const JsonValue& v, const FieldDescriptor* f, const std::string& label, Message* out) {
    const auto* r = out->GetReflection();
    double d;
    if (!v.ToDouble(&d, true)) return Wrong(v, label, "a finite number");
    if (f->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      f->is_repeated() ? r->AddDouble(out, f, d) : r->SetDouble(out, f, d);
      return absl::OkStatus();
    }
    const bool finite = d == d && d != std::numeric_limits<double>::infinity() &&
                        -d != std::numeric_limits<double>::infinity();
    if (finite && (d > std::numeric_limits<float>::max() || d < std::numeric_limits<float>::lowest())) {
      return Wrong(v, label, "a number in the range of a float");
    }
    const float x = static_cast<float>(d);
    f->is_repeated() ? r->AddFloat(out, f, x) : r->SetFloat(out, f, x);
    return absl::OkStatus();
  }

  absl::Status Set(const JsonValue& v, const FieldDescriptor* f, const std::string& label, Message* out) {
    using R = google::protobuf::Reflection;
    const R* r = out->GetReflection();
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return SetInteger<int32_t>(v, f, label, out, &R::SetInt32, &R::AddInt32);
      case FieldDescriptor::CPPTYPE_INT64:
        return SetInteger<int64_t>(v, f, label, out, &R::SetInt64, &R::AddInt64);
      case FieldDescriptor::CPPTYPE_UINT32:
        return SetInteger<uint32_t>(v, f, label, out, &R::SetUInt32, &R::AddUInt32);
      case FieldDescriptor::CPPTYPE_UINT64:
        return SetInteger<uint64_t>(v, f, label, out, &R::SetUInt64, &R::AddUInt64);
      case FieldDescriptor::CPPTYPE_DOUBLE:
      case FieldDescriptor::CPPTYPE_FLOAT:
        return SetReal(v, f, label, out);
      case FieldDescriptor::CPPTYPE_BOOL:
        if (!v.is(Kind::kBool)) return Wrong(v, label, "true or false");
        f->is_repeated() ? r->AddBool(out, f, v.boolean) : r->SetBool(out, f, v.boolean);
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_ENUM:
        return SetEnum(v, f, label, out);
      case FieldDescriptor::CPPTYPE_STRING:
        return SetString(v, f, label, out);
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (!v.is(Kind::kObject)) return Wrong(v, label, "an object");
        return Fill(v, f->is_repeated() ? r->AddMessage(out, f) : r->MutableMessage(out, f), nullptr);
    }
    return Wrong(v, label, "a known field type");
  }

  const JsonReader& reader_;
};

}  // namespace

absl::Status JsonToMessage(const JsonReader& reader, const JsonValue& object, Message* out,
                           const UnknownKey& unknown) {
  return Filler(reader).Fill(object, out, unknown);
}

}  // namespace chakra
