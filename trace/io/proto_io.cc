#include "trace/io/proto_io.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/base/utf8.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"
#include "trace/io/json_message.h"

namespace chakra {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool IsText(absl::string_view content) {
  return ValidUtf8Prefix(content) == content.size() &&
         std::none_of(content.begin(), content.end(), [](char c) {
           return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
         });
}

std::vector<std::string> FieldNames(const Descriptor* type) {
  std::vector<std::string> names;
  for (int i = 0; i < type->field_count(); ++i) names.push_back(type->field(i)->name());
  return names;
}

// Returns the text between the first pair of double quotes after `lead`; "" if there is none.
std::string QuotedAfter(const std::string& message, const std::string& lead) {
  const size_t at = message.find(lead);
  if (at == std::string::npos) return "";
  const size_t begin = message.find('"', at + lead.size());
  const size_t end = begin == std::string::npos ? begin : message.find('"', begin + 1);
  return end == std::string::npos ? "" : message.substr(begin + 1, end - begin - 1);
}

// Finds the message type with this full name in the descriptor pool of `type`.
const Descriptor* FindType(const Descriptor* type, const std::string& name) {
  return type->file()->pool()->FindMessageTypeByName(name);
}

// Finds the enum field with this name in `type` or a message type that it contains.
const FieldDescriptor* FindEnumField(const Descriptor* type, const std::string& name, int depth = 0) {
  if (const FieldDescriptor* f = type->FindFieldByName(name); f != nullptr && f->enum_type() != nullptr)
    return f;
  for (int i = 0; depth < 8 && i < type->field_count(); ++i) {
    const Descriptor* inner = type->field(i)->message_type();
    if (inner == nullptr) continue;
    if (const FieldDescriptor* f = FindEnumField(inner, name, depth + 1)) return f;
  }
  return nullptr;
}

// Keeps the first error of the text parser and rewrites it in the style of this project.
class TextErrors : public google::protobuf::io::ErrorCollector {
 public:
  TextErrors(absl::string_view content, absl::string_view name, const Descriptor* type)
      : content_(content), name_(name), type_(type) {}

  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (!text_.empty()) return;
    const std::string where = absl::StrCat(name_, ":", line + 1, ":", column + 1);
    if (const std::string field = QuotedAfter(message, "has no field named"); !field.empty()) {
      const Descriptor* type = FindType(type_, QuotedAfter(message, "Message type"));
      text_ = absl::StrCat("unknown field '", field, "' at ", where,
                           type == nullptr ? "" : SuggestName(field, FieldNames(type)));
      if (type != nullptr) absl::StrAppend(&text_, " (in ", type->name(), ")");
      return;
    }
    if (const std::string value = QuotedAfter(message, "Unknown enumeration value of"); !value.empty()) {
      const std::string field = QuotedAfter(message, "for field");
      text_ = absl::StrCat("field '", field, "': unknown value '", value, "' at ", where);
      if (const FieldDescriptor* f = FindEnumField(type_, field)) {
        std::vector<std::string> names;
        for (int i = 0; i < f->enum_type()->value_count(); ++i)
          names.push_back(f->enum_type()->value(i)->name());
        absl::StrAppend(&text_, SuggestName(value, names));
      }
      return;
    }
    const std::string field = FieldBefore(line, column);
    text_ = absl::StrCat(field.empty() ? "" : absl::StrCat("field '", field, "': "), message, " at ", where);
  }

  const std::string& text() const { return text_; }

 private:
  // Returns the name of the field whose value is at this position: the last name before it.
  std::string FieldBefore(int line, int column) const {
    const std::vector<absl::string_view> lines = absl::StrSplit(content_, '\n');
    if (line < 0 || static_cast<size_t>(line) >= lines.size()) return "";
    absl::string_view before = lines[static_cast<size_t>(line)].substr(
        0, std::min(static_cast<size_t>(std::max(column, 0)), lines[static_cast<size_t>(line)].size()));
    const size_t colon = before.rfind(':');
    if (colon == absl::string_view::npos) return "";
    before = absl::StripTrailingAsciiWhitespace(before.substr(0, colon));
    size_t begin = before.size();
    while (begin > 0 &&
           (absl::ascii_isalnum(static_cast<unsigned char>(before[begin - 1])) || before[begin - 1] == '_'))
      --begin;
    return std::string(before.substr(begin));
  }

  absl::string_view content_;
  absl::string_view name_;
  const Descriptor* type_;
  std::string text_;
};

