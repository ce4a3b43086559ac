// Sends and receives that begin together, against closed forms and measurements of sendrecv_perf.
#include "replay/run/sendrecv.h"

#include <gmock/gmock.h>

#include <map>

#include "replay/cluster/load.h"
#include "replay/nccl/message_costs.h"
#include "replay/run/collective_table.h"
#include "test/replay/engine_testing.h"
#include "test/replay/library_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TableOptions OptionsOf(const std::string& peers, int ranks, const std::string& fabric = "analytical") {
  TableOptions options;
  options.peers = *ParsePeers(peers);
  options.ranks = ranks;
  options.fabric = fabric;
  return options;
}

CollectiveTable TableOf(const proto::Cluster& cluster, const TableOptions& options) {
  auto table = CollectiveTable::Make(cluster, options);
  EXPECT_TRUE(table.ok()) << table.status();
  return *std::move(table);
}

TableRow RowOf(const std::string& cluster, const TableOptions& options, uint64_t bytes) {
  CollectiveTable table = TableOf(*LoadCluster(cluster), options);
  const auto row = table.Price(bytes);
  EXPECT_TRUE(row.ok()) << row.status();
  return row.ok() ? *row : TableRow();
}

std::vector<std::pair<int, int>> Sent(const std::string& peers, int ranks, int root = 0) {
  std::vector<std::pair<int, int>> out;
  const auto messages = MessagesOf(*ParsePeers(peers), ranks, root);
  EXPECT_TRUE(messages.ok()) << messages.status();
  for (const SentMessage& m : *messages) out.emplace_back(m.src, m.dst);
  return out;
}

std::string PeersError(const std::string& peers, int ranks) {
  const absl::StatusOr<Peers> parsed = ParsePeers(peers);
  return std::string((parsed.ok() ? MessagesOf(*parsed, ranks, 0).status() : parsed.status()).message());
}

using P = std::pair<int, int>;

TEST(SendRecvPeers, ListsMessagesOfEachPattern) {
  EXPECT_THAT(Sent("next", 3), ElementsAre(P(0, 1), P(1, 2), P(2, 0)));
  EXPECT_THAT(Sent("next:3", 4), ElementsAre(P(0, 3), P(1, 0), P(2, 1), P(3, 2)));
  EXPECT_THAT(Sent("pair:3,1", 4), ElementsAre(P(3, 1)));
  EXPECT_THAT(Sent("exchange", 4), ElementsAre(P(0, 2), P(1, 3), P(2, 0), P(3, 1)));
  EXPECT_THAT(Sent("exchange:3,1", 4), ElementsAre(P(3, 1), P(1, 3)));
  EXPECT_THAT(Sent("incast", 3, 1), ElementsAre(P(0, 1), P(2, 1)));
  EXPECT_THAT(Sent("outcast", 3, 2), ElementsAre(P(2, 0), P(2, 1)));
  for (const char* alone : {"next", "incast", "outcast"}) EXPECT_THAT(Sent(alone, 1), ElementsAre());
  for (const char* text : {"next", "next:8", "pair:3,12", "exchange", "exchange:0,1", "incast", "outcast"}) {
    EXPECT_EQ(ParsePeers(text)->Text(), text);
  }
  EXPECT_EQ(ParsePeers("next:1")->Text(), "next");
}

TEST(SendRecvPeers, RefusesBadPeers) {
  for (const char* text : {"", "next:", "next:x", "next:-1", "next: 2", "next:99999999999", "pair", "pair:3",
                           "pair:1,2,3", "pair:,", "exchange:2", "incast:3", "outcast:0,1", "Next", "x"}) {
    EXPECT_THAT(PeersError(text, 8), AllOf(HasSubstr("--peers \"" + std::string(text) + "\""),
                                           HasSubstr("expected next, next:DISTANCE, pair:FROM,TO")))
        << text;
  }
  EXPECT_THAT(PeersError("incst", 8), HasSubstr("did you mean 'incast'?"));
  EXPECT_THAT(PeersError("next:8", 8), HasSubstr("the distance is 8; expected 1 to 7"));
  EXPECT_THAT(PeersError("next:0", 8), HasSubstr("the distance is 0"));
  EXPECT_THAT(PeersError("pair:3,12", 8), HasSubstr("there is no rank 12; expected 0 to 7"));
  EXPECT_THAT(PeersError("exchange:5,5", 8), HasSubstr("would send to itself"));
  EXPECT_THAT(PeersError("exchange", 7), HasSubstr("an even number of ranks"));
  EXPECT_THAT(PeersError("exchange", 1), HasSubstr("on 1 rank:"));
}

