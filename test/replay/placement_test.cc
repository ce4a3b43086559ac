// Placement of ranks on devices, and its effect.
#include "backends/topology/placement.h"

#include <algorithm>
#include <numeric>

#include "replay/engine/memory_model.h"
#include "replay/engine/options.h"
#include "test/replay/engine_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

std::vector<int> Placed(const char* rule, int ranks, int devices) {
  absl::StatusOr<std::vector<int>> v = PlaceByRule(rule, ranks, devices);
  EXPECT_TRUE(v.ok()) << v.status();
  return v.ok() ? *v : std::vector<int>();
}

std::string FileError(const char* text, int ranks = 4, int devices = 4) {
  const auto placed = ParsePlacement(text, "p.txt", ranks, devices);
  EXPECT_FALSE(placed.ok()) << text;
  return std::string(placed.status().message());
}

// Two nodes of two devices: 400 GB/s within, 50 GB/s between, a switch each.
Topology Nodes() {
  TopologyDimension nvlink, nic;
  nvlink.size = nic.size = 2;
  nvlink.bandwidth = Bandwidth::BytesPerSecond(400000000000);
  nvlink.latency = Time::Nanos(100);
  nvlink.name = "nvlink";
  nic.bandwidth = Bandwidth::BytesPerSecond(50000000000);
  nic.latency = Time::Nanos(1000);
  nic.name = "nic";
  return *Topology::Make({nvlink, nic});
}

