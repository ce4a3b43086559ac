#include "trace/import/join/clocks.h"

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"
#include "trace/import/join/machines.h"
#include "trace/import/join/one_job.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Steps `first` to first + 3 of 1 ms with two all-reduces on ranks 0 and 1; `clock` is added to all times,
// `late` to the collectives.
KinetoBuilder Rank(int first, int64_t clock, int64_t late = 0, int64_t pid = 1) {
  KinetoBuilder k;
  k.Base(KinetoBuilder::kBase + clock);
  int correlation = 500;
  for (int s = 0; s < 4; ++s) {
    const int64_t at = s * 1000000 + s * s * 1111;
    k.Event("user_annotation", absl::StrCat("ProfilerStep#", first + s), pid, "1", at, 950000, "");
    for (int i = 0; i < 2; ++i) {
      const int64_t begin = at + 100000 + i * 200000;
      k.Event("cuda_runtime", "cudaLaunchKernel", pid, "1", begin - 5000, 1000,
              absl::StrCat(",\"correlation\":", ++correlation));
      k.Kernel(20, "ncclDevKernel_AllReduce(x)", begin + late, 50000, correlation,
               CommArgs("allreduce", 100, 100, "dp", "[0, 1]", 2));
    }
  }
  return k;
}

Capture Two(const KinetoBuilder& a, const KinetoBuilder& b) {
  const CaptureFolder folder;
  folder.Rank(0, a);
  folder.Rank(1, b);
  return folder.Read();
}

TEST(AlignClocks, CorrectsClockDifferencesOfAnySize) {
  EXPECT_THAT(Two(Rank(3, 0), Rank(3, 100000)).joined.clock_offset_ns, ElementsAre(0, -100000));
  EXPECT_THAT(Two(Rank(3, 0), Rank(3, 1700000)).joined.clock_offset_ns, ElementsAre(0, -1700000))
      << "steps of one number come together";
}

TEST(AlignClocks, HalfAStepIsNoClockDifference) {
  // The steps begin together, the collectives do not: the cause is not the clock.
  const Capture c = Two(Rank(3, 0), Rank(3, 200, 550000));
  EXPECT_THAT(c.joined.clock_offset_ns, ElementsAre(0, 0));
  EXPECT_EQ(Notes(c, "clock_left"), 1u);
}

TEST(AlignClocks, AlignsStepsOfTheSameNumber) {
  // Rank 1 shows steps 4 to 7, rank 0 steps 3 to 6: calls of one step are matched, no clock is moved by a
  // step.
  const Capture c = Two(Rank(3, 0), Rank(4, 1000000));
  EXPECT_LT(std::abs(c.joined.clock_offset_ns[1]), 50000);
  EXPECT_EQ(Notes(c, "collectives_unshared"), 4u) << "one step of each rank";
}

TEST(FindMachines, RanksOfOneMachineKeepTheirClocks) {
  const CaptureFolder folder;
  folder.Write("alpha_71.1700000000001.pt.trace.json", Rank(3, 0, 0, 71).Rank(0, 2).Json());
  folder.Write("alpha_72.1700000000002.pt.trace.json", Rank(3, 100000, 0, 72).Rank(1, 2).Json());
  const Capture one = folder.Read();
  EXPECT_THAT(FindMachines(one.ranks), ElementsAre(0, 0));
  EXPECT_THAT(one.joined.clock_offset_ns, ElementsAre(0, 0));
  const CaptureFolder apart;
  apart.Write("alpha_71.1700000000001.pt.trace.json", Rank(3, 0, 0, 71).Rank(0, 2).Json());
  apart.Write("beta_72.1700000000002.pt.trace.json", Rank(3, 100000, 0, 72).Rank(1, 2).Json());
  const Capture two = apart.Read();
  EXPECT_THAT(FindMachines(two.ranks), ElementsAre(0, 1));
  EXPECT_THAT(two.joined.clock_offset_ns, ElementsAre(0, -100000));
  const CaptureFolder other;
  other.Write("alpha_7.1700000000001.pt.trace.json", Rank(3, 0, 0, 71).Rank(0, 2).Json());
  other.Write("alpha_8.1700000000002.pt.trace.json", Rank(3, 0, 0, 72).Rank(1, 2).Json());
  EXPECT_THAT(FindMachines(other.Read().ranks), ElementsAre(-1, -1)) << "the names are of other processes";
}

