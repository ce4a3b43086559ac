// Fits must find the constants that made the measurements.
#include <gmock/gmock.h>

#include <cmath>

#include "replay/calibrate/fit.h"
#include "replay/run/cluster_model.h"
#include "test/replay/calibrate_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

using calibrating::AddTerm;
using calibrating::Find;
using calibrating::Measure;
using calibrating::Preset;

TEST(Calibrate, FindsTheConstantsThatMadeTheRows) {
  proto::Cluster truth = Preset("dgx-a100");
  truth.mutable_collectives()->mutable_library()->set_enqueue_us(6.5);
  proto::LibraryTerm* simple = AddTerm(&truth, "ring", "simple");
  simple->set_base_us(20);
  simple->set_step_us(6);
  simple->set_bus_share(0.9);
  AddTerm(&truth, "ring", "ll128")->set_bus_share(0.7);
  std::vector<MeasuredRow> rows;
  for (const int ranks : {2, 4, 8})
    Measure(truth, CollectiveType::kAllReduce, ranks, 1 << 10, uint64_t{1} << 33, &rows);
  const absl::StatusOr<Fit> fit = Calibrate(Preset("dgx-a100"), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_GT(MedianError(*fit, false), 0.05);
  EXPECT_LT(MedianError(*fit, true), 0.002);
  const proto::LibraryTerm* found = Find(fit->cluster, "ring", "simple");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->base_us(), 20, 0.5);
  EXPECT_NEAR(found->step_us(), 6, 0.1);
  EXPECT_NEAR(found->bus_share(), 0.9, 0.002);
  ASSERT_NE(Find(fit->cluster, "ring", "ll128"), nullptr);
  EXPECT_NEAR(Find(fit->cluster, "ring", "ll128")->bus_share(), 0.7, 0.01);
  EXPECT_NEAR(fit->cluster.collectives().library().enqueue_us(), 6.5, 0.01);
  // The fitted cluster can be built, and gives the rows the times that the fit reports.
  const absl::StatusOr<std::vector<FittedRow>> again = PriceRows(Preset("dgx-a100"), fit->cluster, rows);
  ASSERT_TRUE(again.ok()) << again.status();
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NEAR((*again)[i].after_us / fit->rows[i].after_us, 1, 1e-3) << rows[i].bytes;
    EXPECT_DOUBLE_EQ((*again)[i].before_us, fit->rows[i].before_us);
  }
}

