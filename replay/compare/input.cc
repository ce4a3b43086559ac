#include "replay/compare/input.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/base/wire.h"
#include "trace/import/text/text.h"
#include "trace/io/file.h"
#include "trace/io/proto_io.h"
#include "trace/io/sniff.h"

namespace chakra {
namespace {

using google::protobuf::FieldDescriptor;

constexpr size_t kHead = 1 << 20;
constexpr size_t kTextHead = 4096;
constexpr int kMakespan = 2, kRank = 13;  // fields of proto::Report that every report has

// Whether a key is that of a report's field, or differs by one edit from that of a long field.
bool IsReportKey(absl::string_view key) {
  constexpr size_t kLong = 8;  // characters
  const auto* type = proto::Report::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    for (const std::string& known : {type->field(i)->name(), type->field(i)->json_name()}) {
      if (key == known || (key.size() >= kLong && known.size() >= kLong && EditDistance(key, known) == 1))
        return true;
    }
  }
  return false;
}

// Whether a key is the makespan's.
bool IsMakespan(absl::string_view key) { return IsReportKey(key) && absl::StartsWith(key, "mak"); }

// Whether the outermost object, as far as `s` has it, has a makespan, or has ranks and only keys of a report.
bool JsonLooksLikeReport(absl::string_view s) {
  int depth = 0;
  bool ranks = false, others = false;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '{' || s[i] == '[') ++depth;
    if (s[i] == '}' || s[i] == ']') --depth;
    if (s[i] != '"') continue;
    const size_t begin = ++i;
    while (i < s.size() && s[i] != '"') i += s[i] == '\\' ? 2 : 1;
    if (i >= s.size()) break;
    const absl::string_view rest = absl::StripLeadingAsciiWhitespace(s.substr(i + 1, 64));
    if (depth != 1 || !absl::StartsWith(rest, ":")) continue;
    const absl::string_view key = s.substr(begin, i - begin);
    if (IsMakespan(key)) return true;
    const bool list = absl::StartsWith(absl::StripLeadingAsciiWhitespace(rest.substr(1)), "[");
    ranks = ranks || (key == "rank" && list);  // other files have a rank that is a number
    others = others || !IsReportKey(key);
  }
  return ranks && !others;
}

bool IsPrintable(absl::string_view s) {
  s = s.substr(0, kTextHead);
  return std::all_of(s.begin(), s.end(), [](char c) {
    return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\n' || c == '\t' || c == '\r';
  });
}

// Whether the text begins, after comments, with `name:` or `name {` of a report's field.
bool LooksLikeTextMessage(absl::string_view s) {
  s = absl::StripLeadingAsciiWhitespace(s);
  while (absl::StartsWith(s, "#")) {
    const size_t end = s.find('\n');
    s = end == s.npos ? "" : absl::StripLeadingAsciiWhitespace(s.substr(end));
  }
  size_t n = 0;
  while (n < s.size() && (absl::ascii_isalnum(static_cast<unsigned char>(s[n])) || s[n] == '_')) ++n;
  const absl::string_view rest = absl::StripLeadingAsciiWhitespace(s.substr(n, 64));
  if (!IsReportKey(s.substr(0, n)) || !(absl::StartsWith(rest, ":") || absl::StartsWith(rest, "{")))
    return false;
  return IsMakespan(s.substr(0, n)) || absl::StartsWith(s, "rank {") ||
         absl::StrContains(s, "\nmakespan_ps:") || absl::StrContains(s, "\nrank {");
}

uint32_t WireTypeOf(const FieldDescriptor& field) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) return wire::kFixed64;
  const bool bytes = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING ||
                     field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE || field.is_packed();
  return bytes ? wire::kBytes : wire::kVarint;
}

