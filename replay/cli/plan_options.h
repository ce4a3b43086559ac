// What `plan` is told, but for what it prints.
#pragma once

#include <functional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/plan.pb.h"
#include "replay/plan/plan.h"
#include "trace/generate/workload.h"

namespace chakra::cli {

class PlanArguments {
 public:
  // WORKLOAD and the options, bound to this, which must outlive the parsing.
  void AddTo(CLI::App* app);
  // Once, after the parsing: faults of the command line alone.
  absl::Status Check();
  // After Check(). Errors: those of the workload's files.
  absl::Status ReadWorkload();
  // After ReadWorkload(). `progress`: as of PlanRequest.
  absl::StatusOr<proto::PlanReport> Plan(std::function<void(const planning::PlanProgress&)> progress);

  planning::PlanRequest& request() { return request_; }
  const planning::PlanRequest& request() const { return request_; }

 private:
  void AddSearch(CLI::App* app);
  void AddMachine(CLI::App* app);

  generate::WorkloadOptions from_;
  planning::PlanRequest request_;
  std::string reserve_, aim_;
  bool energy_ = false;
};

}  // namespace chakra::cli