TEST(Calibrate, FitsNvlsAndSeveralNodes) {
  proto::Cluster truth = Preset("dgx-h100");
  AddTerm(&truth, "nvls", "simple")->set_bus_share(1.08);
  AddTerm(&truth, "ring", "simple")->set_network_share(0.8);
  std::vector<MeasuredRow> rows;
  Measure(truth, CollectiveType::kAllReduce, 8, 1 << 20, uint64_t{1} << 33, &rows);
  Measure(truth, CollectiveType::kAllGather, 32, 1 << 20, uint64_t{1} << 33, &rows);
  const absl::StatusOr<Fit> fit = Calibrate(Preset("dgx-h100"), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  ASSERT_NE(Find(fit->cluster, "nvls", "simple"), nullptr);
  EXPECT_NEAR(Find(fit->cluster, "nvls", "simple")->bus_share(), 1.08, 0.01);
  ASSERT_NE(Find(fit->cluster, "ring", "simple"), nullptr);
  EXPECT_NEAR(Find(fit->cluster, "ring", "simple")->network_share(), 0.8, 0.01);
  EXPECT_LT(MedianError(*fit, true), 0.002);
}

// A term's network_step_us replaces the library's constant; the time of the transport is added to it.
TEST(Calibrate, NetworkStepExcludesTheTransport) {
  proto::Cluster given = Preset("dgx-h100");
  given.mutable_collectives()->mutable_library()->set_devices_per_host(1);
  proto::NetworkTransport* transport =
      given.mutable_collectives()->mutable_library()->mutable_level(1)->mutable_transport();
  transport->set_name("measured");
  transport->set_message_us(4);
  transport->set_rate_share(0.9);
  proto::Cluster truth = given;
  AddTerm(&truth, "ring", "ll")->set_network_step_us(5.5);
  AddTerm(&truth, "ring", "simple")->set_network_share(0.8);
  std::vector<MeasuredRow> rows;
  // Rows of one node give the time of the steps inside it.
  Measure(truth, CollectiveType::kAllGather, 8, 1 << 10, 1 << 14, &rows, "ring", "ll");
  for (const int ranks : {16, 32, 64}) {
    Measure(truth, CollectiveType::kAllGather, ranks, 1 << 10, 1 << 14, &rows, "ring", "ll");
    Measure(truth, CollectiveType::kAllGather, ranks, 1 << 24, uint64_t{1} << 32, &rows, "ring", "simple");
  }
  proto::Cluster start = given;
  AddTerm(&start, "ring", "ll")->set_network_step_us(2.5);
  const absl::StatusOr<Fit> fit = Calibrate(start, rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_THAT(fit->fitted, Contains(HasSubstr("ring/ll network_step_us: 2.5 -> 5.5")));
  ASSERT_NE(Find(fit->cluster, "ring", "ll"), nullptr);
  EXPECT_NEAR(Find(fit->cluster, "ring", "ll")->network_step_us(), 5.5, 0.05);
  ASSERT_NE(Find(fit->cluster, "ring", "simple"), nullptr);
  EXPECT_NEAR(Find(fit->cluster, "ring", "simple")->network_share(), 0.8, 0.01);
  EXPECT_LT(MedianError(*fit, true), 0.002);
  // The transport is not fitted, and stays.
  EXPECT_EQ(fit->cluster.collectives().library().level(1).transport().message_us(), 4);
}

TEST(Calibrate, FitsAnotherSizeOfProtocolChange) {
  proto::Cluster truth = Preset("dgx-a100");
  // The tuner would change to simple above 16 MiB.
  (*truth.mutable_collectives()->mutable_library()->mutable_choice())["all_reduce:8@3000000"] = "ring/simple";
  AddTerm(&truth, "ring", "simple")->set_base_us(60);
  std::vector<MeasuredRow> rows;
  Measure(truth, CollectiveType::kAllReduce, 8, 1 << 10, uint64_t{1} << 33, &rows);
  const absl::StatusOr<Fit> fit = Calibrate(Preset("dgx-a100"), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_LT(MedianError(*fit, true), 0.01);
  for (const FittedRow& r : fit->rows) {
    EXPECT_NEAR(r.after_us / r.measured.time_us, 1, 0.05) << r.measured.bytes;
  }
}

TEST(Calibrate, OneRankCountLeavesStepsUnfitted) {
  std::vector<MeasuredRow> rows;
  Measure(Preset("dgx-a100"), CollectiveType::kAllReduce, 4, 1 << 20, 1 << 26, &rows);
  for (MeasuredRow& r : rows) r.time_us *= 1.05;
  const std::vector<MeasuredRow> again = rows;  // gives no new information, also none about launches
  rows.insert(rows.end(), again.begin(), again.end());
  const absl::StatusOr<Fit> fit = Calibrate(Preset("dgx-a100"), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_THAT(fit->kept, Contains(HasSubstr("ring/simple step_us stays 3.4: these rows cannot separate it")));
  EXPECT_THAT(fit->kept, Contains(HasSubstr("enqueue_us stays 5.2")));
  const proto::LibraryTerm* simple = Find(fit->cluster, "ring", "simple");
  ASSERT_NE(simple, nullptr);
  EXPECT_TRUE(simple->has_base_us());
  EXPECT_FALSE(simple->has_step_us());
}

TEST(Calibrate, UsesTheAlgorithmOfTheMeasurement) {
  proto::Cluster truth = Preset("dgx-a100");
  std::vector<MeasuredRow> rows;
  Measure(truth, CollectiveType::kAllReduce, 8, 1 << 24, 1 << 28, &rows);
  for (MeasuredRow& r : rows) {
    r.algorithm = "TREE";
    r.protocol = "SIMPLE";
  }
  const absl::StatusOr<Fit> fit = Calibrate(truth, rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  for (const FittedRow& r : fit->rows) EXPECT_EQ(r.label, "tree/simple");
}

// Links that carry 15 % more than the preset states.
TEST(Calibrate, ReportedTimesAreThoseOfFittedCluster) {
  for (const char* algorithm : {"pairwise", "direct"}) {
    std::vector<MeasuredRow> rows;
    proto::Cluster truth = Preset("dgx-h100");
    AddTerm(&truth, algorithm, "simple")->set_bus_share(1.15);
    Measure(truth, CollectiveType::kAllToAll, 8, 1 << 20, 1 << 30, &rows, algorithm, "simple");
    const absl::StatusOr<Fit> fit = Calibrate(Preset("dgx-h100"), rows);
    ASSERT_TRUE(fit.ok()) << fit.status();
    ASSERT_NE(Find(fit->cluster, algorithm, "simple"), nullptr);
    EXPECT_NEAR(Find(fit->cluster, algorithm, "simple")->bus_share(), 1.15, 0.01);
    const absl::StatusOr<std::vector<FittedRow>> again = PriceRows(Preset("dgx-h100"), fit->cluster, rows);
    ASSERT_TRUE(again.ok()) << again.status();
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ((*again)[i].after_us, fit->rows[i].after_us);
    EXPECT_NEAR(fit->rows.back().after_us / fit->rows.back().measured.time_us, 1, 0.005);
  }
}

TEST(Calibrate, SharesAreLimitedByTheLinks) {
  std::vector<MeasuredRow> rows;
  Measure(Preset("dgx-h100"), CollectiveType::kAllToAll, 8, 1 << 22, 1 << 30, &rows, "pairwise", "simple");
  for (MeasuredRow& r : rows) r.time_us /= 3;
  const absl::StatusOr<Fit> fit = Calibrate(Preset("dgx-h100"), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  const double efficiency = Preset("dgx-h100").collectives().library().level(0).efficiency();
  ASSERT_NE(Find(fit->cluster, "pairwise", "simple"), nullptr);
  EXPECT_NEAR(Find(fit->cluster, "pairwise", "simple")->bus_share(), 1 / efficiency, 1e-6);
  EXPECT_THAT(fit->fitted, Contains(HasSubstr("the links carry no more")));
}

// The steps of a ring cost more if its group has several nodes.
TEST(Calibrate, EachRankCountStartsFromTheCluster) {
  std::vector<MeasuredRow> rows;
  for (const int ranks : {8, 16})
    Measure(Preset("dgx-h100"), CollectiveType::kAllReduce, ranks, 1 << 22, 1 << 25, &rows, "ring", "ll");
  const absl::StatusOr<Fit> fit = Calibrate(Preset("dgx-h100"), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  for (const FittedRow& r : fit->rows) {
    EXPECT_NEAR(r.before_us, r.measured.time_us, 1e-9) << r.measured.ranks << " " << r.measured.bytes;
    EXPECT_NEAR(r.after_us / r.measured.time_us, 1, 0.001) << r.measured.ranks << " " << r.measured.bytes;
  }
}

// Rows of two launches are not mixed: with -g 8 small sizes show the host, with -g 1 the kernel.
TEST(Calibrate, RefusesToMixLaunches) {
  std::vector<MeasuredRow> rows;
  Measure(Preset("dgx-a100"), CollectiveType::kAllReduce, 8, 1 << 10, 1 << 12, &rows);
  rows[2].devices_per_thread = 1;
  EXPECT_EQ(Calibrate(Preset("dgx-a100"), rows).status().message(),
            "made.log:3: launched with -g 1, but made.log:1 with an unknown -g; calibrate logs of different "
            "launches separately");
}

// The preset's own times, three times, each up to 2.5 % off.
TEST(Calibrate, NoisyConstantsAreNotFitted) {
  std::vector<MeasuredRow> exact, rows;
  for (const int ranks : {2, 8})
    Measure(Preset("dgx-h100"), CollectiveType::kAllReduce, ranks, 1 << 14, 1 << 16, &exact, "ring", "ll");
  uint32_t random = 1;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (MeasuredRow r : exact) {
      random = random * 1664525 + 1013904223;
      r.time_us *= 0.975 + 0.05 * static_cast<double>(random >> 8) / (1 << 24);
      r.devices_per_thread = 1;
      rows.push_back(r);
    }
  }
  const absl::StatusOr<Fit> fit = Calibrate(Preset("dgx-h100"), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_THAT(fit->kept, Contains(HasSubstr("the rows are too noisy to determine it: ")));
  const proto::LibraryTerm* term = Find(fit->cluster, "ring", "ll");
  const bool share = term != nullptr && term->has_bus_share();
  EXPECT_TRUE(!share || std::abs(term->bus_share() - 1) < 0.2) << term->ShortDebugString();
  EXPECT_LT(MedianError(*fit, true), 0.03);
}

TEST(Calibrate, KeepsRulesWhereNothingChanged) {
  proto::Cluster given = Preset("dgx-a100");
  auto& rules = *given.mutable_collectives()->mutable_library()->mutable_choice();
  rules["all_reduce"] = "ring";
  rules["all_reduce:8@268435456"] = "ring/simple";
  proto::Cluster truth = given;
  (*truth.mutable_collectives()->mutable_library()->mutable_choice())["all_reduce:8@3000000"] = "ring/simple";
  AddTerm(&truth, "ring", "simple")->set_base_us(60);
  std::vector<MeasuredRow> rows;
  for (const int ranks : {4, 8})
    Measure(truth, CollectiveType::kAllReduce, ranks, 1 << 10, uint64_t{1} << 33, &rows);
  const absl::StatusOr<Fit> fit = Calibrate(given, rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  const absl::StatusOr<ClusterModel> model = BuildCluster(fit->cluster, 8);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto rule = [&](uint64_t bytes, int ranks) {
    return RuleFor(*model->collectives.library, CollectiveType::kAllReduce, bytes, ranks, "");
  };
  EXPECT_EQ(rule(1 << 10, 8), "ring");
  EXPECT_EQ(rule(1 << 23, 8), "ring/simple");
  EXPECT_EQ(rule(1 << 26, 8), "ring");
  EXPECT_EQ(rule(1 << 28, 8), "ring/simple");
  EXPECT_EQ(rule(1 << 23, 16), "ring");
}

// If the library has no latency, changes are counted in microseconds.
TEST(Calibrate, FitsAConstantOfZero) {
  proto::Cluster without = Preset("dgx-a100");
  AddTerm(&without, "ring", "simple")->set_base_us(0);
  proto::Cluster truth = without;
  AddTerm(&truth, "ring", "simple")->set_base_us(30);
  std::vector<MeasuredRow> rows;
  for (const int ranks : {2, 4, 8})
    Measure(truth, CollectiveType::kAllReduce, ranks, 1 << 16, 1 << 28, &rows, "ring", "simple");
  const absl::StatusOr<Fit> fit = Calibrate(without, rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_NEAR(Find(fit->cluster, "ring", "simple")->base_us(), 30, 1);
  EXPECT_THAT(fit->fitted, Contains(HasSubstr("ring/simple base_us: 0 -> ")));
}

// "cheapest" compares times of the whole all-gather, not of one in which every rank sends all bytes.
TEST(Calibrate, CheapestAllGatherEqualsTheTable) {
  proto::Cluster cluster = Preset("dgx-h100");
  (*cluster.mutable_collectives()->mutable_library()->mutable_choice())["all_gather"] = "cheapest";
  cluster.mutable_collectives()->mutable_library()->set_enqueue_us(0);
  std::vector<MeasuredRow> rows;
  Measure(cluster, CollectiveType::kAllGather, 8, 1 << 10, 1 << 26, &rows);
  const absl::StatusOr<std::vector<FittedRow>> priced = PriceRows(cluster, cluster, rows);
  ASSERT_TRUE(priced.ok()) << priced.status();
  for (const FittedRow& r : *priced) EXPECT_NEAR(r.before_us, r.measured.time_us, 1e-9) << r.measured.bytes;
}

// The fitted cluster can be built, however slow or fast the rows are.
TEST(Calibrate, FittedClusterCanBeBuilt) {
  for (const double factor : {1e-6, 1e6}) {
    std::vector<MeasuredRow> rows;
    Measure(Preset("dgx-h100"), CollectiveType::kAllReduce, 8, 1 << 10, uint64_t{1} << 30, &rows);
    for (MeasuredRow& r : rows) r.time_us *= factor;
    const absl::StatusOr<Fit> fit = Calibrate(Preset("dgx-h100"), rows);
    ASSERT_TRUE(fit.ok()) << fit.status();
    const absl::StatusOr<ClusterModel> model = BuildCluster(fit->cluster, 8);
    EXPECT_TRUE(model.ok()) << model.status();
  }
}

TEST(Calibrate, RefusesUnusableRowsAndClusters) {
  const auto error = [](const proto::Cluster& cluster, const std::vector<MeasuredRow>& rows) {
    const absl::StatusOr<Fit> fit = Calibrate(cluster, rows);
    EXPECT_FALSE(fit.ok());
    return std::string(fit.status().message());
  };
  MeasuredRow row;
  row.ranks = 16;
  row.nodes = 1;
  row.bytes = 1 << 20;
  row.time_us = 100;
  row.file = "a.log";
  row.line = 12;
  EXPECT_THAT(error(Preset("dgx-a100"), {row}),
              HasSubstr("a.log:12: 16 ranks on 1 nodes, but the cluster places them on 2"));
  EXPECT_THAT(error(Preset("dgx-a100"), {}), HasSubstr("no measurements"));
  proto::Cluster bare = Preset("dgx-a100");
  bare.mutable_collectives()->clear_library();
  row.nodes = 2;
  EXPECT_THAT(error(bare, {row}), HasSubstr("no collectives.library"));
  proto::Cluster fast = Preset("dgx-a100");
  AddTerm(&fast, "ring", "simple")->set_network_share(1001);
  EXPECT_THAT(error(fast, {row}), HasSubstr("term[0].network_share is 1001; expected a number > 0"));
  row.ranks = 12;
  row.nodes = 0;
  EXPECT_THAT(error(Preset("dgx-a100"), {row}), HasSubstr("a.log:12: cluster: 12 ranks do not fill"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
