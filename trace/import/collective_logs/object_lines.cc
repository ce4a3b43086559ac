#include "trace/import/collective_logs/object_lines.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace chakra::collective_logs {

bool GoOverLines(absl::string_view content) {
  content = absl::StripLeadingAsciiWhitespace(content);
  const size_t end = content.find('\n');
  if (end == content.npos || absl::EndsWith(absl::StripTrailingAsciiWhitespace(content.substr(0, end)), "}"))
    return false;
  // If a line was cut short, another object follows it.
  const absl::string_view next = absl::StripLeadingAsciiWhitespace(content.substr(end));
  return !next.empty() && next[0] != '{';
}

std::string InOneLineEach(absl::string_view content, size_t padding) {
  std::string out;
  out.reserve(content.size() + padding + 1);
  size_t depth = 0, lines = 0;  // of the object, and its line ends so far
  bool quoted = false;
  for (size_t i = 0; i < content.size(); ++i) {
    const char c = content[i];
    if (c == '\n' && depth > 0) {
      ++lines;
      out += ' ';
      continue;
    }
    out += c;
    if (quoted) {
      if (c == '\\' && i + 1 < content.size() && content[i + 1] != '\n') out += content[++i];
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{') ++depth;
    if (c != '}' || depth == 0 || --depth > 0) continue;
    out.append(lines, '\n');
    lines = 0;
  }
  out.reserve(out.size() + padding);
  return out;
}

}  // namespace chakra::collective_logs
