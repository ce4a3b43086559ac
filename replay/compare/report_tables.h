// A report as tables that can be compared.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/report.pb.h"
#include "replay/compare/table.h"

namespace chakra {

// The sections that CompareReports() lists, in its order; those without rows
// are there, too.
std::vector<ComparedTable> ReportTables(const proto::Report& report);

// `all_reduce on group "dp"`, "all_reduce on all ranks", "send_recv".
std::string CollectiveName(absl::string_view kind, absl::string_view group);

}  // namespace chakra
