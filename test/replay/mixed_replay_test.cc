// Traces over fabric `mixed`: the engine, the report, the binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "backends/mixed/choice.h"
#include "backends/registry.h"
#include "replay/engine/options.h"
#include "test/replay/engine_testing.h"
#include "test/replay/run_binary.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Topology Switch(int devices) {
  TopologyDimension d;
  d.name = "net";
  d.size = devices;
  d.bandwidth = kWire.bandwidth;
  d.latency = kWire.latency;
  return *Topology::Make({d});
}

int64_t AllReduce(const std::string& fabric_name, const std::vector<int>& by_packets, PacketTotals* totals) {
  TraceBuilder b(8);
  for (int r = 0; r < 8; ++r) b.Coll(r, CollectiveType::kAllReduce, 8 << 20, {b.Comp(r, 3).id()});
  const TraceSet traces = *b.Build();
  FabricOptions options;
  if (!by_packets.empty()) {
    options.Ask<PacketChoices>().any_of.emplace_back();
    options.Ask<PacketChoices>().any_of[0].by_device = true;
    options.Ask<PacketChoices>().any_of[0].devices = by_packets;
  }
  auto fabric = MakeMachine(fabric_name, Switch(8), options);
  EXPECT_TRUE(fabric.ok()) << fabric.status();
  const auto metrics = Replay(traces, Recorded(traces), **fabric, EngineOptions());
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  *totals = (*fabric)->Packets();
  return metrics.ok() ? metrics->makespan.picos() : 0;
}

TEST(MixedReplay, CollectiveTimeIsBetweenFluidAndPacket) {
  PacketTotals none, some, all;
  const int64_t fluid = AllReduce("fluid", {}, &none), packet = AllReduce("packet", {}, &all);
  const int64_t mixed = AllReduce("mixed", {2, 3}, &some);
  EXPECT_LT(fluid, mixed);
  EXPECT_LT(mixed, packet);
  EXPECT_GT(some.messages, 0u);
  EXPECT_GT(some.fluid_messages, some.messages);
  EXPECT_LT(some.hops, all.hops);
  EXPECT_EQ(AllReduce("mixed", {0, 1, 2, 3, 4, 5, 6, 7}, &some), packet);
  EXPECT_EQ(some.hops, all.hops);
}

TEST(MixedReplay, BinaryAcceptsChoices) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "mixed_replay_test";
  std::filesystem::create_directories(folder);
  TraceBuilder b(8);
  for (int r = 0; r < 8; ++r) {
    b.Coll(r, CollectiveType::kAllToAll, 800000, {b.Comp(r, 3).id()});
    ASSERT_TRUE(b.Write(r, folder / absl::StrCat("t.", r, ".et")).ok());
  }
  std::ofstream(folder / "cluster.txtpb") << "topology { dimension { kind: NETWORK network { build: "
                                             "\"leaf_spine:hosts_per_leaf=2,spines=2\" } } }\n";
  const std::string run =
      absl::StrCat("replay -q ", (folder / "t").string(), " --compute recorded --cluster ",
                   (folder / "cluster.txtpb").string(), " --fabric mixed ");
  int status = 0;
  const std::string json = RunBinary(run + "--format json --mixed link=leaf.0 --link-series", &status);
  EXPECT_EQ(status, 0) << json;
  // The two devices of leaf 0 exchange messages with six others, in both directions, and with each other.
  EXPECT_THAT(json, AllOf(HasSubstr("\"messages\": \"26\""), HasSubstr("\"fluid_messages\": \"30\""),
                          HasSubstr("\"fabric\": \"mixed\"")));
  for (const char* threads : {"1", "3"}) {
    EXPECT_EQ(
        RunBinary(run + "--format json --mixed link=leaf.0 --link-series --threads " + threads, &status),
        json);
  }
  const std::string text = RunBinary(run + "--mixed ranks=1,until=1s --packet transport=dcqcn", &status);
  EXPECT_EQ(status, 0) << text;
  EXPECT_THAT(text, HasSubstr("for      14 messages"));
  EXPECT_THAT(RunBinary(run, &status), HasSubstr("nothing is chosen for packets; expected --mixed"));
  EXPECT_NE(status, 0);
  EXPECT_THAT(
      RunBinary(run + "--mixed link=laef.0", &status),
      AllOf(HasSubstr("--mixed \"link=laef.0\": link is \"laef.0\""), HasSubstr("did you mean 'leaf.0'?")));
  EXPECT_NE(status, 0);
  EXPECT_THAT(RunBinary(run + "--mixed ranks=8", &status), HasSubstr("expected 0 to 7"));
  EXPECT_NE(status, 0);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