proto::Cluster Bare(const char* kind) {
  return ClusterText("topology { dimension { kind: " + std::string(kind) +
                     " size: 8 bandwidth_gbytes_per_s: 50 latency_ns: 500 } }");
}

// 1 MB at 50 GB/s takes 20 us; the route has two links of 0.5 us.
TEST(SendRecv, FlowsWithoutLibraryMatchLinks) {
  for (const char* fabric : {"analytical", "fluid"}) {
    for (const char* peers : {"next", "next:3", "pair:2,5", "exchange"}) {
      CollectiveTable table = TableOf(Bare("SWITCH"), OptionsOf(peers, 8, fabric));
      const TableRow row = *table.Price(1000000);
      EXPECT_DOUBLE_EQ(row.time_us, 21) << fabric << peers;
      EXPECT_EQ(row.algorithm, peers);
      EXPECT_EQ(row.protocol + row.why, "-");
      EXPECT_DOUBLE_EQ(row.busbw, 1000 / 21.0);
    }
  }
  // One link of the root carries seven messages.
  for (const char* peers : {"incast", "outcast"}) {
    CollectiveTable fluid = TableOf(Bare("SWITCH"), OptionsOf(peers, 8, "fluid"));
    const TableRow row = *fluid.Price(1000000);
    EXPECT_NEAR(row.time_us, 141, 1e-5);
    EXPECT_DOUBLE_EQ(row.busbw, 7 * row.algbw);
    CollectiveTable mesh = TableOf(Bare("FULLY_CONNECTED"), OptionsOf(peers, 8, "fluid"));
    EXPECT_DOUBLE_EQ(mesh.Price(1000000)->time_us, 20.5);
  }
  TableOptions forced = OptionsOf("next", 8);
  forced.protocol = "ll";
  EXPECT_THAT(std::string(CollectiveTable::Make(Bare("SWITCH"), forced).status().message()),
              HasSubstr("collectives.library"));
}

// A message takes its begin, its latency, its bytes over the smaller of link rate and limit, and 1.2 us
// between kernels.
TEST(SendRecv, AddsBeginLatencyAndBytes) {
  // LL of a node: 4.5 and 0.5 us, 0.05 us of wire; a channel at 5.4 GB/s, then 141 GB/s.
  EXPECT_NEAR(RowOf("dgx-h100", OptionsOf("next", 8), 5400).time_us, 1.2 + 5.05 + 1 + 5.4 / 141, 1e-4);
  // Simple: 11.3 us; 4 of 32 channels at 20.6 GB/s.
  EXPECT_NEAR(RowOf("dgx-h100", OptionsOf("next", 8), 824000).time_us, 1.2 + 11.35 + 10, 1e-4);
  // All channels: the link, 450 x 0.824 GB/s, and 0.35 of 12 MB that fill them.
  EXPECT_NEAR(RowOf("dgx-h100", OptionsOf("next", 8), 3708000000).time_us,
              1.2 + 11.35 + (3708000 + 0.35 * 12000) / 370.8, 0.1);
  // Over the network: 11.3, 9 and 2 us, 0.35 of 2.5 MB at the NIC's rate; 5 + 1.7 us and 1 us of wire.
  const double nic_rate = 50 * 0.9937 * 0.95;
  EXPECT_NEAR(RowOf("dgx-h100", OptionsOf("pair:0,8", 16), 1000000000).time_us,
              1.2 + 22.3 + 0.35 * 2500 / nic_rate + 7.7 + 1e6 / nic_rate, 0.1);
}

TEST(SendRecv, ProtocolDependsOnBytesAndRelease) {
  const auto protocol = [](const char* cluster, uint64_t bytes, const char* forced = "") {
    TableOptions options = OptionsOf("next", 8);
    options.protocol = forced;
    return RowOf(cluster, options, bytes).protocol;
  };
  EXPECT_EQ(protocol("dgx-h100", 16384), "ll");
  EXPECT_EQ(protocol("dgx-h100", 16385), "simple");
  EXPECT_EQ(protocol("dgx-h100:nccl=2.11", 8), "simple");
  EXPECT_EQ(protocol("dgx-h100", 1 << 20, "ll"), "ll");
  EXPECT_EQ(protocol("dgx-h100", 8, "simple"), "simple");
}