TEST(Placement, RulesGiveTheirOrder) {
  EXPECT_EQ(Placed("linear", 3, 4), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(Placed("round_robin:4", 8, 8), (std::vector<int>{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(Placed("round_robin:2", 3, 8), (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(Placed("stride:3", 8, 8), (std::vector<int>{0, 3, 6, 1, 4, 7, 2, 5}));
  EXPECT_EQ(Placed("stride:2", 6, 6), (std::vector<int>{0, 2, 4, 1, 3, 5}));
}

TEST(Placement, ScatteredNodesAreWhole) {
  const std::vector<int> placed = *PlaceByRule("scattered:3", 10, 32, 4);
  ASSERT_EQ(placed.size(), 10u);
  std::vector<int> nodes;
  for (size_t i = 0; i < placed.size(); ++i) {
    EXPECT_EQ(placed[i] % 4, static_cast<int>(i % 4));
    if (i % 4 == 0) nodes.push_back(placed[i] / 4);
    EXPECT_EQ(placed[i] / 4, nodes.back());
  }
  std::sort(nodes.begin(), nodes.end());
  EXPECT_EQ(std::unique(nodes.begin(), nodes.end()), nodes.end());
  EXPECT_NE(placed, *PlaceByRule("scattered:4", 10, 32, 4));
  EXPECT_EQ(placed, *PlaceByRule("scattered:3", 10, 32, 4));
}

TEST(Placement, EveryRuleIsAPermutation) {
  for (const char* rule :
       {"linear", "round_robin:12", "random:1", "random:2", "stride:7", "stride:10", "stride:59"}) {
    std::vector<int> placed = Placed(rule, 60, 60);
    std::sort(placed.begin(), placed.end());
    std::vector<int> all(60);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(placed, all) << rule;
  }
  EXPECT_EQ(Placed("random:1", 60, 60), Placed("random:1", 60, 60));
  EXPECT_NE(Placed("random:1", 60, 60), Placed("random:2", 60, 60));
}

TEST(Placement, RefusesBadRules) {
  const auto error = [](const char* rule) { return std::string(PlaceByRule(rule, 4, 8).status().message()); };
  EXPECT_EQ(error("round_robin:3"),
            "placement \"round_robin:3\"; expected a divisor of the 8 devices, 2 for instance");
  EXPECT_NE(error("round_robin:0").find("1 for instance"), std::string::npos);
  EXPECT_NE(error("round_robin:9").find("8 for instance"), std::string::npos);
  EXPECT_NE(error("stride:8").find("1 to 7"), std::string::npos);
  EXPECT_NE(error("stride").find("stride:N"), std::string::npos);
  EXPECT_NE(error("random:x").find("whole number"), std::string::npos);
  EXPECT_NE(error("linear:2").find("only linear"), std::string::npos);
  EXPECT_NE(error("randm:2").find("did you mean 'random'"), std::string::npos) << error("randm:2");
}

TEST(Placement, ReadsPlacementFiles) {
  EXPECT_EQ(*ParsePlacement("# two nodes\n0 3\n1: 2   # here\n\n2-3: 0-1\r\n", "p", 4, 4),
            (std::vector<int>{3, 2, 0, 1}));
}

TEST(Placement, RefusesBadFiles) {
  EXPECT_EQ(FileError("0 0\n1 0\n"),
            "p.txt:2: device 0 is already used by line 1; the first free device is 1");
  EXPECT_EQ(FileError("0 0\n\n0 1\n"), "p.txt:3: rank 0 has device 0 by line 1; expected each rank once");
  EXPECT_EQ(FileError("0 4\n"), "p.txt:1: device 4 is not in the machine; expected 0 to 3");
  EXPECT_EQ(FileError("3-5: 0-2\n"), "p.txt:1: rank 4 is not in the run; expected 0 to 3");
  EXPECT_EQ(FileError("0-2: 1-2\n"), "p.txt:1: 3 ranks on 2 devices; expected devices 1-3");
  EXPECT_EQ(
      FileError("0-2: 0-2\n"),
      "p.txt: no line places rank 3; expected one for each of the ranks 0 to 3; the first free device is 3");
  for (const char* bad :
       {"0\n", "0 1 2\n", "a b\n", "-1 0\n", "3-1: 0-2\n", "0-9223372036854775807: 0-1\n"}) {
    EXPECT_NE(FileError(bad).find("p.txt:1: \""), std::string::npos) << bad;
  }
}

// 1 MB from rank 0 to rank 1: on one node, then on two.
TEST(Placement, MovesPairFromNvlinkToNic) {
  TraceBuilder b(4);
  b.Send(0, 1, 1000000, 0);
  b.Recv(1, 0, 1000000, 0);
  const TraceSet traces = *b.Build();
  for (const char* name : {"analytical", "fluid"}) {
    const auto run = [&](const std::vector<int>& device_of) {
      auto machine = *MakeMachine(name, Nodes(), {});
      machine->Place(device_of);
      return Replay(traces, Recorded(traces), *machine, {})->makespan;
    };
    EXPECT_EQ(run({}), Time::Nanos(200) + Time::Picos(2500000)) << name;
    EXPECT_EQ(run({0, 2, 1, 3}), Time::Nanos(2000) + Time::Micros(20)) << name;
    EXPECT_EQ(run({3, 1}), Time::Nanos(2000) + Time::Micros(20)) << name;
    EXPECT_EQ(run({3, 2}), Time::Nanos(200) + Time::Picos(2500000)) << name;
  }
}

TEST(Placement, MachineMapsRanksToDevices) {
  const std::vector<int> device_of = {2, 0};
  auto plain = *MakeMachine("analytical", Nodes(), {});
  auto placed = *MakeMachine("analytical", Nodes(), {});
  placed->Place(device_of);
  const int at[] = {2, 0, 1, 3};  // ranks without a place take the free devices
  ASSERT_EQ(placed->devices(), 4);
  for (int a = 0; a < 4; ++a) {
    EXPECT_EQ(placed->Coordinate(a, 1), plain->Coordinate(at[a], 1));
    for (int b = 0; b < 4; ++b) {
      EXPECT_EQ(placed->Level(a, b), plain->Level(at[a], at[b]));
      EXPECT_EQ(placed->SwitchBetween(a, b), plain->SwitchBetween(at[a], at[b]));
      EXPECT_EQ(placed->Cost(a, b, 1000).received(), plain->Cost(at[a], at[b], 1000).received());
    }
  }
  const int port = placed->SwitchBetween(0, 3);  // devices 2 and 3
  ASSERT_GE(port, 4);
  EXPECT_EQ(placed->Cost(0, port, 8).received(), plain->Cost(2, port, 8).received());
  placed->Account(0, 1, 500, 2);
  EXPECT_EQ(placed->Traffic()[1].bytes, 2000u);  // two links of the nic's switch
  EXPECT_EQ(placed->Traffic()[0].bytes, 0u);
}

// The ranks placed on a node share its memory.
TEST(Placement, RanksOfANodeShareItsMemory) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) TraceBuilder::Int(&b.Add(r, et::MEM_LOAD_NODE), "tensor_size", 1000);
  EngineOptions options;
  options.memory.kind = MemoryModel::Kind::kPerNode;
  options.memory.bandwidth = Bandwidth::BytesPerSecond(1000000000);
  options.memory.ranks_per_node = 2;
  EXPECT_EQ(Makespan(b, options), 2 * kUs);
  options.device_of = {0, 2};
  EXPECT_EQ(Makespan(b, options), 1 * kUs);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
