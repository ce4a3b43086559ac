// A comparison as a self-contained HTML page.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/compare.pb.h"
#include "proto/report.pb.h"

namespace chakra {

// One HTML file in the style of MakePage() (replay/page/page.h): what changed, both timelines on one scale,
// and where the ranks of both spent their time. `a` and `b` are the compared reports; for traces, the reports
// of AddRecordedActivity(). Errors: a message that cannot be printed as JSON.
absl::StatusOr<std::string> MakeComparisonPage(const proto::Comparison& comparison, const proto::Report& a,
                                               const proto::Report& b);

}  // namespace chakra
