// Prints a comparison for people and for programs.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/compare.pb.h"
#include "replay/report/report.h"

namespace chakra {

// kText: for people, at most 110 columns, or the width of `page` (as for PrintReport()). All sections without
// changes share one line; long sections are cut at `top` rows, with a note. kJson: the message, field names
// in snake_case, 64-bit integers as strings. kCsv: one row for each measure or text that differs, under the
// header section,name,only_in,measure,a,b,difference,percent; whole numbers are exact, and fields that do not
// apply are empty. `top`: rows of each section; 0: all.
absl::StatusOr<std::string> PrintComparison(const proto::Comparison& comparison, ReportFormat format,
                                            size_t top, TextPage* page = nullptr);

// "makespan: 1.5 s against 1.4 s, +7.14 %", for the message about --fail-over.
std::string DescribeFailure(const proto::Failure& failure);

}  // namespace chakra
