#include "trace/base/json_text.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"

namespace chakra {
namespace {

bool NeedsEscape(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

}  // namespace

void AppendJsonText(absl::string_view text, std::string* out) {
  out->push_back('"');
  while (!text.empty()) {
    const auto plain =
        static_cast<size_t>(std::find_if(text.begin(), text.end(), NeedsEscape) - text.begin());
    out->append(text.data(), plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    if (static_cast<unsigned char>(text[0]) < 0x20) {
      absl::StrAppendFormat(out, "\\u%04x", static_cast<unsigned>(text[0]));
    } else {
      out->push_back('\\');
      out->push_back(text[0]);
    }
    text.remove_prefix(1);
  }
  out->push_back('"');
}

std::string JsonText(absl::string_view text) {
  std::string out;
  AppendJsonText(text, &out);
  return out;
}

}  // namespace chakra
