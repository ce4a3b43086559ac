// Turns the message of `plan` (proto/command.proto) into a PlanRequest.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/command.pb.h"
#include "proto/plan.pb.h"
#include "replay/plan/plan.h"

namespace chakra::planning {

// Checks the message alone. Errors use the terms of the command line.
absl::Status CheckPlanRun(const proto::PlanRun& told);
// The request for a checked message. Errors: those of the workload's files.
absl::StatusOr<PlanRequest> RequestOf(const proto::PlanRun& told);
// MakePlan(), with a warning if no cluster is named.
absl::StatusOr<proto::PlanReport> MakeToldPlan(const PlanRequest& request);

}  // namespace chakra::planning
