// A report as a page to send around.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/report.pb.h"

namespace chakra {

// One HTML file with charts and tables of all that `report` has, which needs no network and runs no script
// but its own (its content security policy names them by hash). The report itself is in it as JSON, in
// <script type="application/json" id="report">, default values left out; without scripting the page shows
// the report as text. Bytes that are no UTF-8 are left out or become U+FFFD. The same report gives the same
// bytes. Errors: those of PrintReport().
absl::StatusOr<std::string> MakePage(const proto::Report& report);

}  // namespace chakra