TEST(FindMachines, FindsMachinesByTheSteadyClock) {
  const auto ranks = [](const std::vector<std::pair<int64_t, int64_t>>& boots) {  // ms, pid
    std::vector<CaptureRank> all;
    for (const auto& [ms, pid] : boots) {
      CaptureRank& r = all.emplace_back();
      r.host = std::make_unique<HostTrace>();
      r.host->boot_ms = ms;
      r.host->pid = pid;
    }
    return FindMachines(all);
  };
  constexpr int64_t kBoot = 1790000000000;
  EXPECT_THAT(ranks({{kBoot, 100}, {kBoot + 900, 101}}), ElementsAre(0, 0));
  EXPECT_THAT(ranks({{kBoot, 100}, {kBoot + 5000, 101}}), ElementsAre(-1, -1)) << "booted at another time";
  EXPECT_THAT(ranks({{kBoot, 100}, {kBoot, 100}}), ElementsAre(-1, -1)) << "one process is not two ranks";
  EXPECT_THAT(ranks({{kBoot, 100}, {kBoot, 90000}}), ElementsAre(-1, -1)) << "not of one launch";
  EXPECT_THAT(ranks({{200, 100}, {300, 101}}), ElementsAre(-1, -1)) << "that is no time of a machine's begin";
  HostBuilder h;
  const std::string json = absl::StrReplaceAll(
      h.Json(),
      {{"\"time\":\"2026-01-01\",\"start_ts\":1", "\"time\":\"2026-11-23 05:30:16\",\"start_ts\":5346965"}});
  const auto host = ReadHostTrace(json, "h.json");
  ASSERT_TRUE(host.ok()) << host.status();
  EXPECT_EQ(host->boot_ms, 1795411816000 - 5346965);
  EXPECT_EQ(host->pid, 1);
}

std::string ErrorOfTwo(const KinetoBuilder& a, const KinetoBuilder& b) {
  const CaptureFolder folder;
  folder.Rank(0, a);
  folder.Rank(1, b);
  return folder.Error();
}

TEST(CheckOneJob, RefusesRanksOfOtherJobs) {
  EXPECT_THAT(ErrorOfTwo(Rank(3, 0), Rank(3, 80000000000)), HasSubstr("were captured 80 s apart"));
  EXPECT_THAT(ErrorOfTwo(Rank(3, 0), Rank(9, 0)), HasSubstr("steps 9 to 12"));
  EXPECT_THAT(ErrorOfTwo(Rank(3, 0).Rank(0, 2), Rank(3, 0).Rank(1, 4)),
              HasSubstr("is from a job of 2 ranks"));
}

TEST(CheckOneJob, RefusesDifferentGroups) {
  std::vector<CaptureRank> ranks(2);
  for (int r = 0; r < 2; ++r) {
    ranks[static_cast<size_t>(r)].rank = r;
    ranks[static_cast<size_t>(r)].device = std::make_unique<DeviceTrace>();
    ranks[static_cast<size_t>(r)].device_file = absl::StrCat("k.", r, ".json");
    ranks[static_cast<size_t>(r)].device->groups = {{"tp", {0, 1}}};
  }
  CallGroups none;
  none.of.resize(2);
  EXPECT_TRUE(CheckOneJob(ranks, none).ok());
  ranks[1].device->groups = {{"tp", {0, 1, 2, 3}}};
  EXPECT_THAT(std::string(CheckOneJob(ranks, none).message()),
              HasSubstr("group \"tp\" has ranks 0,1 in rank 0 (k.0.json), 0,1,2,3 in rank 1 (k.1.json)"));
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
