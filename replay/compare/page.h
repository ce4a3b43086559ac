// A comparison as a page to send around.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/compare.pb.h"
#include "proto/report.pb.h"

namespace chakra {

// One HTML file, as MakePage() of replay/page/page.h makes them: what changed, both timelines on one scale,
// and where the ranks of both spent their time. `a` and `b` are the reports that were compared; of traces
// what AddRecordedActivity() makes. Errors: what cannot be printed.
absl::StatusOr<std::string> MakeComparisonPage(const proto::Comparison& comparison, const proto::Report& a,
                                               const proto::Report& b);

}  // namespace chakra
