// Where the time of a split goes, and why one is slower than another.
#pragma once

#include <string>

#include "proto/cluster.pb.h"
#include "proto/plan.pb.h"
#include "proto/report.pb.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// Fills the columns of a row that a replay of its split says. Precondition: the report has `training`.
void SetReplayed(const proto::Report& report, proto::PlanRow* row);
// The same, as far as it goes, by the closed form.
void SetEstimated(const proto::PlanReport& plan, const proto::Device& device, const generate::StepPlan& step,
                  proto::PlanRow* row);

// "12.1 % slower (+61.2 ms): pipeline bubble +40.1 ms, exposed tensor communication +25.3 ms; backward pass
// -4.2 ms": the parts that differ most, as means over ranks. Preconditions: both were replayed.
std::string WhySlower(const proto::PlanRow& best, const proto::PlanRow& row);

}  // namespace chakra::planning
