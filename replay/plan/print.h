// Prints a plan as text, JSON, CSV, a page, or a sweep.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/plan.pb.h"
#include "proto/sweep.pb.h"
#include "replay/report/report.h"
#include "trace/base/text_page.h"

namespace chakra::planning {

// kText: for people. kJson: the message. kCsv: a row for each split of the report. `page`: as for
// PrintReport().
absl::StatusOr<std::string> PrintPlan(const proto::PlanReport& report, ReportFormat format,
                                      TextPage* page = nullptr);

// One HTML file, see replay/page/frame.h. The data is in <script type="application/json" id="plan">.
absl::StatusOr<std::string> MakePlanPage(const proto::PlanReport& report);

// A sweep over the splits of the report. `sweep` can run it with its journal, on Slurm and Open MPI, and on
// other machines. `machine`: words of `replay` that describe the machine, such as "--cluster dgx-h100".
// Precondition: the report has rows.
proto::Sweep SweepOf(const proto::PlanReport& report, const std::string& machine);

}  // namespace chakra::planning
