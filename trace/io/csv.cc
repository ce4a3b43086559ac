#include "trace/io/csv.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace chakra {

std::string CsvField(absl::string_view text) {
  if (text.find_first_of(",\"\r\n") == absl::string_view::npos) return std::string(text);
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

}  // namespace chakra
