// Steps by the short forms of the command line, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"

namespace chakra::generate {

// Fails the test, and returns an empty plan, where the parts do not fit.
inline StepPlan PlanOf(const std::string& model, const std::string& parallel, const std::string& training) {
  WorkloadOptions options;
  options.model = model;
  options.parallel = parallel;
  options.training = training;
  const auto workload = ReadWorkload(options);
  EXPECT_TRUE(workload.ok()) << workload.status();
  if (!workload.ok()) return {};
  const auto plan = ResolvePlan(*workload);
  EXPECT_TRUE(plan.ok()) << model << "|" << parallel << "|" << training << ": " << plan.status();
  return plan.ok() ? *plan : StepPlan();
}

}  // namespace chakra::generate
