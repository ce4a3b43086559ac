// Steps by the short forms of the command line, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "trace/generate/resolve.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"

namespace chakra::generate {

// Small models: dense, with experts, with latent attention, and one like GPT-2.
inline constexpr char kDense[] = "layers=8,hidden=512,heads=8,kv_heads=4,ffn=1024,vocab=4096";
inline constexpr char kExperts[] =
    "layers=8,hidden=512,heads=8,ffn=1024,vocab=4096,experts=8,top_k=2,expert_ffn=256,shared_ffn=512,dense_"
    "layers=2";
inline constexpr char kLatent[] =
    "layers=8,hidden=512,heads=8,ffn=1024,vocab=4096,kv_rank=64,q_rank=128,nope_dim=32,rope_dim=16,v_dim=32";
inline constexpr char kOld[] =
    "layers=8,hidden=512,heads=8,ffn=2048,gated=no,vocab=4096,tied=yes,norm=layer,bias=yes,"
    "positions=2048";

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

// The error of a step whose parts do not fit; "" if they fit.
inline std::string ErrorOf(const std::string& model, const std::string& parallel,
                           const std::string& training) {
  WorkloadOptions options;
  options.model = model;
  options.parallel = parallel;
  options.training = training;
  const auto workload = ReadWorkload(options);
  if (!workload.ok()) return std::string(workload.status().message());
  return std::string(ResolvePlan(*workload).status().message());
}

}  // namespace chakra::generate