// Finds the first message with unknown fields. Sets `where` to its path ("topology.dimension[2]") and
// `number` to the number of the unknown field.
bool FindUnknown(const Message& m, const std::string& path, std::string* where, int* number) {
  const auto* r = m.GetReflection();
  if (const auto& unknown = r->GetUnknownFields(m); !unknown.empty()) {
    *where = path;
    *number = unknown.field(0).number();
    return true;
  }
  std::vector<const FieldDescriptor*> fields;
  r->ListFields(m, &fields);
  for (const FieldDescriptor* f : fields) {
    if (f->message_type() == nullptr) continue;
    const std::string inner = path.empty() ? f->name() : absl::StrCat(path, ".", f->name());
    if (!f->is_repeated()) {
      if (FindUnknown(r->GetMessage(m, f), inner, where, number)) return true;
      continue;
    }
    for (int i = 0; i < r->FieldSize(m, f); ++i) {
      if (FindUnknown(r->GetRepeatedMessage(m, f, i), absl::StrCat(inner, "[", i, "]"), where, number))
        return true;
    }
  }
  return false;
}

// Returns the position of the first error in the wire data of a message: the offset and the name of the
// outermost field that cannot be parsed.
std::string LocateBinaryError(absl::string_view content, const Message& prototype) {
  using google::protobuf::internal::WireFormatLite;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(content.data()),
                                            static_cast<int>(content.size()));
  int at = 0;
  const auto describe = [&](uint32_t tag) {
    const FieldDescriptor* f =
        prototype.GetDescriptor()->FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    return absl::StrCat("byte ", at, f == nullptr ? "" : absl::StrCat(", field '", f->name(), "'"));
  };
  while (static_cast<size_t>(at) < content.size()) {
    const uint32_t tag = in.ReadTag();
    if (tag == 0 || !WireFormatLite::SkipField(&in, tag)) return describe(tag);
    const int end = in.CurrentPosition();
    std::unique_ptr<Message> part(prototype.New());
    if (!part->ParseFromArray(content.data() + at, end - at)) return describe(tag);
    at = end;
  }
  return absl::StrCat("byte ", at);
}

absl::Status ParseBinary(absl::string_view content, absl::string_view name, Message* out) {
  if (content.size() > 0x7fffffff) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": larger than 2 GiB, too large for one message"));
  }
  google::protobuf::LogSilencer quiet;
  const std::string type = out->GetDescriptor()->name();
  if (!out->ParseFromArray(content.data(), static_cast<int>(content.size()))) {
    const std::string where = LocateBinaryError(content, *out);
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": not a ", type, ": broken at ", where,
                     "; expected JSON (starts with '{'), text format, or the binary form of a ", type));
  }
  std::string where;
  int number = 0;
  if (FindUnknown(*out, "", &where, &number)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": unknown field number ", number, " in ",
                                                   where.empty() ? "the message" : where,
                                                   "; expected a binary ", type));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadMessageFile(const std::string& path, Message* out) {
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
  return ParseMessage(content, path, out);
}

absl::Status ParseTextMessage(absl::string_view content, absl::string_view name, Message* out) {
  out->Clear();
  google::protobuf::LogSilencer quiet;
  google::protobuf::TextFormat::Parser parser;
  TextErrors errors(content, name, out->GetDescriptor());
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(100);
  if (parser.ParseFromString(std::string(content), out)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      errors.text().empty() ? absl::StrCat(name, ": not a text-format ", out->GetDescriptor()->name())
                            : errors.text());
}

absl::Status ParseMessage(absl::string_view content, absl::string_view name, Message* out) {
  out->Clear();
  const absl::string_view trimmed = absl::StripLeadingAsciiWhitespace(content);
  if (!trimmed.empty() && trimmed[0] == '{') {
    JsonReader reader(content, name);
    ASSIGN_OR_RETURN(const JsonValue value, reader.Next());
    if (!reader.AtEnd()) return reader.Error(value.end, "JSON: more text after the end of the value");
    return JsonToMessage(reader, value, out);
  }
  if (!IsText(content)) return ParseBinary(content, name, out);
  const absl::Status text = ParseTextMessage(content, name, out);
  if (text.ok()) return text;
  // A short binary message may consist of printable bytes only.
  if (ParseBinary(content, name, out).ok()) return absl::OkStatus();
  out->Clear();
  return text;
}

absl::StatusOr<std::string> FormatMessage(const Message& message, MessageFormat format) {
  google::protobuf::LogSilencer quiet;
  std::string out;
  const std::string type = message.GetDescriptor()->name();
  if (format == MessageFormat::kBinary) {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!message.SerializeToCodedStream(&coded))
      return absl::InternalError(absl::StrCat("cannot serialize ", type));
    coded.Trim();
    return out;
  }
  if (format == MessageFormat::kText) {
    google::protobuf::TextFormat::Printer printer;
    printer.SetUseUtf8StringEscaping(true);
    if (!printer.PrintToString(message, &out))
      return absl::InternalError(absl::StrCat("cannot print ", type));
    return out;
  }
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  const auto status = google::protobuf::util::MessageToJsonString(message, &out, options);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(type, " as JSON: ", std::string(status.message())));
  }
  return out;
}

absl::Status WriteMessageFile(const Message& message, MessageFormat format, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string content, FormatMessage(message, format));
  return WriteFile(path, content);
}

}  // namespace chakra
