// Helpers for tests of plans.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "replay/collectives/registry.h"

namespace chakra {

using T = CollectiveType;
using Op = StepOp;

inline Plan Build(T type, int members, int root = 0, const char* algorithm = "") {
  absl::StatusOr<Plan> plan =
      BuildPlan({.type = type, .algorithm = algorithm, .members = members, .root = root});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : Plan();
}

// Every algorithm that can plan `members` members, as one block or as two nested blocks.
inline std::vector<Plan> AllPlans(int members, int root) {
  std::vector<Plan> plans;
  for (int type = 0; type < kCollectiveTypes; ++type) {
    if (root != 0 && !IsRooted(static_cast<T>(type))) continue;
    for (const std::string& name : AlgorithmsFor(static_cast<T>(type))) {
      PlanRequest request{.type = static_cast<T>(type), .algorithm = name, .members = members, .root = root};
      absl::StatusOr<Plan> plan = BuildPlan(request);
      if (!plan.ok() && members % 2 == 0 && members > 2) {
        request.blocks = {2, members / 2};
        plan = BuildPlan(request);
      }
      if (plan.ok()) plans.push_back(*std::move(plan));
    }
  }
  return plans;
}

inline std::string Refusal(const Plan& plan, int root = 0) {
  return std::string(ValidatePlan(plan, root).message());
}

// A plan with one stream for each node.
inline Plan Hand(T type, int members, int chunks, std::vector<std::vector<Step>> nodes) {
  Plan plan;
  plan.type = type;
  plan.algorithm = "hand";
  plan.members = members;
  plan.chunks = chunks;
  for (std::vector<Step>& steps : nodes) {
    Program program;
    for (const Step& s : steps) {
      if (IsReceive(s.op)) program.connections = std::max(program.connections, s.connection + 1u);
    }
    program.streams = {{0, static_cast<uint32_t>(steps.size())}};
    program.steps = std::move(steps);
    plan.programs.push_back(std::move(program));
  }
  for (int s = members; s < static_cast<int>(plan.programs.size()); ++s) plan.switches.push_back({0, 1});
  NumberThrough(&plan);
  return plan;
}

// The plan with a separate program for each member, so that a test can change one.
inline Plan Spread(const Plan& plan) {
  if (!plan.rotational) return plan;
  Plan out = plan;
  out.rotational = false;
  for (int m = 0; m < plan.members; ++m) {
    if (m > 0) out.programs.push_back(plan.programs[0]);
    for (Step& s : out.programs.back().steps) {
      if (s.op == Op::kAwait) continue;
      const bool local = s.op == Op::kCopy || s.op == Op::kReduce;
      s.peer = local ? ChunkOf(plan, m, s.peer) : (s.peer + m) % plan.members;
      s.chunk = ChunkOf(plan, m, s.chunk);
    }
  }
  return out;
}

}  // namespace chakra
