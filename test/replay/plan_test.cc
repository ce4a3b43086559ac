// Plans: the prover's verdicts, regions and switches, and the traffic of plans.
#include "plan_testing.h"
#include "replay/collectives/validate.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

TEST(Plan, EveryAlgorithmComputesItsCollective) {
  std::vector<int> sizes = {64, 128};
  for (int n = 2; n <= 33; ++n) sizes.push_back(n);
  for (const int n : sizes) {
    for (const int root : {0, 1, n - 1}) {
      for (const Plan& plan : AllPlans(n, root)) {
        if (n > 64 && !plan.switches.empty()) continue;  // slow under sanitizers
        EXPECT_EQ(ValidatePlan(plan, root), absl::OkStatus());
      }
    }
  }
}

TEST(Plan, EveryCollectiveHasAnAlgorithm) {
  for (int type = 0; type < kCollectiveTypes; ++type) {
    EXPECT_FALSE(AlgorithmsFor(static_cast<T>(type)).empty()) << Name(static_cast<T>(type));
  }
}

TEST(Plan, UnknownAlgorithmErrorListsAlgorithms) {
  const auto plan = BuildPlan({.type = T::kAllReduce, .algorithm = "rign", .members = 4});
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(std::string(plan.status().message()), HasSubstr("ring"));
}

TEST(Plan, ChunksCoverTheBytesExactly) {
  const Plan plan = Build(T::kAllReduce, 7);
  for (uint64_t bytes : {0ull, 1ull, 6ull, 7ull, 1000ull, 1ull << 40}) {
    uint64_t sum = 0;
    for (int c = 0; c < 7; ++c) sum += ChunkBytes(plan, bytes, c, 1);
    EXPECT_EQ(sum, bytes);
  }
}

// Separate input, output and scratch: member 0 receives into scratch, copies, adds, and sends the sum.
TEST(PlanRegions, ChecksAllReduceOutOfPlace) {
  Plan plan = Hand(T::kAllReduce, 2, 3,
                   {{{Op::kRecv, 0, 1, 2, 1},  // scratch
                     {Op::kCopy, 0, 0, 1, 1},  // input to output
                     {Op::kReduce, 0, 2, 1, 1},
                     {Op::kSend, 0, 1, 1, 1}},
                    {{Op::kSend, 0, 0, 0, 1}, {Op::kRecv, 0, 0, 1, 1}}});
  plan.parts = 1;
  plan.input = {0, 1};
  plan.output = {1, 1};
  EXPECT_EQ(Refusal(plan), "");
  Plan bad = plan;
  bad.programs[0].steps[2].op = Op::kCopy;
  EXPECT_THAT(Refusal(bad),
              HasSubstr("member 0, stream 0, step 2 (copy chunk 2 to chunk 1): overwrites what member "
                        "0 had of block 0"));
  bad = plan;
  bad.parts = 3;
  EXPECT_THAT(Refusal(bad), HasSubstr("bytes are cut into 3 chunks; expected 1"));
  bad = plan;
  bad.output = {1, 2};
  EXPECT_THAT(Refusal(bad), HasSubstr("an output of 2 chunks; expected 1"));
  bad.output = {2, 2};
  EXPECT_THAT(Refusal(bad), HasSubstr("an output of 2 chunks from 2; expected at least one, within 0 to 2"));
  bad = plan;
  bad.programs[0].steps[0].chunk = 1;
  bad.programs[0].steps[1].peer = 2;
  EXPECT_THAT(Refusal(bad), HasSubstr("reads chunk 2, which holds nothing yet"));
}

// Member 0 sends to 2 through 1; member 1 also sends its own block to 2.
TEST(PlanRegions, AllToAllMayForwardBlocks) {
  Plan plan = Hand(T::kAllToAll, 3, 7,
                   {{{Op::kSend, 0, 1, 1, 1},  // for 1
                     {Op::kSend, 0, 1, 2, 1},  // for 2, through 1
                     {Op::kCopy, 0, 0, 3, 1},
                     {Op::kRecv, 0, 1, 4, 1},
                     {Op::kRecv, 1, 2, 5, 1}},
                    {{Op::kCopy, 0, 1, 4, 1},
                     {Op::kSend, 0, 0, 0, 1},
                     {Op::kSend, 0, 2, 2, 1},
                     {Op::kRecv, 0, 0, 3, 1},
                     {Op::kRecv, 0, 0, 6, 1},
                     {Op::kSend, 0, 2, 6, 1},
                     {Op::kRecv, 1, 2, 5, 1}},
                    {{Op::kCopy, 0, 2, 5, 1},
                     {Op::kSend, 1, 0, 0, 1},
                     {Op::kSend, 1, 1, 1, 1},
                     {Op::kRecv, 0, 1, 4, 1},
                     {Op::kRecv, 0, 1, 3, 1}}});
  plan.parts = 3;
  plan.input = {0, 3};
  plan.output = {3, 3};
  EXPECT_EQ(Refusal(plan), "");
  std::swap(plan.programs[2].steps[3].chunk, plan.programs[2].steps[4].chunk);
  EXPECT_THAT(Refusal(plan), HasSubstr("member 2, stream 0, step 4 (recv chunk 4 from member 1): leaves in "
                                       "chunk 4 what belongs in chunk 3 "
                                       "of member 2, which holds block 2 without what member 0 had of it"));
}