// Whether all fields are fields of a report with the right types, including the makespan or a rank.
bool BinaryLooksLikeReport(absl::string_view s) {
  const auto* begin = reinterpret_cast<const uint8_t*>(s.data());
  wire::Cursor cursor{begin, begin + s.size()};
  const bool cut = s.size() == kHead;
  bool found = false;
  while (!cursor.done()) {
    wire::Field field;
    if (wire::ReadField(&cursor, &field) != nullptr) return cut && found;
    const FieldDescriptor* known =
        proto::Report::descriptor()->FindFieldByNumber(static_cast<int>(field.number));
    if (known == nullptr || WireTypeOf(*known) != field.type) return false;
    found |= field.number == kMakespan || field.number == kRank;
  }
  return found;
}

absl::Status CheckField(const google::protobuf::Message& message, const FieldDescriptor& field, int index,
                        const std::string& path) {
  const auto* reflection = message.GetReflection();
  const auto refuse = [&path](auto value, absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", value, "; expected ", expected));
  };
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 && absl::EndsWith(field.name(), "_ps")) {
    const int64_t ps = index < 0 ? reflection->GetInt64(message, &field)
                                 : reflection->GetRepeatedInt64(message, &field, index);
    if (ps < 0) return refuse(ps, "picoseconds, at least 0");
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE && index < 0) {
    const double x = reflection->GetDouble(message, &field);
    if (!std::isfinite(x)) return refuse(x, "a finite number");
  }
  return absl::OkStatus();
}

absl::Status CheckMessage(const google::protobuf::Message& message, const std::string& path) {
  const auto* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int n = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < n; ++i) {
      const std::string name = field->is_repeated() ? absl::StrCat(path, field->name(), "[", i, "]")
                                                    : absl::StrCat(path, field->name());
      absl::Status s;
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        s = CheckMessage(field->is_repeated() ? reflection->GetRepeatedMessage(message, field, i)
                                              : reflection->GetMessage(message, field),
                         name + ".");
      } else {
        s = CheckField(message, *field, field->is_repeated() ? i : -1, name);
      }
      if (!s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<proto::Report>> Checked(const proto::Report& report, const std::string& path) {
  RETURN_IF_ERROR(CheckReport(report, path));
  return report;
}

}  // namespace

absl::StatusOr<bool> LooksLikeReport(absl::string_view content, absl::string_view name) {
  const char* expected = "; expected what `replay --format json --report FILE` writes";
  if (absl::StartsWith(content, "rank,end_ps")) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": a report in CSV, which has only the ranks", expected));
  }
  if (absl::StartsWith(content, "chakra-replay ")) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": a report in text for people", expected));
  }
  if (LooksLikeJson(content)) return JsonLooksLikeReport(content);
  if (LooksLikeTextFormat(content)) return false;
  if (!content.empty() && IsPrintable(content)) return LooksLikeTextMessage(content);
  return BinaryLooksLikeReport(content);
}

absl::Status CheckReport(const proto::Report& report, absl::string_view name) {
  if (report.rank_size() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": rank: none; expected a report of `replay`, which has one for each rank"));
  }
  return CheckMessage(report, absl::StrCat(name, ": "));
}

absl::StatusOr<std::optional<proto::Report>> ReadReportIfAny(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  const bool regular = type == std::filesystem::file_type::regular;
  if (!regular && type != std::filesystem::file_type::fifo) return std::nullopt;
  proto::Report report;
  if (!regular) {
    ASSIGN_OR_RETURN(auto content, ReadFile(path));
    ASSIGN_OR_RETURN(auto looks, LooksLikeReport(absl::string_view(content).substr(0, kHead), path));
    if (!looks)
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": a pipe without a report; traces have to be files"));
    RETURN_IF_ERROR(ParseMessage(content, path, &report));
    return Checked(report, path);
  }
  ASSIGN_OR_RETURN(auto looks, LooksLikeReport(ReadHead(path, kHead).value_or(""), path));
  if (!looks) return std::nullopt;
  RETURN_IF_ERROR(ReadMessageFile(path, &report));
  return Checked(report, path);
}

}  // namespace chakra
