// The lines of a table of measurements; errors name line and column.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace chakra::validation {

// The fields of one line, by the name of their column.
class CsvLine {
 public:
  CsvLine(const std::map<std::string, size_t>& columns, std::vector<std::string> fields, size_t number)
      : columns_(columns), fields_(std::move(fields)), number_(number) {}

  absl::StatusOr<std::string> Text(const std::string& column) const {
    const auto at = columns_.find(column);
    if (at == columns_.end()) return Error(column, "is no column of the header");
    if (at->second >= fields_.size()) return Error(column, "is missing");
    return fields_[at->second];
  }

  template <typename T>
  absl::Status Read(const std::string& column, T* value) const {
    absl::StatusOr<std::string> text = Text(column);
    if (!text.ok()) return text.status();
    if constexpr (std::is_same_v<T, std::string>) {
      *value = *text;
    } else if constexpr (std::is_same_v<T, double>) {
      if (!absl::SimpleAtod(*text, value) || !(*value > 0)) return NotPositive(column, *text);
    } else {
      if (!absl::SimpleAtoi(*text, value) || *value < 1) return NotPositive(column, *text);
    }
    return absl::OkStatus();
  }

  absl::Status Error(const std::string& column, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", number_, ": ", column, " ", what));
  }

 private:
  absl::Status NotPositive(const std::string& column, const std::string& text) const {
    return Error(column, absl::StrCat("is \"", text, "\"; expected a number above 0"));
  }

  const std::map<std::string, size_t>& columns_;
  std::vector<std::string> fields_;
  size_t number_;
};

// Calls `each` with every line after the header. Errors: those of `each`; text that is not CSV; no lines.
absl::Status ForEachLine(const std::string& text, const std::function<absl::Status(const CsvLine&)>& each);

}  // namespace chakra::validation
