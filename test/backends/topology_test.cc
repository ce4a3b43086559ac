#include "backends/topology/topology.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <vector>

namespace chakra::CHAKRA_FILE {
namespace {

using Kind = TopologyDimension::Kind;

TopologyDimension Dim(Kind kind, int size) {
  return {kind, size, Bandwidth::FromGigabytes(50), Time::Nanos(500), "d"};
}

Topology Make(std::vector<TopologyDimension> dims) {
  absl::StatusOr<Topology> t = Topology::Make(std::move(dims));
  EXPECT_TRUE(t.ok()) << t.status();
  return t.ok() ? *std::move(t) : Topology();
}

std::vector<uint32_t> Links(const Topology& t, int src, int dst) {
  std::vector<Hop> path;
  t.Path(src, dst, &path);
  std::vector<uint32_t> links;
  for (const Hop& h : path) links.push_back(h.link);
  return links;
}

TEST(Topology, RingTakesTheShorterSideAndUpAtTies) {
  const Topology t = Make({Dim(Kind::kRing, 4)});
  EXPECT_EQ(t.links(), 8u);
  EXPECT_EQ(Links(t, 0, 1), (std::vector<uint32_t>{0}));
  EXPECT_EQ(Links(t, 0, 2), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(Links(t, 3, 1), (std::vector<uint32_t>{6, 0}));
  EXPECT_EQ(Links(t, 0, 3), (std::vector<uint32_t>{1}));
  EXPECT_TRUE(Links(t, 2, 2).empty());
}

TEST(Topology, SwitchPathIsUpThenDown) {
  const Topology t = Make({Dim(Kind::kSwitch, 3)});
  EXPECT_EQ(Links(t, 0, 2), (std::vector<uint32_t>{0, 5}));
  EXPECT_EQ(Links(t, 1, 2), (std::vector<uint32_t>{2, 5}));
}

TEST(Topology, FullyConnectedHasALinkForEachOrderedPair) {
  const Topology t = Make({Dim(Kind::kFullyConnected, 5)});
  EXPECT_EQ(t.links(), 20u);
  std::set<uint32_t> seen;
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < 5; ++b) {
      if (a == b) continue;
      const std::vector<uint32_t> links = Links(t, a, b);
      ASSERT_EQ(links.size(), 1u);
      seen.insert(links[0]);
    }
  }
  EXPECT_EQ(seen.size(), 20u);
  EXPECT_EQ(*seen.rbegin(), 19u);
}

TEST(Topology, PathsTakeTheFirstDimensionFirst) {
  const Topology t = Make({Dim(Kind::kRing, 2), Dim(Kind::kSwitch, 4)});
  EXPECT_EQ(t.devices(), 8);
  EXPECT_EQ(t.Coordinate(5, 0), 1);
  EXPECT_EQ(t.Coordinate(5, 1), 2);
  // 0 -> 5: the ring link of device 0, then from device 1 through its switch.
  EXPECT_EQ(Links(t, 0, 5), (std::vector<uint32_t>{0, 16 + 1 * 2, 16 + 5 * 2 + 1}));
}

TEST(Topology, EveryPathArrivesAndUsesValidLinks) {
  const Topology t = Make({Dim(Kind::kRing, 5), Dim(Kind::kFullyConnected, 3), Dim(Kind::kSwitch, 2)});
  for (int a = 0; a < t.devices(); ++a) {
    for (int b = 0; b < t.devices(); ++b) {
      size_t expected = 0;
      for (int d = 0; d < 3; ++d) {
        expected += static_cast<size_t>(t.LinksWithin(d, t.Coordinate(a, d), t.Coordinate(b, d)));
      }
      const std::vector<uint32_t> links = Links(t, a, b);
      EXPECT_EQ(links.size(), expected);
      EXPECT_EQ(std::set<uint32_t>(links.begin(), links.end()).size(), links.size());
      for (uint32_t l : links) EXPECT_LT(l, t.links());
    }
  }
}

TEST(Topology, OneDeviceHasNoLinks) { EXPECT_EQ(Make({Dim(Kind::kRing, 1)}).links(), 0u); }

TEST(Topology, RefusesInvalidDimensions) {
  const auto error = [](std::vector<TopologyDimension> dims) {
    return std::string(Topology::Make(std::move(dims)).status().message());
  };
  EXPECT_NE(error({}).find("0 dimensions"), std::string::npos);
  EXPECT_NE(error(std::vector<TopologyDimension>(33, Dim(Kind::kRing, 1))).find("33 dimensions"),
            std::string::npos);
  EXPECT_NE(error({Dim(Kind::kRing, 0)}).find("size 0"), std::string::npos);
  TopologyDimension d = Dim(Kind::kRing, 2);
  d.bandwidth = Bandwidth();
  EXPECT_NE(error({d}).find("bandwidth 0"), std::string::npos);
  d = Dim(Kind::kRing, 2);
  d.latency = Time::Picos(-1);
  EXPECT_NE(error({d}).find("latency -1"), std::string::npos);
  d.latency = Time::Never();
  EXPECT_NE(error({d}).find("expected 0 to 1 s"), std::string::npos);
  constexpr int kMax = std::numeric_limits<int>::max();
  EXPECT_NE(error({Dim(Kind::kRing, kMax), Dim(Kind::kRing, kMax)}).find("devices"), std::string::npos);
  EXPECT_NE(error({Dim(Kind::kFullyConnected, 1 << 20)}).find("links"), std::string::npos);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
