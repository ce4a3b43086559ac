// What `plan` is told (proto/command.proto), and the request that it means.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/command.pb.h"
#include "proto/plan.pb.h"
#include "replay/plan/plan.h"

namespace chakra::planning {

// Faults of the message alone, as the command line names them.
absl::Status CheckPlanRun(const proto::PlanRun& told);
// Of a checked message. Errors: those of the workload's files.
absl::StatusOr<PlanRequest> RequestOf(const proto::PlanRun& told);
// MakePlan(), with a warning where no cluster is named.
absl::StatusOr<proto::PlanReport> MakeToldPlan(const PlanRequest& request);

}  // namespace chakra::planning
