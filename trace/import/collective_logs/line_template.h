// Reads lines of JSON that differ from an earlier line only in numbers, without parsing them: programs write
// the same few kinds of lines again and again.
//
// A template is made from a line that a parser found valid. A line fits if it has the same bytes except for
// numbers that may differ, each of which is a valid JSON number. Such a line is valid too, and differs in
// meaning only by these numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra::collective_logs {

class LineTemplate {
 public:
  // The role of a number: a number of the caller's, from 0 on, or one of these.
  static constexpr int kFixed = -1;    // equal to that in the template
  static constexpr int kIgnored = -2;  // any number; its value is not used

  // Makes a template of `line`, a JSON object. role_of(path) gives the role of each number; a path is
  // "a.b[].c". A number with a role of the caller's must be an integer of 0 to 10^18 - 1 in all lines.
  // nullopt: a number is not such an integer, or the line is too long.
  static std::optional<LineTemplate> Of(absl::string_view line,
                                        const std::function<int(absl::string_view path)>& role_of);

  // The roles of the numbers that have one, in the order of the line.
  const std::vector<int>& roles() const { return roles_; }

  // Whether `text` begins with a line that fits, and ends there or continues with a line break. `values` gets
  // the numbers, one for each of roles(); `length` gets the bytes of the line.
  bool Fits(absl::string_view text, int64_t* values, size_t* length) const;

 private:
  // Bytes, then a number.
  struct Piece {
    uint32_t begin = 0, size = 0;  // of bytes_
    bool ignored = false;
  };
  std::string bytes_;  // without the numbers that may differ
  std::vector<Piece> pieces_;
  uint32_t tail_ = 0;  // offset of the bytes behind the last number
  std::vector<int> roles_;
};

}  // namespace chakra::collective_logs
