// What a report says of a long run.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/report.pb.h"
#include "replay/report/metering.h"
#include "replay/run/options.h"
#include "trace/base/text_page.h"
#include "trace/generate/sizes.h"

namespace chakra {

// Fills Report::goodput for a run of RunOptions::steps steps like the one that was replayed. `metering` and `plan` may be
// null. Errors: those of goodput::LoadReliability(), ParseCheckpoint() and GoodputOf().
absl::Status AddGoodput(const RunOptions& options, const Metering* metering, const generate::StepPlan* plan,
                        proto::Report* report);

// "": the report has none.
std::string PrintGoodput(const proto::GoodputReport& goodput, TextPage* page);

}  // namespace chakra
