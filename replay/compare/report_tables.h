// Makes comparable tables of a report.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/report.pb.h"
#include "replay/compare/table.h"

namespace chakra {

// The sections that CompareReports() lists, in its order; sections without rows are included. With
// `merge_numbers`, names of operators are merged as by MergeNumbers().
std::vector<ComparedTable> ReportTables(const proto::Report& report, bool merge_numbers);

// The settings of the run and its inputs: names and values, in the order of CompareReports().
std::vector<std::pair<std::string, std::string>> ReportSettings(const proto::Report& report);

// Whether the report itself merged names of operators that differ only in numbers.
bool HasMergedNumbers(const proto::Report& report);

// `all_reduce on group "dp"`, "all_reduce on all ranks", "send_recv".
std::string CollectiveName(absl::string_view kind, absl::string_view group);

}  // namespace chakra
