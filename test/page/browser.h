// A browser without a window, for tests of pages: runs a page's script to its end, and returns the document.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/replay/page_testing.h"

namespace chakra {

inline std::string Output(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  if (pipe == nullptr) return out;
  std::array<char, 4096> buffer;
  for (size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), n);
  pclose(pipe);
  return out;
}

// Skips its tests if no Chromium is installed.
class Browser : public testing::Test {
 protected:
  Browser() {
    browser_ = Output("command -v chromium || command -v chromium-browser || command -v google-chrome");
    while (!browser_.empty() && browser_.back() == '\n') browser_.pop_back();
    std::string pattern = (std::filesystem::temp_directory_path() / "page.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Browser() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void SetUp() override {
    if (browser_.empty()) GTEST_SKIP() << "no chromium: apt-get install chromium";
  }
  // The document after its script has run, without its <wbr> tags.
  std::string Document(const std::string& page, const std::string& flags = "") const {
    std::ofstream(folder_ / "page.html", std::ios::binary) << page;
    const std::string document = Output(absl::StrCat(
        "timeout 120 '", browser_,
        "' --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir='",
        (folder_ / "profile").string(), "' ", flags, " --virtual-time-budget=2000 --dump-dom 'file://",
        (folder_ / "page.html").string(), "' 2>/dev/null"));
    EXPECT_THAT(Between(document, "<html", ">"), testing::HasSubstr("data-ready=\"1\""))
        << document.substr(0, 2000);
    EXPECT_THAT(Between(document, "<html", ">"), testing::Not(testing::HasSubstr("data-error")));
    return absl::StrReplaceAll(document, {{"<wbr>", ""}});
  }
  // The tag <body> after the page has also run `script`, which writes attributes on <body>. Removes the
  // page's policy, which would forbid the script.
  std::string Played(std::string page, const std::string& script, const std::string& flags = "") const {
    const std::string policy = Between(page, "<meta http-equiv", ">");
    page = absl::StrReplaceAll(page, {{absl::StrCat("<meta http-equiv", policy, ">"), ""}});
    page = absl::StrReplaceAll(page, {{"</body>", absl::StrCat("<script>{", script, "}</script></body>")}});
    return Between(Document(page, flags), "<body", ">");
  }

  std::string browser_;
  std::filesystem::path folder_;
};

struct Cell {
  std::string value, text;
};

// The cells of the table `id`, in order, each with its value in the report and its text.
inline std::vector<Cell> Cells(const std::string& document, const std::string& id) {
  std::vector<Cell> cells;
  const std::string table = Between(document, absl::StrCat("<table id=\"", id, "\""), "</table>");
  for (size_t at = table.find("<td"); at != std::string::npos; at = table.find("<td", at + 1)) {
    const std::string cell = table.substr(at, table.find("</td>", at) - at);
    const std::string text = cell.substr(cell.find('>') + 1);
    cells.push_back({Between(cell, "data-v=\"", "\""), text.substr(0, text.find('<'))});
  }
  return cells;
}

}  // namespace chakra
