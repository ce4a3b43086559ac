#include <gtest/gtest.h>

#include "replay/collectives/registry.h"

namespace chakra {
namespace {

using T = CollectiveType;

Plan Build(T type, int members, int root = 0) {
  absl::StatusOr<Plan> plan = BuildPlan(type, "", members, root);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *plan;
}

TEST(Plan, EveryAlgorithmComputesItsCollective) {
  for (int type = 0; type < kCollectiveTypes; ++type) {
    for (const std::string& name : AlgorithmsFor(static_cast<T>(type))) {
      for (int n : {2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 64}) {
        for (int root : {0, 1, n - 1}) {
          absl::StatusOr<Plan> plan = BuildPlan(static_cast<T>(type), name, n, root);
          ASSERT_TRUE(plan.ok()) << plan.status();
          const absl::Status valid = ValidatePlan(*plan, root);
          EXPECT_TRUE(valid.ok()) << valid;
        }
      }
    }
  }
}

TEST(Plan, EveryCollectiveHasAnAlgorithm) {
  for (int type = 0; type < kCollectiveTypes; ++type) {
    EXPECT_FALSE(AlgorithmsFor(static_cast<T>(type)).empty()) << Name(static_cast<T>(type));
  }
}

TEST(Plan, UnknownAlgorithmIsRefusedWithTheList) {
  const auto plan = BuildPlan(T::kAllReduce, "rign", 4, 0);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.status().message().find("ring"), absl::string_view::npos);
}

TEST(Plan, AWrongStepIsFound) {
  Plan plan = Build(T::kAllReduce, 5);
  plan.programs[0].steps[3].chunk = (plan.programs[0].steps[3].chunk + 1) % 5;
  EXPECT_FALSE(ValidatePlan(plan, 0).ok());

  plan = Build(T::kReduceScatter, 4);
  plan.programs[0].steps[1].op = StepOp::kRecv;  // overwrites instead of adding
  EXPECT_FALSE(ValidatePlan(plan, 0).ok());

  plan = Build(T::kBroadcast, 6);
  plan.programs[0].steps.pop_back();
  plan.programs[0].streams[0].end -= 1;
  EXPECT_FALSE(ValidatePlan(plan, 0).ok());
}

TEST(Plan, APlanThatWaitsForItselfIsFound) {
  Plan plan = Build(T::kAllGather, 4);
  std::swap(plan.programs[0].steps[0], plan.programs[0].steps[1]);  // all receive before anyone sends
  const absl::Status status = ValidatePlan(plan, 0);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("never comes"), absl::string_view::npos) << status;
}

TEST(Plan, ChunksCoverTheBytesExactly) {
  const Plan plan = Build(T::kAllReduce, 7);
  for (uint64_t bytes : {0ull, 1ull, 6ull, 7ull, 1000ull, 1ull << 40}) {
    uint64_t sum = 0;
    for (int c = 0; c < 7; ++c) sum += ChunkBytes(plan, bytes, c, 1);
    EXPECT_EQ(sum, bytes);
  }
}

}  // namespace
}  // namespace chakra
