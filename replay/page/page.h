// A report as an HTML page.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/report.pb.h"

namespace chakra {

// One HTML file with charts and tables of everything in `report`. The page needs no network and runs only its
// own scripts (its content security policy names them by hash). It contains the report as JSON in <script
// type="application/json" id="report">, without default values. If scripting is off, the page shows the
// report as text. Bytes that are not UTF-8 are removed or become U+FFFD. The same report gives the same
// bytes. Errors: those of PrintReport().
absl::StatusOr<std::string> MakePage(const proto::Report& report);

}  // namespace chakra