TEST(SendRecv, ChannelsDependOnBytesAndRanks) {
  const LibraryModel library = Preset("dgx-h100", 8).library();
  const auto channels = [&](uint64_t mib, int ranks, int nodes) {
    return ChannelsOfMessage(library, mib << 20, ranks, nodes);
  };
  EXPECT_EQ(channels(1, 8, 1), 4);
  EXPECT_EQ(channels(64, 8, 1), 4);
  EXPECT_EQ(channels(65, 8, 1), 8);
  EXPECT_EQ(channels(1024, 8, 1), 32);
  EXPECT_EQ(channels(1, 4, 1), 8);
  EXPECT_EQ(channels(1, 2, 1), 16);
  EXPECT_EQ(channels(1, 1024, 128), 2);
}

// With LL, an exchange between two ranks equals the library's all_to_all on two ranks, which also has a block
// for the member itself.
TEST(SendRecv, ExchangeOfTwoEqualsAllToAll) {
  TableOptions all;
  all.type = CollectiveType::kAllToAll;
  all.ranks = 2;
  for (const uint64_t bytes : {8, 1024, 16384}) {
    CollectiveTable table = TableOf(*LoadCluster("dgx-h100"), all);
    EXPECT_NEAR(RowOf("dgx-h100", OptionsOf("exchange", 2), bytes).time_us, table.Price(2 * bytes)->time_us,
                1e-5);
  }
}

// Messages that share no link take the same time on fabrics with contention. Messages that share a link get
// shares of it.
TEST(SendRecv, FabricsAgree) {
  for (const char* peers : {"next", "next:8", "exchange", "pair:3,12", "incast", "outcast"}) {
    for (const uint64_t bytes : {256, 1 << 20, 1 << 28}) {
      const double alone = RowOf("dgx-h100", OptionsOf(peers, 16), bytes).time_us;
      EXPECT_NEAR(RowOf("dgx-h100", OptionsOf(peers, 16, "fluid"), bytes).time_us, alone, 1e-4 * alone)
          << peers << bytes;
    }
  }
  // 8 other ranks use the root's NIC, which carries 0.95 x 0.9937 of 50 GB/s.
  const double more = RowOf("dgx-h100", OptionsOf("incast", 16, "fluid"), 2000000000).time_us -
                      RowOf("dgx-h100", OptionsOf("incast", 16, "fluid"), 1000000000).time_us;
  EXPECT_NEAR(more, 8e6 / (50 * 0.9937 * 0.95), 1);
}

// The reason names the message that ends last. Calls follow one another on the fabric's clock.
TEST(SendRecv, ExplainsLastMessageAndAdvancesClock) {
  CollectiveTable table = TableOf(*LoadCluster("dgx-h100"), OptionsOf("next", 16));
  const TableRow row = *table.Price(1 << 20);
  EXPECT_THAT(row.why, HasSubstr("simple; the last message, 7 to 8, begins at"));
  EXPECT_DOUBLE_EQ(static_cast<double>(table.now().picos()) * 1e-6, row.time_us - 1.2);
  EXPECT_DOUBLE_EQ(table.Price(1 << 20)->time_us, row.time_us);
  const TableRow one = RowOf("dgx-h100", OptionsOf("next", 1), 8);
  EXPECT_EQ(one.algorithm + one.protocol, "--");
  EXPECT_DOUBLE_EQ(one.time_us, 3.75);
}

TEST(SendRecv, PricesOnEveryPreset) {
  for (const char* preset : {"dgx-v100", "dgx2", "dgx-a100", "dgx-h100", "dgx-h800", "dgx-b200", "dgx-b300",
                             "gb200-nvl72", "gb300-nvl72", "l40s", "rtx-pro-6000", "mi300x"}) {
    for (const char* peers : {"next", "exchange:1,0", "incast", "outcast"}) {
      for (const int ranks : {2, 5, 8}) {
        const double small = RowOf(preset, OptionsOf(peers, ranks), 8).time_us;
        EXPECT_GT(small, 1) << preset << peers;
        EXPECT_LT(small, 40) << preset << peers;
        EXPECT_LT(RowOf(preset, OptionsOf(peers, ranks), 1 << 20).time_us, 6000) << preset << peers;
      }
    }
  }
}

TEST(SendRecv, RefusesTooLongTimes) {
  CollectiveTable table =
      TableOf(ClusterText("topology { dimension { kind: SWITCH size: 4 bandwidth_bytes_per_s: 1 } }"),
              OptionsOf("next", 4));
  EXPECT_THAT(std::string(table.Price(uint64_t{1} << 40).status().message()),
              AllOf(HasSubstr("sendrecv of 1099511627776 bytes on 4 ranks"), HasSubstr("106 days")));
}