TEST(PlanRegions, SwitchStartsEmptyAndAdds) {
  const std::vector<Step> member0 = {{Op::kSend, 0, 2, 0, 1}, {Op::kRecv, 0, 2, 0, 1}};
  const std::vector<Step> member1 = {{Op::kSend, 1, 2, 0, 1}, {Op::kRecv, 0, 2, 0, 1}};
  const std::vector<Step> adds = {{Op::kRecvReduce, 0, 0, 0, 1},
                                  {Op::kRecvReduce, 1, 1, 0, 1},
                                  {Op::kSend, 0, 0, 0, 1},
                                  {Op::kSend, 0, 1, 0, 1}};
  EXPECT_EQ(Refusal(Hand(T::kAllReduce, 2, 1, {member0, member1, adds})), "");
  std::vector<Step> early = adds;
  std::swap(early[1], early[2]);
  EXPECT_THAT(
      Refusal(Hand(T::kAllReduce, 2, 1, {member0, member1, early})),
      HasSubstr("is the last to write chunk 0 of member 0, which ends wrong: it holds block 0 without what "
                "member 1 had of it"));
  std::rotate(early.begin(), early.begin() + 2, early.end());
  std::swap(early[0], early[2]);
  EXPECT_THAT(
      Refusal(Hand(T::kAllReduce, 2, 1, {member0, member1, {adds[2], adds[0], adds[1], adds[3]}})),
      HasSubstr("switch 0, stream 0, step 0 (send chunk 0 to member 0): sends chunk 0, which holds nothing"));
}

TEST(Plan, LimitsMessagesInFlight) {
  // Member 0 sends three messages before the first is taken.
  const Plan plan = Hand(T::kAllGather, 2, 2,
                         {{{Op::kSend, 0, 1, 0, 1}, {Op::kSend, 0, 1, 0, 1}, {Op::kRecv, 0, 1, 1, 1}},
                          {{Op::kSend, 0, 0, 1, 1}, {Op::kRecv, 0, 0, 0, 1}, {Op::kRecv, 0, 0, 0, 1}}});
  Plan late = plan;
  late.chunk_is_whole = true;
  std::swap(late.programs[1].steps[0], late.programs[1].steps[2]);  // both wait for member 0's
  EXPECT_EQ(ProvePlan(late, {.in_flight = 1}, nullptr), absl::OkStatus());
  std::swap(late.programs[0].steps[1], late.programs[0].steps[2]);
  EXPECT_THAT(std::string(ProvePlan(late, {}, nullptr).message()),
              HasSubstr("these steps wait for each other"));
  Plan full = plan;
  full.chunk_is_whole = true;
  full.programs[1].steps[0].op = Op::kSend;
  full.programs[0].steps = {{Op::kSend, 0, 1, 0, 1}, {Op::kSend, 0, 1, 0, 1}, {Op::kRecv, 0, 1, 1, 1}};
  full.programs[1].steps = {
      {Op::kSend, 0, 0, 1, 1}, {Op::kSend, 0, 0, 1, 1}, {Op::kRecv, 0, 0, 0, 1}, {Op::kRecv, 0, 0, 0, 1}};
  full.programs[0].steps.push_back({Op::kRecv, 0, 1, 1, 1});
  for (Program& p : full.programs) p.streams = {{0, 4}};
  EXPECT_EQ(ProvePlan(full, {}, nullptr), absl::OkStatus());
  EXPECT_THAT(std::string(ProvePlan(full, {.in_flight = 1}, nullptr).message()),
              HasSubstr("member 0, stream 0, step 1 (send chunk 0 to member 1): waits forever"));
}

// Bytes between pairs against closed forms.
TEST(PlanTraffic, MatchesClosedForms) {
  for (const int n : {2, 3, 5, 8, 13}) {
    const uint64_t bytes = 960 * static_cast<uint64_t>(n);
    const auto u = static_cast<uint64_t>(n);
    const Plan ring = Build(T::kAllReduce, n);
    const auto pairs = TrafficOf(ring, bytes);
    ASSERT_TRUE(pairs.ok());
    ASSERT_EQ(pairs->size(), u);
    for (const PairTraffic& p : *pairs) {
      EXPECT_EQ(p, (PairTraffic{p.from, (p.from + 1) % n, 2 * (u - 1), 2 * (u - 1) * bytes / u}));
    }
    const Plan pairwise = Build(T::kAllToAll, n, 0, "pairwise");
    const auto all = TrafficOf(pairwise, bytes);
    ASSERT_TRUE(all.ok());
    EXPECT_EQ(all->size(), u * (u - 1));
    for (const PairTraffic& p : *all) EXPECT_EQ(p.bytes, bytes / u);
    const auto gather = TrafficOf(Build(T::kAllGather, n, 0, "direct"), bytes);
    ASSERT_TRUE(gather.ok());
    for (const PairTraffic& p : *gather) EXPECT_EQ(p.bytes, bytes);
  }
  Plan bad = Build(T::kAllReduce, 4);
  bad.programs[0].steps[0].chunk = 4;
  EXPECT_FALSE(TrafficOf(bad, 64).ok());
}

TEST(PlanTraffic, UnevenBytesAddUp) {
  for (const uint64_t bytes : {0ull, 1ull, 7ull, 1000003ull}) {
    for (const int n : {2, 5, 7}) {
      uint64_t sum = 0;
      const auto pairs = TrafficOf(Build(T::kAllReduce, n), bytes);
      ASSERT_TRUE(pairs.ok());
      for (const PairTraffic& p : *pairs) sum += p.bytes;
      EXPECT_EQ(sum, 2 * static_cast<uint64_t>(n - 1) * bytes);
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
