// --energy, --prices, --grid and --reliability of `replay`, and `goodput`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "google/protobuf/util/json_util.h"
#include "proto/plan.pb.h"
#include "proto/report.pb.h"
#include "test/folders.h"
#include "test/replay/run_binary.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string Example() { return std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step"; }

proto::Report ReportOf(const std::string& words) {
  const CommandResult run = RunCommand("replay " + words + " --format json -q");
  EXPECT_EQ(run.status, 0) << words << "\n" << run.err;
  proto::Report report;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(run.out, &report).ok());
  return report;
}

template <typename Rows>
int64_t Sum(const Rows& rows) {
  int64_t sum = 0;
  for (const proto::EnergyShare& row : rows) sum += row.microjoules();
  return sum;
}

void CheckSums(const proto::Report& report) {
  const proto::EnergyReport& e = report.energy();
  ASSERT_GT(e.microjoules(), 0);
  EXPECT_EQ(Sum(e.cause()), e.microjoules());
  EXPECT_EQ(Sum(e.operator_()), e.microjoules());
  EXPECT_EQ(Sum(e.collective()), e.microjoules());
  if (e.phase_size() > 0) {
    EXPECT_EQ(Sum(e.phase()), e.microjoules());
  }
  int64_t ranks = 0, devices = 0;
  for (const proto::RankReport& rank : report.rank()) ranks += rank.energy_microjoules();
  for (int i = 0; i < 8; ++i) devices += e.cause(i).microjoules();
  EXPECT_EQ(ranks, e.device_microjoules());
  EXPECT_EQ(devices, e.device_microjoules());
  // The curve's integral; its values are floats.
  double integral = 0;
  const double seconds = static_cast<double>(report.makespan_ps()) * 1e-12;
  double left = seconds;
  for (const float watts : e.watts()) {
    const double width = std::min(left, static_cast<double>(e.bucket_ps()) * 1e-12);
    integral += width * static_cast<double>(watts);
    left -= width;
  }
  const double joules = static_cast<double>(e.microjoules()) * 1e-6;
  EXPECT_NEAR(integral, joules, 1e-6 * joules);
  EXPECT_NEAR(e.mean_watts() * seconds, joules, 1e-6 * joules);
  EXPECT_GE(e.peak_watts(), e.mean_watts() * (1 - 1e-12));
  EXPECT_LE(e.low_joules(), joules);
  EXPECT_GE(e.high_joules(), joules);
}

constexpr char kStep[] =
    "--model llama3-8b --parallel tp=2,pp=2,dp=2 --training global_batch=8,micro_batch=1,seq=2048 --cluster "
    "dgx-h100";

TEST(EnergyCli, SumsAgreeOnTracesAndGeneratedSteps) {
  CheckSums(ReportOf(Example() + " --energy"));
  CheckSums(ReportOf(Example() + " --energy --cluster dgx-a100 --lanes single"));
  CheckSums(ReportOf(std::string(kStep) + " --energy"));
  CheckSums(ReportOf(std::string(kStep) + " --energy --power-cap 400W"));
}

TEST(EnergyCli, ReportIsIndependentOfThreadsAndOffByDefault) {
  const std::string words =
      "replay " + Example() +
      " --energy --prices built-in --grid iowa --format json -q --fabric packet --threads ";
  EXPECT_EQ(RunCommand(words + "1").out, RunCommand(words + "4").out);
  const proto::Report plain = ReportOf(Example()), metered = ReportOf(Example() + " --energy");
  EXPECT_FALSE(plain.has_energy());
  EXPECT_EQ(plain.makespan_ps(), metered.makespan_ps());
  EXPECT_EQ(RunCommand("replay " + Example()).out.find("\nEnergy"), std::string::npos);
}

TEST(EnergyCli, PowerCapsTradeTimeForEnergy) {
  const proto::Report free = ReportOf(std::string(kStep) + " --energy");
  const proto::Report same = ReportOf(std::string(kStep) + " --energy --power-cap 700W");
  EXPECT_EQ(free.makespan_ps(), same.makespan_ps());
  EXPECT_EQ(free.energy().microjoules(), same.energy().microjoules());
  int64_t before = free.makespan_ps();
  for (const int cap : {600, 500, 400, 300}) {
    const proto::Report capped =
        ReportOf(std::string(kStep) + " --energy --power-cap " + std::to_string(cap) + "W");
    EXPECT_GE(capped.makespan_ps(), before) << cap;
    EXPECT_GT(capped.energy().capped_nodes(), 0u) << cap;
    for (const proto::RankReport& rank : capped.rank()) EXPECT_LE(rank.peak_watts(), cap);
    before = capped.makespan_ps();
  }
}

