// The goodput of a long run in its report.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/report.pb.h"
#include "replay/report/metering.h"
#include "replay/run/options.h"
#include "trace/base/text_page.h"
#include "trace/generate/sizes.h"

namespace chakra {

// Fills Report::goodput for a run of RunOptions::steps steps like the replayed step. `metering` and `plan`
// may be null. Errors: those of goodput::LoadReliability(), ParseCheckpoint() and GoodputOf(); a step that
// takes no time.
absl::Status AddGoodput(const RunOptions& options, const Metering* metering, const generate::StepPlan* plan,
                        proto::Report* report);

// Returns "" if the report has no goodput.
std::string PrintGoodput(const proto::GoodputReport& goodput, TextPage* page);

}  // namespace chakra
