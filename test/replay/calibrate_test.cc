// Fits that must find what made the measurements.
#include <gmock/gmock.h>

#include <cmath>

#include "replay/calibrate/fit.h"
#include "replay/cluster.h"
#include "replay/library/table.h"
#include "trace/proto_io.h"

namespace chakra {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

proto::Cluster Preset(const char* name) {
  const absl::StatusOr<proto::Cluster> cluster = LoadCluster(name);
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  return *cluster;
}

proto::LibraryTerm* AddTerm(proto::Cluster* cluster, const char* algorithm, const char* protocol) {
  proto::LibraryTerm* term = cluster->mutable_collectives()->mutable_library()->add_term();
  term->set_algorithm(algorithm);
  term->set_protocol(protocol);
  return term;
}

const proto::LibraryTerm* Find(const proto::Cluster& cluster, const char* algorithm, const char* protocol) {
  for (const proto::LibraryTerm& t : cluster.collectives().library().term()) {
    if (t.algorithm() == algorithm && t.protocol() == protocol) return &t;
  }
  return nullptr;
}

// What `cluster` itself takes, as nccl-tests would have measured it.
void Measure(const proto::Cluster& cluster, CollectiveType type, int ranks, uint64_t first, uint64_t last,
             std::vector<MeasuredRow>* rows) {
  TableOptions options;
  options.type = type;
  options.ranks = ranks;
  absl::StatusOr<CollectiveTable> table = CollectiveTable::Make(cluster, options);
  ASSERT_TRUE(table.ok()) << table.status();
  for (uint64_t bytes = first; bytes <= last; bytes *= 2) {
    const absl::StatusOr<TableRow> row = table->Price(bytes);
    ASSERT_TRUE(row.ok()) << row.status();
    MeasuredRow m;
    m.type = type;
    m.ranks = ranks;
    m.bytes = row->bytes;
    m.time_us = row->time_us;
    m.file = "made.log";
    m.line = static_cast<int>(rows->size()) + 1;
    rows->push_back(m);
  }
}

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
  // What was fitted can be built, and says of the rows what the fit says.
  const absl::StatusOr<std::vector<FittedRow>> again = PriceRows(Preset("dgx-a100"), fit->cluster, rows);
  ASSERT_TRUE(again.ok()) << again.status();
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NEAR((*again)[i].after_us / fit->rows[i].after_us, 1, 1e-3) << rows[i].bytes;
    EXPECT_DOUBLE_EQ((*again)[i].before_us, fit->rows[i].before_us);
  }
}

TEST(Calibrate, NvlsAndSeveralNodes) {
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

TEST(Calibrate, ASwitchOfProtocolsThatTheTunerHasElsewhere) {
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

TEST(Calibrate, OneNumberOfRanksCannotTellBaseFromStep) {
  std::vector<MeasuredRow> rows;
  Measure(Preset("dgx-a100"), CollectiveType::kAllReduce, 4, 1 << 20, 1 << 26, &rows);
  for (MeasuredRow& r : rows) r.time_us *= 1.05;
  const absl::StatusOr<Fit> fit = Calibrate(Preset("dgx-a100"), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_THAT(fit->kept, Contains(HasSubstr("ring/simple step_us stays 3.4: these rows cannot tell it")));
  EXPECT_THAT(fit->kept, Contains(HasSubstr("enqueue_us stays 5")));
  const proto::LibraryTerm* simple = Find(fit->cluster, "ring", "simple");
  ASSERT_NE(simple, nullptr);
  EXPECT_TRUE(simple->has_base_us());
  EXPECT_FALSE(simple->has_step_us());
}

TEST(Calibrate, WhatTheMeasurementSaysOfItsAlgorithmIsTaken) {
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

TEST(Calibrate, RefusesWhatItCannotUse) {
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
              HasSubstr("a.log:12: 16 ranks on 1 nodes, but the cluster lays them on 2"));
  EXPECT_THAT(error(Preset("dgx-a100"), {}), HasSubstr("no measurements"));
  proto::Cluster bare = Preset("dgx-a100");
  bare.mutable_collectives()->clear_library();
  row.nodes = 2;
  EXPECT_THAT(error(bare, {row}), HasSubstr("no collectives.library"));
  row.ranks = 12;
  row.nodes = 0;
  EXPECT_THAT(error(Preset("dgx-a100"), {row}), HasSubstr("a.log:12: cluster: 12 ranks do not fill"));
}

}  // namespace
}  // namespace chakra
