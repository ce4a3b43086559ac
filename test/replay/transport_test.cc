// Times of messages between nodes: the known transports, and the law that uses them.
#include "replay/nccl/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "backends/transports/transports.h"
#include "replay/cluster/load.h"
#include "replay/nccl/between_nodes.h"
#include "replay/run/collective_table.h"
#include "test/replay/calibrate_testing.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

proto::NetworkTransport Given(const std::string& text) {
  proto::NetworkTransport t;
  EXPECT_TRUE(ParseTextMessage(text, "test", &t).ok()) << text;
  return t;
}

std::string Error(const std::string& text) {
  const auto built = BuildTransport(Given(text), "level[1].transport.");
  EXPECT_FALSE(built.ok()) << text;
  return std::string(built.status().message());
}

TEST(Transport, EachFileIsComplete) {
  EXPECT_GE(TransportNames().size(), 16u);
  for (const std::string& name : TransportNames()) {
    SCOPED_TRACE(name);
    proto::NetworkTransport t;
    ASSERT_TRUE(ParseTextMessage(std::string(TransportText(name)), name, &t).ok());
    EXPECT_EQ(t.name(), name);
    EXPECT_FALSE(t.source().empty());
    EXPECT_TRUE(t.has_host()) << "for MPI";
    const auto built = BuildTransport(Given(absl::StrCat("name: \"", name, "\"")), "t.");
    ASSERT_TRUE(built.ok()) << built.status();
    EXPECT_GT(built->host.latency_us, 0);
    if (!built->has_device) continue;  // for MPI alone
    EXPECT_TRUE(t.has_message_us() && t.has_rate_share() && t.has_post_us() && t.has_large_us());
    EXPECT_EQ(built->message_us, t.message_us());
    EXPECT_GT(built->rate_share, 0.3);
  }
}

TEST(Transport, FieldsOverrideTheFile) {
  const auto built = BuildTransport(Given("name: \"efa-v2\" message_us: 3 post_us: 0"), "t.");
  ASSERT_TRUE(built.ok());
  EXPECT_EQ(built->message_us, 3);
  EXPECT_EQ(built->post_us, 0);
  EXPECT_EQ(built->large_us, 15);
  const auto own = BuildTransport(Given("name: \"mine\" message_us: 3"), "t.");
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->rate_share, 1);
  EXPECT_EQ(own->large_us, 0);
  EXPECT_TRUE(BuildTransport({}, "t.").ok());
}

TEST(Transport, RefusesBadFields) {
  EXPECT_THAT(Error("name: \"efa2\""),
              HasSubstr("level[1].transport.name is \"efa2\"; did you mean 'efa-v2'?"));
  EXPECT_THAT(Error("rate_share: 0"), HasSubstr("rate_share is 0; expected a number > 0 and <= 1"));
  EXPECT_THAT(Error("rate_share: 1.5"), HasSubstr("rate_share is 1.5"));
  EXPECT_THAT(Error("message_us: -1"), HasSubstr("message_us is -1; expected a number >= 0"));
  EXPECT_THAT(Error("message_us: nan"), HasSubstr("message_us"));
  EXPECT_THAT(Error("quiet_nodes: -2"), HasSubstr("quiet_nodes is -2"));
}

TEST(Transport, TimesDependOnMessageSize) {
  Transport t;
  t.large_us = 12;
  t.large_bytes = 8192;
  EXPECT_EQ(t.LargeUs(2048), 0);
  EXPECT_NEAR(t.LargeUs(4096), 4, 1e-9);
  EXPECT_NEAR(t.LargeUs(16384), 12, 1e-9);
  EXPECT_EQ(t.LargeUs(1 << 20), 12);
  t.post_us = 2;
  t.exchange_us = 5;
  t.small_exchange_us = 9;
  t.small_bytes = 256;
  EXPECT_EQ(t.ExchangeUs(256, 10), 29);
  EXPECT_EQ(t.ExchangeUs(257, 10), 25);
  t.quiet_nodes = 8;
  t.crowding = 0.05;
  EXPECT_EQ(t.Crowding(8), 1);
  EXPECT_NEAR(t.Crowding(32), 1.1, 1e-12);
}

// Each inner node of one of the trees is a leaf of the other.
TEST(BetweenNodes, NicsCarryShareOfTrees) {
  EXPECT_EQ(nccl::CarriedByTree(2), 1);
  EXPECT_EQ(nccl::CarriedByTree(3), 1.5);
  EXPECT_EQ(nccl::CarriedByTree(64), 2);
}

double Us(const std::string& cluster, int ranks, uint64_t bytes, const std::string& algorithm = "",
          const std::string& protocol = "", CollectiveType type = CollectiveType::kAllReduce) {
  const auto loaded = LoadCluster(cluster);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  TableOptions options;
  options.ranks = ranks;
  options.type = type;
  options.algorithm = algorithm;
  options.protocol = protocol;
  auto table = CollectiveTable::Make(*loaded, options);
  EXPECT_TRUE(table.ok()) << table.status();
  const auto row = table->Price(bytes);
  EXPECT_TRUE(row.ok()) << row.status();
  return row.ok() ? row->time_us : 0;
}

constexpr uint64_t kMiB = 1 << 20;

