// Switches as end points of flows: their places, the cost of their one link, and the links that their flows
// share with flows between devices.
#include <set>

#include "fabric_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using Kind = TopologyDimension::Kind;

// Four devices on each of three leaves; a switch for each place in a leaf joins the devices of that place.
Topology TwoLevels() {
  return MakeTopology({MakeDim(Kind::kSwitch, 4), MakeDim(Kind::kSwitch, 3, 25, 1000)});
}

TEST(Switch, LiesBetweenDevicesOfOneDimension) {
  const Topology t = TwoLevels();
  EXPECT_EQ(t.SwitchBetween(0, 3), 12);
  EXPECT_EQ(t.SwitchBetween(3, 1), 12);
  EXPECT_EQ(t.SwitchBetween(9, 10), 12 + 8);
  EXPECT_EQ(t.SwitchBetween(1, 9), 2 * 12 + 1);
  EXPECT_EQ(t.SwitchBetween(9, 5), 2 * 12 + 1);
  EXPECT_EQ(t.SwitchBetween(0, 5), -1);   // both dimensions
  EXPECT_EQ(t.SwitchBetween(4, 4), -1);   // none
  EXPECT_EQ(t.SwitchBetween(-1, 4), -1);  // no devices
  EXPECT_EQ(t.SwitchBetween(4, 12), -1);
  const Topology mixed = MakeTopology({MakeDim(Kind::kRing, 4), MakeDim(Kind::kSwitch, 2)});
  EXPECT_EQ(mixed.SwitchBetween(0, 1), -1);
  EXPECT_EQ(mixed.SwitchBetween(1, 5), 8 + 8 + 1);
  std::set<int> all;
  for (int a = 0; a < 12; ++a) {
    for (int b = 0; b < 12; ++b) {
      if (const int s = t.SwitchBetween(a, b); s >= 0) all.insert(s);
    }
  }
  EXPECT_EQ(all.size(), 3u + 4u);
}

TEST(Switch, PathIsFirstOrLastLinkOfTheDevicePath) {
  const Topology t = TwoLevels();
  for (const auto& [a, b] : {std::pair{0, 3}, {5, 4}, {2, 10}, {11, 7}}) {
    const int s = t.SwitchBetween(a, b);
    std::vector<Hop> whole, up, down;
    t.Path(a, b, &whole);
    t.Path(a, s, &up);
    t.Path(s, b, &down);
    ASSERT_EQ(whole.size(), 2u);
    ASSERT_EQ(up.size(), 1u);
    ASSERT_EQ(down.size(), 1u);
    EXPECT_EQ(up[0].link, whole[0].link);
    EXPECT_EQ(down[0].link, whole[1].link);
    EXPECT_EQ(up[0].dimension, whole[0].dimension);
    EXPECT_EQ(t.Level(a, s), whole[0].dimension);
    EXPECT_EQ(t.Level(s, b), whole[0].dimension);
  }
}

// 50,000 B take 1 us at 50 GB/s, 2 us at 25 GB/s.
TEST(Switch, OneLinkCostsItsLatencyAndBandwidthOnce) {
  for (const char* name : {"analytical", "analytical-fifo"}) {
    for (const bool store_and_forward : {false, true}) {
      auto fabric = NewFabric(name, TwoLevels(), store_and_forward);
      const int leaf = fabric->SwitchBetween(4, 6), spine = fabric->SwitchBetween(4, 8);
      const auto ended = Drive(fabric.get(), {{Message(5, leaf, 50000, 1, true), Time::Zero()},
                                              {Message(leaf, 7, 50000, 2), Time::Zero()},
                                              {Message(8, spine, 50000, 3), Time::Zero()},
                                              {Message(spine, 0, 0, 4), Time::Zero()}});
      EXPECT_EQ(ReceivedAt(ended, 1), Time::Nanos(1500)) << name;
      EXPECT_EQ(ReceivedAt(ended, 1, FlowEnd::kSent), Time::Nanos(1000)) << name;
      EXPECT_EQ(ReceivedAt(ended, 2), Time::Nanos(1500)) << name;
      EXPECT_EQ(ReceivedAt(ended, 3), Time::Nanos(3000)) << name;
      EXPECT_EQ(ReceivedAt(ended, 4), Time::Nanos(1000)) << name;
      const FlowCost cost = fabric->Cost(8, spine, 50000);
      EXPECT_EQ(cost.received(), Time::Nanos(3000)) << name;
      EXPECT_EQ(cost.sent, Time::Nanos(2000)) << name;
      fabric->Account(leaf, 4, 100, 3);
      EXPECT_EQ(fabric->Traffic()[0].bytes, 100000u + 300u) << name;
      EXPECT_EQ(fabric->Traffic()[1].bytes, 50000u) << name;
    }
  }
}

TEST(Switch, SharesLinksWithFlowsBetweenDevices) {
  auto fabric = NewFabric("analytical-fifo", TwoLevels());
  const int leaf = fabric->SwitchBetween(0, 1);
  const auto ended =
      Drive(fabric.get(), {{Message(0, 1, 50000, 1), Time::Zero()},
                           {Message(0, leaf, 50000, 2), Time::Zero()},    // same link up
                           {Message(leaf, 1, 50000, 3), Time::Zero()},    // same link down, first
                           {Message(leaf, 2, 50000, 4), Time::Zero()}});  // no other message on its link
  EXPECT_EQ(ReceivedAt(ended, 2), Time::Nanos(2500));
  EXPECT_EQ(ReceivedAt(ended, 3), Time::Nanos(1500));
  EXPECT_EQ(ReceivedAt(ended, 4), Time::Nanos(1500));
  EXPECT_EQ(ReceivedAt(ended, 1), Time::Nanos(2500));  // waits from 500 to 1000 for the link down
}

TEST(Switch, FabricsWithoutSwitchesReturnNone) {
  for (const char* name : {"analytical", "analytical-fifo"}) {
    auto fabric = NewFabric(name, MakeTopology({MakeDim(Kind::kRing, 4)}));
    EXPECT_EQ(fabric->SwitchBetween(0, 1), -1) << name;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
