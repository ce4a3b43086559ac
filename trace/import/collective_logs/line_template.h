// A line of JSON that is another line with other numbers in it, read without parsing: programs that log write
// the same few lines again and again.
//
// A template is made of a line that a parser found valid. A line that fits has the same bytes apart from
// numbers that may differ, each of which is a valid number of JSON: so it is valid, too, and says the same
// but for these numbers.
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
  // What a number is for, which the user numbers from 0 on, or one of these.
  static constexpr int kFixed = -1;    // as in the template
  static constexpr int kIgnored = -2;  // any number, which nobody asks for

  // `line` is an object of JSON. `role_of` is asked for each number of it by its path: "a.b[].c". A number
  // with a role of its own must be an integer of 0 to 10^18 - 1 in all lines. Nothing: such a number is none.
  static std::optional<LineTemplate> Of(absl::string_view line,
                                        const std::function<int(absl::string_view path)>& role_of);

  // The numbers that have a role, in the order of the line.
  const std::vector<int>& roles() const { return roles_; }

  // Whether `text` begins with a line that fits, and ends there or has a line break behind. `values` gets the
  // numbers, as many as roles(); `length` the bytes of the line.
  bool Fits(absl::string_view text, int64_t* values, size_t* length) const;

 private:
  // Bytes, then a number.
  struct Piece {
    uint32_t begin = 0, size = 0;  // of bytes_
    bool ignored = false;
  };
  std::string bytes_;  // without the numbers that may differ
  std::vector<Piece> pieces_;
  uint32_t tail_ = 0;  // where the bytes behind the last number begin
  std::vector<int> roles_;
};

}  // namespace chakra::collective_logs
