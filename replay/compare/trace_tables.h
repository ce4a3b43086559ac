// A set of traces as tables that can be compared.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "replay/compare/table.h"
#include "trace/trace.h"

namespace chakra {

// `name` with each number as "#".
std::string MergeNumbers(absl::string_view name);

// The sections that CompareTraces() lists, in its order, without
// "unpaired"; those without rows are there, too.
std::vector<ComparedTable> TraceTables(const TraceSet& traces, bool merge_numbers);

// "0-3,8" of ranks in ascending order.
std::string RankRanges(std::vector<int> ranks);

}  // namespace chakra