// sendrecv_perf: xxrjun/nccl-tests-cluster, NCCL 2.29.2.
TEST(SendRecv, MatchesMeasurementsOnH100) {
  const std::map<uint64_t, double> node = {{32, 421.3},   {64, 818.1},    {128, 824.1},    {256, 896.9},
                                           {512, 1510.0}, {1024, 2975.9}, {16384, 46816.8}};
  for (const auto& [mib, us] : node)
    EXPECT_NEAR(RowOf("dgx-h100", OptionsOf("next", 8), mib << 20).time_us / us, 1, 0.08) << mib;
  EXPECT_NEAR(RowOf("dgx-h100", OptionsOf("next", 16), uint64_t{4} << 30).time_us / 93681.5, 1, 0.03);
  const std::map<uint64_t, double> nics = {{32, 1478.5}, {64, 2881.0}, {128, 5699.1}, {1024, 45267}};
  for (const auto& [mib, us] : nics) {
    EXPECT_NEAR(RowOf("dgx-h100:gpus_per_node=1,nic_gbps=200", OptionsOf("next", 2), mib << 20).time_us / us,
                1, 0.015)
        << mib;
  }
}

// In a replay, each message has the costs of a pair of ranks that sends nothing else.
TEST(SentMessage, TakesEqualTimeInReplay) {
  for (const auto& [cluster, nodes, dst] :
       {std::tuple("dgx-h100:nodes=2", 1, 1), {"dgx-h100:nodes=2", 2, 15}, {"alps:nodes=2", 2, 4}}) {
    for (const uint64_t bytes : {uint64_t{1000}, uint64_t{1} << 23}) {
      TestMachine m = Preset(cluster, dst + 1);
      const MessageCosts costs =
          CostsOfMessage(m.library(), *m.fabric, 0, dst, bytes, {.nodes = nodes, .busy_nodes = nodes});
      const FlowCost wire = m.fabric->Cost(0, dst, bytes, costs.limit);
      TraceBuilder b(dst + 1);
      b.Send(0, dst, static_cast<int64_t>(bytes), 0);
      b.Recv(dst, 0, static_cast<int64_t>(bytes), 0);
      const absl::StatusOr<TraceSet> traces = b.Build();
      ASSERT_TRUE(traces.ok()) << traces.status();
      for (const char* fabric : {"analytical", "fluid"}) {
        m.AnotherFabric(fabric);
        EngineOptions options;
        options.collectives = m.costs();
        const absl::StatusOr<Metrics> run = Replay(*traces, Recorded(*traces), *m.fabric, options);
        ASSERT_TRUE(run.ok()) << run.status();
        EXPECT_EQ(run->ranks[0].end, costs.begin + wire.sent) << cluster << " " << bytes << " " << fabric;
        EXPECT_EQ(run->ranks[static_cast<size_t>(dst)].end, costs.begin + costs.latency + wire.received())
            << cluster << " " << bytes << " " << fabric;
      }
    }
  }
}

// Two hosts: osu_latency has 1.9 us for 8 bytes on InfiniBand, 3.0 on Slingshot, 16 on EFA
// (../validation/between_nodes.md).
TEST(SentMessage, MpiMessagesMatchOsuLatency) {
  for (const auto& [cluster, us] : {std::pair("leonardo", 1.9), {"alps", 3.0}, {"aws-p4d", 16.0}}) {
    const TableRow row =
        RowOf(std::string(cluster) + ":nodes=2,gpus_per_node=4,library=mpi", OptionsOf("pair:0,4", 8), 8);
    EXPECT_NEAR(row.time_us / us, 1, 0.1) << cluster << " " << row.time_us;
    EXPECT_EQ(row.protocol, "-");
  }
  // 0.8 of a NIC of 100 Gb/s.
  const TableRow large = RowOf("leonardo:nodes=2,library=mpi", OptionsOf("pair:0,4", 8), 1 << 30);
  EXPECT_NEAR(large.algbw, 10, 0.01);
  TableOptions forced = OptionsOf("pair:0,4", 8);
  forced.protocol = "simple";
  CollectiveTable table = TableOf(*LoadCluster("leonardo:nodes=2,library=mpi"), forced);
  EXPECT_THAT(std::string(table.Price(8).status().message()), HasSubstr("--protocol is of NCCL"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
