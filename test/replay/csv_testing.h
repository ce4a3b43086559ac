// Helpers of the tests of CSV.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "trace/io/csv.h"

namespace chakra {

inline WriteBytes Into(std::string* text) {
  return [text](absl::string_view bytes) {
    text->append(bytes.data(), bytes.size());
    return absl::OkStatus();
  };
}

// Each line ends with a newline.
inline std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  EXPECT_EQ(lines.back(), "");
  lines.pop_back();
  return lines;
}

inline std::vector<std::string> Cells(const std::string& line) { return absl::StrSplit(line, ','); }

}  // namespace chakra
