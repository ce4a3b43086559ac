// Separate fits of the library and of the network: they must find the network that made the measurements.
#include <gmock/gmock.h>

#include <cmath>

#include "replay/calibrate/transport_fit.h"
#include "replay/run/cluster_model.h"
#include "test/replay/calibrate_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const proto::NetworkTransport& TransportOf(const proto::Cluster& cluster) {
  return cluster.collectives().library().level(1).transport();
}

// Each device has a thread of its own, so that small sizes show the time of the kernel.
proto::Cluster GivenNetwork() {
  proto::Cluster given = calibrating::Preset("azure-ndv4");
  given.mutable_collectives()->mutable_library()->set_devices_per_host(1);
  return given;
}

// The same machine with another network.
proto::Cluster OtherNetwork() {
  proto::Cluster truth = GivenNetwork();
  proto::NetworkTransport* t =
      truth.mutable_collectives()->mutable_library()->mutable_level(1)->mutable_transport();
  t->set_message_us(4.5);
  t->set_rate_share(0.8);
  t->set_large_us(9);
  t->set_post_us(3);
  t->set_exchange_us(12);
  return truth;
}

std::vector<MeasuredRow> Rows(const proto::Cluster& truth, CollectiveType type, const std::vector<int>& ranks,
                              uint64_t first, uint64_t last) {
  std::vector<MeasuredRow> rows;
  for (const int n : ranks) calibrating::Measure(truth, type, n, first, last, &rows);
  return rows;
}