TEST(EnergyCli, CostAndCarbonFollowTheEnergy) {
  const proto::Report r =
      ReportOf(std::string(kStep) + " --energy --prices built-in --grid sweden --explain");
  const proto::CostReport& cost = r.cost();
  double parts = 0;
  for (const proto::CostShare& part : cost.part()) {
    parts += part.dollars_per_step();
    EXPECT_LE(part.low_dollars_per_step(), part.dollars_per_step());
    EXPECT_GE(part.high_dollars_per_step(), part.dollars_per_step());
    if (part.name() == "electricity") {
      EXPECT_NEAR(part.dollars_per_step(), static_cast<double>(r.energy().microjoules()) / 3.6e12 * 0.083,
                  1e-12);
    }
  }
  EXPECT_NEAR(parts, cost.dollars_per_step(), 1e-12);
  EXPECT_EQ(cost.part(0).name(), "devices");
  // An owned H100 costs about as much as a hyperscaler pays (1.30, SemiAnalysis), and less than a cloud takes
  // (3.99).
  EXPECT_GT(cost.dollars_per_device_hour(), 1.0);
  EXPECT_LT(cost.dollars_per_device_hour(), 3.99);
  const proto::CarbonReport& carbon = r.carbon();
  EXPECT_NEAR(carbon.operational_kg(), static_cast<double>(r.energy().microjoules()) / 3.6e12 * 0.041, 1e-12);
  EXPECT_NEAR(carbon.kg(), carbon.operational_kg() + carbon.embodied_footprint_kg(), 1e-12);
  EXPECT_LT(carbon.embodied_act_kg(), carbon.embodied_footprint_kg());
  EXPECT_GT(r.explained_size(), 40);
  const proto::Report poland = ReportOf(std::string(kStep) + " --energy --grid poland");
  EXPECT_NEAR(poland.carbon().operational_kg() / carbon.operational_kg(), 662.0 / 41, 1e-9);
}

// With several threads, the meter runs in its own thread.
TEST(EnergyCli, ThreadsDoNotChangeTheReport) {
  const auto out = [](const std::string& threads) {
    return RunCommand("replay " + std::string(kStep) + " --energy --format json -q --threads " + threads).out;
  };
  const std::string one = out("1");
  EXPECT_THAT(one, HasSubstr("device_microjoules"));
  for (const char* threads : {"2", "4"}) EXPECT_EQ(out(threads), one) << threads;
}

TEST(EnergyCli, FailuresAddTimeAndCost) {
  const proto::Report r = ReportOf(
      std::string(kStep) + " --energy --prices built-in --grid iowa --reliability cloud --run-steps 1000000");
  const proto::GoodputReport& g = r.goodput();
  EXPECT_GT(g.hours(), g.useful_hours());
  EXPECT_GT(g.dollars(), g.dollars_without());
  EXPECT_GT(g.kg(), g.kg_without());
  EXPECT_GT(g.energy_kwh(), g.energy_kwh_without());
  // Lost time draws less power than a step, so energy grows less than time.
  EXPECT_LT(g.energy_kwh() / g.energy_kwh_without(), g.hours() / g.useful_hours());
  const proto::Report none = ReportOf(std::string(kStep) + " --reliability none --run-steps 1000");
  EXPECT_DOUBLE_EQ(none.goodput().goodput(),
                   1 / (1 + none.goodput().blocking_seconds() / none.goodput().interval_seconds()));
}

