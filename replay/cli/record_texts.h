// The texts of `record-help`: how to record the input of a replay, one page for each profiler.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace chakra::cli {

struct RecordText {
  absl::string_view tool;   // "nsys"
  absl::string_view title;  // one line
  absl::string_view text;
};

// All pages, in the order of the list.
absl::Span<const RecordText> RecordTexts();

}  // namespace chakra::cli