void AddRows(const std::vector<MeasuredRow>& from, std::vector<MeasuredRow>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

TEST(CalibrateTransport, FindsTheNetworkThatMadeTheRows) {
  proto::Cluster truth = OtherNetwork();
  calibrating::AddTerm(&truth, "ring", "simple")->set_bus_share(0.7);  // inside a node
  std::vector<MeasuredRow> rows = Rows(truth, CollectiveType::kAllReduce, {8, 16, 32}, 8, uint64_t{1} << 30);
  AddRows(Rows(truth, CollectiveType::kAllToAll, {16, 32}, 256, 1 << 26), &rows);
  const absl::StatusOr<Fit> fit = CalibrateApart(GivenNetwork(), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  const proto::NetworkTransport& found = TransportOf(fit->cluster);
  EXPECT_EQ(found.name(), "infiniband-hdr");
  // Trees between nodes run the kernels of rings: with a term for these they begin 0.2 us earlier.
  EXPECT_NEAR(found.message_us(), 4.6, 0.01);
  EXPECT_NEAR(found.rate_share(), 0.8, 0.005);
  EXPECT_NEAR(found.large_us(), 9, 0.1);
  EXPECT_NEAR(found.post_us(), 3, 0.05);
  EXPECT_NEAR(found.exchange_us(), 12, 0.2);
  EXPECT_LT(MedianError(*fit, true), 0.002);
  EXPECT_GT(MedianError(*fit, false), 0.05);
  EXPECT_THAT(fit->fitted,
              Contains(HasSubstr("transport.message_us: 0.8 -> 4.6, determined by 22 rows of all_reduce "
                                 "on 2 and 4 nodes, 8 bytes to 8 KiB")));
  // The library's terms come from the rows of one node, and have no constants of the network.
  ASSERT_NE(calibrating::Find(fit->cluster, "ring", "simple"), nullptr);
  EXPECT_NEAR(calibrating::Find(fit->cluster, "ring", "simple")->bus_share(), 0.7, 0.01);
  for (const proto::LibraryTerm& term : fit->cluster.collectives().library().term()) {
    EXPECT_FALSE(term.has_network_share() || term.has_network_step_us()) << term.ShortDebugString();
  }
  // The reported times are those of the fitted cluster.
  const absl::StatusOr<std::vector<FittedRow>> again = PriceRows(GivenNetwork(), fit->cluster, rows);
  ASSERT_TRUE(again.ok()) << again.status();
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ((*again)[i].after_us, fit->rows[i].after_us) << i;
}

TEST(CalibrateTransport, FindsTheNetworkInNoisyRows) {
  const proto::Cluster truth = OtherNetwork();
  std::vector<MeasuredRow> rows = Rows(truth, CollectiveType::kAllReduce, {16, 32, 64}, 8, uint64_t{1} << 30);
  AddRows(Rows(truth, CollectiveType::kAllToAll, {16, 32, 64}, 256, 1 << 26), &rows);
  uint32_t random = 1;
  for (MeasuredRow& r : rows) {
    random = random * 1664525 + 1013904223;
    r.time_us *= 0.97 + 0.06 * static_cast<double>(random >> 8) / (1 << 24);
  }
  const absl::StatusOr<Fit> fit = CalibrateApart(GivenNetwork(), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  const proto::NetworkTransport& found = TransportOf(fit->cluster);
  EXPECT_NEAR(found.message_us(), 4.5, 0.6);
  EXPECT_NEAR(found.rate_share(), 0.8, 0.02);
  EXPECT_NEAR(found.post_us(), 3, 0.3);
  EXPECT_LT(MedianError(*fit, true), 0.03);
  EXPECT_THAT(fit->kept, Contains(HasSubstr("needs rows of one node")));
}

TEST(CalibrateTransport, NamesTheMissingRows) {
  const proto::Cluster truth = OtherNetwork();
  // With one count of nodes, the time of a message cannot be separated from a constant time of the call.
  const auto small = FitTransport(GivenNetwork(), Rows(truth, CollectiveType::kAllReduce, {16}, 8, 8 << 10));
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_THAT(small->fitted, IsEmpty());
  EXPECT_THAT(
      small->kept,
      Contains(
          "transport.message_us stays 0.8: not determined: needs rows of two node counts, at most 8 KiB, "
          "of a collective of rings or trees (found 11 rows on 2 nodes)"));
  EXPECT_THAT(small->kept, Contains(HasSubstr("transport.rate_share stays 0.92: not determined: needs rows "
                                              "between nodes whose time is the time of the NICs,")));
  EXPECT_THAT(small->kept,
              Contains(HasSubstr("transport.large_us stays 4.2: not determined: needs rows between nodes "
                                 "of 16 KiB to 256 KiB")));
  EXPECT_THAT(small->kept, Contains(HasSubstr("post_us stays 2: not determined: needs rows of all_to_all")));
  EXPECT_FALSE(TransportOf(small->cluster).has_message_us());
  // Large sizes alone.
  const auto large =
      FitTransport(GivenNetwork(), Rows(truth, CollectiveType::kAllGather, {16}, 1 << 27, uint64_t{1} << 31));
  ASSERT_TRUE(large.ok()) << large.status();
  EXPECT_THAT(large->fitted, Contains(HasSubstr("transport.rate_share: 0.92 -> 0.")));
  EXPECT_EQ(large->fitted.size(), 1u);
  // One count of several nodes gives post_us, but not exchange_us.
  const auto exchange =
      FitTransport(GivenNetwork(), Rows(truth, CollectiveType::kAllToAll, {16}, 64, 8 << 10));
  ASSERT_TRUE(exchange.ok()) << exchange.status();
  EXPECT_THAT(exchange->fitted, Contains(HasSubstr("transport.post_us: 2 -> ")));
  EXPECT_THAT(exchange->kept,
              Contains(HasSubstr("exchange_us stays 18: not determined: needs rows of all_to_all on two")));
}

// One node is often measured by one process with -g 8, several by one process for each device.
TEST(CalibrateTransport, OneNodeMayBeLaunchedDifferently) {
  proto::Cluster together = OtherNetwork();
  together.mutable_collectives()->mutable_library()->set_devices_per_host(8);
  std::vector<MeasuredRow> rows = Rows(together, CollectiveType::kAllReduce, {8}, 1 << 10, uint64_t{1} << 30);
  for (MeasuredRow& row : rows) row.devices_per_thread = 8;
  AddRows(Rows(OtherNetwork(), CollectiveType::kAllReduce, {16, 32}, 8, uint64_t{1} << 30), &rows);
  const absl::StatusOr<Fit> fit = CalibrateApart(GivenNetwork(), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_NEAR(TransportOf(fit->cluster).message_us(), 4.5, 0.2);
  EXPECT_NEAR(TransportOf(fit->cluster).rate_share(), 0.8, 0.005);
  EXPECT_LT(MedianError(*fit, true), 0.005);
  // On one node, rows of the two launches measure different things.
  for (MeasuredRow& row : rows) row.ranks = 8;
  EXPECT_THAT(std::string(CalibrateApart(GivenNetwork(), rows).status().message()),
              HasSubstr("calibrate logs of different launches separately"));
}

TEST(CalibrateTransport, ContradictoryRowsAreNotFitted) {
  std::vector<MeasuredRow> rows = Rows(OtherNetwork(), CollectiveType::kAllReduce, {16, 32}, 8, 8 << 10);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].time_us *= i % 3 == 0 ? 6 : i % 3 == 1 ? 1 : 3;
  const auto fit = FitTransport(GivenNetwork(), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_THAT(fit->kept, Contains(AllOf(HasSubstr("message_us stays 0.8"), HasSubstr("scatter too much"))));
}

// Only the largest sizes are slower: with their rate, all other rows would be off.
TEST(CalibrateTransport, KeepsFieldsThatWouldWorsenOtherRows) {
  proto::Cluster slow = GivenNetwork();
  slow.mutable_collectives()->mutable_library()->mutable_level(1)->mutable_transport()->set_rate_share(0.8);
  std::vector<MeasuredRow> rows =
      Rows(slow, CollectiveType::kAllGather, {16}, uint64_t{1} << 29, uint64_t{1} << 32);
  for (const uint64_t first : {2, 3, 5, 7})
    AddRows(Rows(GivenNetwork(), CollectiveType::kAllGather, {16}, first << 20, 1 << 28), &rows);
  const auto fit = FitTransport(GivenNetwork(), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_THAT(fit->fitted, IsEmpty());
  EXPECT_THAT(fit->kept,
              Contains(HasSubstr("transport.rate_share stays 0.92: all rows between nodes fit better with "
                                 "this value than with 0.8, determined by 4 rows of all_gather on 2 nodes")));
}

// Trees get less of the network than rings. The transport cannot express that; terms can.
TEST(CalibrateTransport, FitsTermsWhereTransportDoesNotSuffice) {
  proto::Cluster truth = OtherNetwork();
  calibrating::AddTerm(&truth, "tree", "ll")->set_network_step_us(40);
  calibrating::AddTerm(&truth, "tree", "ll128")->set_network_share(0.3);
  calibrating::AddTerm(&truth, "tree", "simple")->set_network_share(0.3);
  std::vector<MeasuredRow> rows =
      Rows(truth, CollectiveType::kAllReduce, {16, 32, 64}, 1 << 10, uint64_t{1} << 30);
  AddRows(Rows(truth, CollectiveType::kAllGather, {16, 32, 64}, 1 << 10, uint64_t{1} << 30), &rows);
  const absl::StatusOr<Fit> fit = CalibrateApart(GivenNetwork(), rows);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_THAT(fit->warnings, Contains(HasSubstr("terms of the library are fitted to them too")));
  EXPECT_LT(MedianError(*fit, true), 0.05);
}

TEST(CalibrateTransport, KeepsTheRateOfTheLevel) {
  proto::Cluster given = GivenNetwork();
  given.mutable_collectives()->mutable_library()->mutable_level(1)->set_carried(0.7);
  const auto fit =
      FitTransport(given, Rows(OtherNetwork(), CollectiveType::kAllGather, {16}, 1 << 27, uint64_t{1} << 31));
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_THAT(fit->kept,
              Contains("transport.rate_share is not used: level[1].carried is given, which replaces it"));
}

TEST(CalibrateTransport, OneNodeIsFittedLikeCalibrate) {
  proto::Cluster truth = GivenNetwork();
  calibrating::AddTerm(&truth, "ring", "simple")->set_bus_share(0.7);
  const std::vector<MeasuredRow> rows =
      Rows(truth, CollectiveType::kAllReduce, {8}, 1 << 10, uint64_t{1} << 30);
  const absl::StatusOr<Fit> apart = CalibrateApart(GivenNetwork(), rows),
                            plain = Calibrate(GivenNetwork(), rows);
  ASSERT_TRUE(apart.ok() && plain.ok());
  EXPECT_EQ(apart->fitted, plain->fitted);
  EXPECT_EQ(apart->kept, plain->kept);
  EXPECT_THAT(apart->kept, Not(Contains(HasSubstr("transport"))));
}

// The fitted cluster can be built, whatever the rows are.
TEST(CalibrateTransport, FittedClusterCanBeBuilt) {
  for (const double factor : {1e-5, 1e5}) {
    std::vector<MeasuredRow> rows = Rows(OtherNetwork(), CollectiveType::kAllReduce, {16, 32}, 8, 1 << 30);
    AddRows(Rows(OtherNetwork(), CollectiveType::kAllToAll, {16, 32}, 256, 1 << 26), &rows);
    for (MeasuredRow& r : rows) r.time_us *= factor;
    const auto fit = FitTransport(GivenNetwork(), rows);
    ASSERT_TRUE(fit.ok()) << fit.status();
    const absl::StatusOr<ClusterModel> model = BuildCluster(fit->cluster, 16);
    EXPECT_TRUE(model.ok()) << model.status();
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
