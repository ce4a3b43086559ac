#include "trace/io/proto_io.h"

#include <fcntl.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/wire_format_lite.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/io/json_message.h"

namespace chakra {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

absl::Status Errno(absl::string_view doing, absl::string_view path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat("cannot ", doing, " '", path, "'"));
}

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

// The text between the first pair of double quotes after `lead`; "" if none.
std::string QuotedAfter(const std::string& message, const std::string& lead) {
  const size_t at = message.find(lead);
  if (at == std::string::npos) return "";
  const size_t begin = message.find('"', at + lead.size());
  const size_t end = begin == std::string::npos ? begin : message.find('"', begin + 1);
  return end == std::string::npos ? "" : message.substr(begin + 1, end - begin - 1);
}

// Finds the message type with that full name in or below `type`.
const Descriptor* FindType(const Descriptor* type, const std::string& name) {
  return type->file()->pool()->FindMessageTypeByName(name);
}

// Finds the enum-typed field of that name in any message type reachable from `type`.
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

// Keeps the first error of a text parse, in this project's words.
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
  // The field whose value stands at a position: the last name before it.
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

// "topology.dimension[2]" of the first message with unknown fields, and the field's number.
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

// Where the wire data of a message first goes wrong: the offset of the
// outermost field that does not parse, and its name.
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

std::string Normal(absl::string_view s) {
  std::string out;
  for (char c : s) {
    if (c != '_' && c != '-' && c != ' ') out.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

// Insertions, deletions, substitutions and swaps of neighbours.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> before, last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) { return ReadFile(path, SIZE_MAX); }

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t most) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Errno("open", path, errno);
  std::string content;
  struct stat st;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) content.reserve(static_cast<size_t>(st.st_size) + 1);
  size_t used = 0;
  int error = 0;
  for (;;) {
    content.resize(std::max(content.capacity(), used + 65536));
    const ssize_t n = read(fd, content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error = errno;
    if (n <= 0) break;
    used += static_cast<size_t>(n);
    if (used > most) break;
  }
  close(fd);
  if (error != 0) return Errno("read", path, error);
  if (used > most)
    return absl::InvalidArgumentError(absl::StrCat(path, ": larger than expected, at most ", most, " bytes"));
  content.resize(used);
  return content;
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status OutputFile::Fail(absl::string_view doing) { return Errno(doing, path_, errno); }

absl::Status OutputFile::Open(const std::string& path, bool durable) {
  durable_ = durable;
  path_ = target_ = path;
  struct stat st;
  const bool exists = stat(path.c_str(), &st) == 0;
  if (exists && !S_ISREG(st.st_mode)) {
    fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return fd_ < 0 ? Fail("open") : absl::OkStatus();
  }
  if (exists) {
    if (char* real = realpath(path.c_str(), nullptr)) {
      target_ = real;
      free(real);
    }
  }
  std::string temporary = target_ + ".XXXXXX";
  fd_ = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd_ < 0) return Fail("create");
  temporary_ = temporary;
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd_, exists ? st.st_mode & 0777 : 0666 & ~mask) != 0) return Fail("create");
  return absl::OkStatus();
}

absl::Status OutputFile::Append(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Fail("write");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  if (durable_ && !temporary_.empty() && fsync(fd_) != 0) return Fail("write");
  const int closed = close(fd_);
  fd_ = -1;
  if (closed != 0) return Fail("write");
  if (temporary_.empty()) return absl::OkStatus();
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return Fail("create");
  temporary_.clear();
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, absl::string_view content) {
  OutputFile file;
  if (absl::Status s = file.Open(path); !s.ok()) return s;
  if (absl::Status s = file.Append(content); !s.ok()) return s;
  return file.Commit();
}

absl::Status ReadMessageFile(const std::string& path, Message* out) {
  const absl::StatusOr<std::string> content = ReadFile(path);
  if (!content.ok()) return content.status();
  return ParseMessage(*content, path, out);
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
    const absl::StatusOr<JsonValue> value = reader.Next();
    if (!value.ok()) return value.status();
    if (!reader.AtEnd()) return reader.Error(value->end, "JSON: more text after the end of the value");
    return JsonToMessage(reader, *value, out);
  }
  if (!IsText(content)) return ParseBinary(content, name, out);
  const absl::Status text = ParseTextMessage(content, name, out);
  if (text.ok()) return text;
  // A short binary message may be printable throughout.
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
  const absl::StatusOr<std::string> content = FormatMessage(message, format);
  if (!content.ok()) return content.status();
  return WriteFile(path, *content);
}

std::string NearestName(absl::string_view word, const std::vector<std::string>& candidates) {
  const std::string normal = Normal(word);
  if (normal.empty() || normal.size() > 100) return "";
  size_t best = std::max<size_t>(1, normal.size() / 3) + 1;
  std::string nearest;
  for (const std::string& c : candidates) {
    const std::string other = Normal(c);
    if (std::max(other.size(), normal.size()) - std::min(other.size(), normal.size()) >= best) continue;
    if (const size_t d = EditDistance(normal, other); d < best) {
      best = d;
      nearest = c;
    }
  }
  return nearest;
}

std::string SuggestName(absl::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = NearestName(word, candidates);
  if (!nearest.empty()) return absl::StrCat("; did you mean '", nearest, "'?");
  return absl::StrCat("; known: ", absl::StrJoin(candidates, ", "));
}

}  // namespace chakra
