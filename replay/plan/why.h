// Where the time of a split goes, and why one split is slower than another.
#pragma once

#include <string>

#include "proto/cluster.pb.h"
#include "proto/plan.pb.h"
#include "proto/report.pb.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// Fills the columns of a row from a replay of its split. Precondition: the report has `training`.
void SetReplayed(const proto::Report& report, proto::PlanRow* row);
// Fills the columns that the closed form can give.
void SetEstimated(const proto::PlanReport& plan, const proto::Device& device, const generate::StepPlan& step,
                  proto::PlanRow* row);

// "12.1 % slower (+61.2 ms): pipeline bubble +40.1 ms, exposed communication (tensor) +25.3 ms, backward pass
// -4.2 ms": the parts that differ most, as means over ranks. Precondition: both splits were replayed.
std::string WhySlower(const proto::PlanRow& best, const proto::PlanRow& row);

}  // namespace chakra::planning
