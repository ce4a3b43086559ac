#include "replay/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace chakra::cli {
namespace {

constexpr int kMostColumns = 10000;  // a higher value is an error

// The number of columns; 0: not known.
size_t TerminalWidth() {
  const char* columns = std::getenv("COLUMNS");
  int width = 0;
  if (columns != nullptr && absl::SimpleAtoi(columns, &width) &&
      width >= static_cast<int>(TextPage::kLeast) && width <= kMostColumns) {
    return static_cast<size_t>(width);
  }
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Decides by the locale of the environment, as in locale(7).
bool ShowsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string lower = absl::AsciiStrToLower(value);
    return absl::StrContains(lower, "utf-8") || absl::StrContains(lower, "utf8");
  }
  return false;
}

}  // namespace

TextPage PageOf(const std::string& path, const std::string& format) {
  if (path != "-" || format != "text" || isatty(STDOUT_FILENO) != 1) return TextPage();
  const size_t width = TerminalWidth();
  return width == 0 ? TextPage() : TextPage(width, ShowsUtf8());
}

size_t HelpWidth() {
  constexpr size_t kLeast = 40, kMost = 100, kUnknown = 79;
  const size_t width = TerminalWidth();
  return width == 0 ? kUnknown : std::clamp(width, kLeast, kMost);
}

}  // namespace chakra::cli