// Simulated plans against the closed form of the law: a tree's transfer and fill, by hand.
TEST(BetweenNodes, TreesMatchTheLaw) {
  for (const int nodes : {2, 4, 16}) {
    const double bytes = 256.0 * kMiB, depth = std::log2(nodes);
    const double nics = 8 * 25 * 0.9937 * 0.92 / (1 + 0.02 * std::max(0.0, depth - 3));
    const double inside = 300 * 0.8 * 0.92, between = nics * 2 / nccl::CarriedByTree(nodes);
    const double fill = 600000.0 * 24 / (8 * 25 * 0.9937 * 0.92 * 1e3);
    const double step = 14 + 2 * 0.8 + 1 + 4.2 + fill + 3.5 * 0.8;
    const double law =
        21 + 1.2 + 2 * 7 * 6.85 + 2 * depth * step + 2 * bytes / (std::min(inside, between) * 1e3);
    EXPECT_NEAR(Us("azure-ndv4", 8 * nodes, 256 * kMiB, "tree", "simple") / law, 1, 0.05) << nodes;
  }
}

TEST(BetweenNodes, StepsGrowWithTheirBytes) {
  // The time that a doubling of the nodes adds, for 2 steps: 55 us a step at 8 MiB on MareNostrum 5, some us
  // at 256 bytes.
  const auto step = [](uint64_t bytes) {
    return (Us("marenostrum5", 64, bytes, "tree") - Us("marenostrum5", 16, bytes, "tree")) / 4;
  };
  EXPECT_NEAR(step(256), 6, 1.5);
  EXPECT_GT(step(8 * kMiB), 40);
  EXPECT_LT(step(8 * kMiB), 75);
}

TEST(BetweenNodes, NicsLimitTwoNodes) {
  // NICs limit a ring of two nodes; a tree uses both directions of each NIC.
  const double slow = Us("dgx-h100:nic_gbps=25,gpus_per_node=4", 8, 1024 * kMiB);
  const double fast = Us("dgx-h100:nic_gbps=400,gpus_per_node=4", 8, 1024 * kMiB);
  EXPECT_GT(slow / fast, 8);
  const double ring = Us("alps", 8, 1024 * kMiB, "ring"), tree = Us("alps", 8, 1024 * kMiB, "tree", "simple");
  EXPECT_NEAR(ring / tree, 1.75, 0.1);  // 2 (n - 1) / n of 8 ranks against 1
}

// The rate of a NIC for an algorithm, over its rate without a term.
double NicShare(CollectiveType type, const char* algorithm, double network_share) {
  absl::StatusOr<proto::Cluster> cluster = LoadCluster("dgx-h100");
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  std::array<double, 2> rate{};
  for (const bool term : {false, true}) {
    if (term) calibrating::AddTerm(&*cluster, algorithm, "simple")->set_network_share(network_share);
    TableOptions options;
    options.type = type;
    options.ranks = 16;
    options.algorithm = algorithm;
    options.protocol = "simple";
    absl::StatusOr<CollectiveTable> table = CollectiveTable::Make(*cluster, options);
    EXPECT_TRUE(table.ok()) << table.status();
    const LibraryModel& library = *table->cluster().collectives.library;
    for (const Candidate& c : Candidates(library, type, 1 << 30, table->shape())) {
      if (c.algorithm != algorithm || c.protocol != Protocol::kSimple) continue;
      rate[term ? 1 : 0] = CostsOf(library, type, 1 << 30, table->shape(), c).RateOf(1);
    }
  }
  return rate[1] / rate[0];
}

TEST(BetweenNodes, NetworkShareCountsOnce) {
  EXPECT_NEAR(NicShare(CollectiveType::kAllToAll, "direct", 0.5), 0.5, 1e-6);
  EXPECT_NEAR(NicShare(CollectiveType::kAllToAll, "pairwise", 0.5), 0.5, 1e-6);
  EXPECT_NEAR(NicShare(CollectiveType::kAllGather, "pat", 0.5), 0.5, 1e-6);
  EXPECT_NEAR(NicShare(CollectiveType::kAllReduce, "nvls_tree", 0.5), 0.5, 1e-2);
  EXPECT_NEAR(NicShare(CollectiveType::kAllReduce, "tree", 0.5), 0.5, 1e-2);
}

TEST(BetweenNodes, NetworksDifferInLatency) {
  EXPECT_GT(Us("aws-p5", 16, 1024), Us("azure-ndv5", 16, 1024) + 30);
  EXPECT_GT(Us("gcp-a3mega", 16, 1024), Us("aws-p5", 16, 1024) + 40);
  // Rendezvous on Slingshot, from some KiB on; 18 us a step of a tree.
  EXPECT_NEAR(Us("alps", 16, 32768) - Us("alps", 16, 64), 4 * 23, 12);
}

TEST(BetweenNodes, FarNicsNeedReleaseForLL128) {
  const auto loaded = LoadCluster("marenostrum5");
  ASSERT_TRUE(loaded.ok());
  TableOptions options;
  options.ranks = 16;
  auto table = CollectiveTable::Make(*loaded, options);
  ASSERT_TRUE(table.ok());
  const auto row = table->Price(kMiB);
  ASSERT_TRUE(row.ok());
  const auto found = std::find_if(row->candidates.begin(), row->candidates.end(),
                                  [](const Candidate& c) { return c.Label() == "tree/ll128"; });
  ASSERT_NE(found, row->candidates.end());
  EXPECT_THAT(found->unfit, HasSubstr("far_cards"));
  EXPECT_GT(Us("marenostrum5:nccl=2.27", 16, kMiB, "tree", "ll128"), 0);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