TEST(EnergyCli, RefusesInvalidOptions) {
  const auto refused = [](const std::string& words, int status, const std::string& said) {
    const CommandResult run = RunCommand(words);
    EXPECT_EQ(run.status, status) << words;
    EXPECT_THAT(run.err, HasSubstr(said)) << words;
  };
  const std::string x = "replay " + Example() + " ";
  refused(x + "--power-cap 500W", 2, "--power-cap needs --energy");
  refused(x + "--prices built-in", 2, "--prices needs --energy");
  refused(x + "--grid iowa", 2, "--grid needs --energy");
  refused(x + "--checkpoint gbytes=1", 2, "--checkpoint needs --reliability");
  refused(x + "--energy --power-cap 100W", 1, "expected at least");
  refused(x + "--energy --power-cap fast", 1, "expected watts");
  refused(x + "--energy --grid iowe", 1, "did you mean 'iowa'");
  refused(x + "--energy --grid iowa --grid-start noon", 1, "2026-03-01T12:00:00Z");
  refused(x + "--energy=nowhere.txtpb", 1, "nowhere.txtpb");
  refused(x + "--energy --prices nowhere.txtpb", 1, "nowhere.txtpb");
  refused(x + "--reliability lama3", 1, "llama3");
  refused("goodput --devices 8", 2, "--step-seconds");
  refused("goodput --devices 8 --step-seconds 1 --days -3", 2, "--days");
  refused("goodput --devices 8 --step-seconds 1 --days 3 --checkpoint gbytes=9,storage_gbytes=1", 1,
          "storage_gbytes is 1");
}

TEST(EnergyCli, PlansRankByEnergyCostAndCarbon) {
  const std::string x =
      "plan --model llama3-8b --training seq=2048,global_batch=8 --cluster dgx-h100 --ranks 8 --top 4 ";
  const auto plan = [&](const std::string& words) {
    const CommandResult run = RunCommand(x + words + " --format json -q");
    EXPECT_EQ(run.status, 0) << run.err;
    proto::PlanReport report;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(run.out, &report).ok());
    EXPECT_EQ(report.row_size(), 4);
    return report;
  };
  const proto::PlanReport time = plan("--grid iowa --prices built-in"), energy = plan("--aim energy"),
                          cost = plan("--aim cost --prices built-in"),
                          carbon = plan("--aim carbon --grid iowa");
  std::vector<double> joules, dollars, kg;
  for (const proto::PlanRow& row : time.row()) {
    joules.push_back(row.joules());
    dollars.push_back(row.dollars());
    kg.push_back(row.kg_co2e());
  }
  for (std::vector<double>* all : {&joules, &dollars, &kg}) std::sort(all->begin(), all->end());
  for (int i = 0; i < 4; ++i) {
    const auto at = static_cast<size_t>(i);
    EXPECT_GT(joules[at], 0);
    EXPECT_DOUBLE_EQ(energy.row(i).joules(), joules[at]);
    EXPECT_DOUBLE_EQ(cost.row(i).dollars(), dollars[at]);
    EXPECT_DOUBLE_EQ(carbon.row(i).kg_co2e(), kg[at]);
  }
  EXPECT_EQ(RunCommand(x + "--aim cost").status, 2);
  EXPECT_THAT(RunCommand(x + "--aim carbon").err, HasSubstr("--aim carbon needs --grid"));
  EXPECT_THAT(RunCommand(x + "--aim speed").err, HasSubstr("carbon"));
}

TEST(EnergyCli, GoodputNeedsNoReplay) {
  const CommandResult run = RunCommand(
      "goodput --devices 16384 --step-seconds 4.6 --days 54 --parameters 405e9 --reliability llama3");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("effective time 9"));
  EXPECT_THAT(run.out, HasSubstr("Young's"));
}

TEST(EnergyCli, TimelinesAndPagesShowPower) {
  const std::string folder = testing::TempDir();
  const CommandResult run = RunCommand("replay " + Example() + " --energy --timeline " + folder +
                                       "/energy.json --html " + folder + "/energy.html -q");
  ASSERT_EQ(run.status, 0) << run.err;
  std::ifstream json(folder + "/energy.json"), html(folder + "/energy.html");
  const std::string timeline((std::istreambuf_iterator<char>(json)), {}),
      page((std::istreambuf_iterator<char>(html)), {});
  for (const char* counter : {"all devices", "devices of rack 0", "devices of node 0", "device of rank 7"})
    EXPECT_THAT(timeline, HasSubstr(counter));
  EXPECT_THAT(page, HasSubstr("energy-cause"));
  EXPECT_THAT(page, HasSubstr("device_microjoules"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
