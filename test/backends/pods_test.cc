// dgx_pod, nvl72, tpu_pod and trn2, against the published systems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/backends/network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

// The sum of the rates of a device's links to NVSwitches.
int64_t ScaleUpRate(const NetworkGraph& g, uint32_t device) {
  int64_t sum = 0;
  for (uint32_t arc = g.begin(device); arc < g.end(device); ++arc) {
    if (g.kind(g.target(arc)) == VertexKind::kNvSwitch) sum += g.link_class(arc).bandwidth.bytes_per_second();
  }
  return sum;
}

TEST(DgxPod, GenerationsSetSwitchesAndRates) {
  struct Case {
    const char* generation;
    uint32_t chips;
    int64_t gb;  // per direction and device
    int64_t nic;
  };
  for (const Case& c :
       {Case{"a100", 6, 300, 25}, Case{"h100", 4, 450, 50}, Case{"h200", 4, 450, 50}, Case{"h20", 4, 450, 50},
        Case{"h800", 4, 200, 50}, Case{"b200", 2, 900, 50}, Case{"b300", 2, 900, 100}}) {
    SCOPED_TRACE(c.generation);
    const Network net = MakeNetwork(absl::StrCat("dgx_pod:generation=", c.generation), 20);
    const NetworkGraph& g = net.graph;
    EXPECT_EQ(CountOf(g, VertexKind::kNvSwitch), 3 * c.chips);
    EXPECT_EQ(CountOf(g, VertexKind::kNic), 20u);
    EXPECT_EQ(ScaleUpRate(g, 19), c.gb * 1000000000);
    const uint32_t nic = g.target(g.end(0) - 1);
    ASSERT_EQ(g.kind(nic), VertexKind::kNic);
    EXPECT_EQ(g.link_class(g.begin(nic)).bandwidth.bytes_per_second(), c.nic * 1000000000);
  }
  const NetworkGraph h100 = MakeNetwork("dgx_pod:nodes=1").graph;
  EXPECT_EQ(LinksOf(h100, "nvlink x5"), 16u);
  EXPECT_EQ(LinksOf(h100, "nvlink x4"), 16u);
  EXPECT_EQ(CountOf(h100, VertexKind::kNic), 0u);  // a single node needs no network
  const NetworkGraph one = MakeNetwork("dgx_pod:nodes=1,chips=one").graph;
  EXPECT_EQ(CountOf(one, VertexKind::kNvSwitch), 1u);
  EXPECT_EQ(ScaleUpRate(one, 3), 450000000000);
}

TEST(DgxPod, UsesNvSwitchesInsideAndNicsOutside) {
  for (const char* spec :
       {"dgx_pod:nodes=3", "dgx_pod:nodes=3,devices_per_nic=2", "dgx_pod:nodes=3,of=(switch)",
        "dgx_pod:nodes=3,of=(multi_plane:planes=2,of=(leaf_spine))"}) {
    SCOPED_TRACE(spec);
    const Network net = MakeNetwork(spec);
    const NetworkGraph& g = net.graph;
    ShortestPaths paths(g);
    std::mt19937_64 random(5);
    for (uint32_t a = 0; a < g.devices(); ++a) {
      for (uint32_t b = 0; b < g.devices(); ++b) {
        if (a == b) continue;
        const std::vector<uint32_t> way = RandomRoute(net, &paths, a, b, &random);
        ASSERT_FALSE(HasFailure());
        const bool inside = a / 8 == b / 8;
        EXPECT_EQ(g.kind(way[1]), inside ? VertexKind::kNvSwitch : VertexKind::kNic);
        EXPECT_EQ(way.size() == 3, inside);
      }
    }
  }
}

TEST(DgxPod, GuideOffersShortestPaths) {
  const Network net = MakeNetwork("dgx_pod:devices_per_nic=4,of=(fat_tree:k=4)", 45);
  ShortestPaths paths(net.graph);
  std::vector<uint32_t> guided, searched;
  for (uint32_t to = 0; to < net.graph.devices(); ++to) {
    for (uint32_t at = 0; at < net.graph.vertices(); ++at) {
      if (net.graph.kind(at) == VertexKind::kNvSwitch) continue;
      guided.clear();
      searched.clear();
      net.guide->Next(at, to, &guided);
      if (at < net.graph.devices() && at / 8 == to / 8) {  // never over a NIC that both share
        ASSERT_EQ(guided.size(), at == to ? 0u : 4u);
        for (const uint32_t arc : guided)
          ASSERT_EQ(net.graph.kind(net.graph.target(arc)), VertexKind::kNvSwitch);
        continue;
      }
      paths.Next(at, to, &searched);
      std::sort(guided.begin(), guided.end());
      ASSERT_EQ(guided, searched) << net.graph.VertexName(at) << " to " << net.graph.VertexName(to);
    }
  }
}

TEST(DgxPod, SuperPodUnitHasRails) {
  const Network net = MakeNetwork("dgx_pod:nodes=32");
  const NetworkGraph& g = net.graph;
  EXPECT_EQ(g.devices(), 256u);
  EXPECT_EQ(CountOf(g, VertexKind::kSwitch), 8u + 32u);
  const auto leaf = [&](uint32_t d) { return g.target(g.begin(g.target(g.end(d) - 1))); };
  EXPECT_EQ(g.VertexName(leaf(0)), "leaf.0");
  EXPECT_EQ(leaf(0), leaf(8));
  EXPECT_NE(leaf(0), leaf(1));
  EXPECT_EQ(DeviceDistances(g).diameter, 6);
}

TEST(Nvl72, RackIsAStarOfEighteenNvSwitches) {
  const Network net = MakeNetwork("nvl72:racks=1");
  const NetworkGraph& g = net.graph;
  EXPECT_EQ(g.devices(), 72u);
  EXPECT_EQ(CountOf(g, VertexKind::kNvSwitch), 18u);
  EXPECT_EQ(g.links(), 72u * 18);
  EXPECT_EQ(ScaleUpRate(g, 71), 900000000000);
  const Distances d = DeviceDistances(g);
  EXPECT_EQ(d.diameter, 2);
  EXPECT_DOUBLE_EQ(d.average, 2);
  // The cut between halves of the rack: G * links / 2.
  EXPECT_EQ(LinksAcross(g, [&](uint32_t v) { return v < 36 || (v >= 72 && v < 81); }), 72u * 18 / 2);
}

TEST(Nvl72, BuildsSeveralRacks) {
  const Network net = MakeNetwork("nvl72:generation=gb300", 4608);  // Azure, 2025: 64 racks
  EXPECT_EQ(CountOf(net.graph, VertexKind::kNvSwitch), 64u * 18);
  EXPECT_EQ(CountOf(net.graph, VertexKind::kNic), 4608u);
  EXPECT_THAT(net.note, HasSubstr("64 x gb300"));
  CheckRandomRoutes(net, 300, 6);
  const Network two = MakeNetwork("nvl72:racks=2,of=(leaf_spine:k=64)");
  EXPECT_EQ(two.graph.devices(), 144u);
  CheckRandomRoutes(two, 300, 6);
}

TEST(TpuPod, WrapsOnlyWholeCubes) {
  // A ring of k > 2 has k links; a line has k - 1.
  EXPECT_EQ(MakeNetwork("tpu_pod:shape=4x4x8").graph.links(), 384u);
  EXPECT_EQ(DeviceDistances(MakeNetwork("tpu_pod:shape=4x4x8").graph).diameter, 8);
  const Network slice = MakeNetwork("tpu_pod:shape=2x2x4");
  EXPECT_EQ(slice.graph.links(), 8u + 8 + 16);
  EXPECT_EQ(DeviceDistances(slice.graph).diameter, 1 + 1 + 2);
  EXPECT_EQ(MakeNetwork("tpu_pod:generation=v6e,shape=8x8").graph.links(), 2u * 8 * 7);  // a mesh
  EXPECT_EQ(MakeNetwork("tpu_pod:generation=v6e,shape=8x16").graph.links(), 16u * 7 + 8 * 16);
  // Bisection of the whole v6e pod: 32 links of 100 GB/s.
  const Network pod = MakeNetwork("tpu_pod:generation=v6e");
  EXPECT_EQ(pod.graph.devices(), 256u);
  EXPECT_EQ(LinksAcross(pod.graph, [](uint32_t v) { return v < 128; }), 32u);
  EXPECT_EQ(pod.graph.classes()[0].bandwidth.bytes_per_second(), 100000000000);
  CheckRandomRoutes(pod, 200, 16);
}

TEST(TpuPod, BuildsPodsAndTwists) {
  const Network v4 = MakeNetwork("tpu_pod");
  EXPECT_EQ(v4.graph.devices(), 4096u);
  // 24 TB/s over 512 links.
  EXPECT_EQ(LinksAcross(v4.graph, [](uint32_t v) { return v < 2048; }), 512u);
  EXPECT_EQ(v4.graph.classes()[0].bandwidth.bytes_per_second(), 46900000000);
  EXPECT_EQ(MakeNetwork("tpu_pod:generation=v5p").graph.devices(), 8960u);
  EXPECT_EQ(MakeNetwork("tpu_pod:generation=v7x").graph.devices(), 9216u);
  EXPECT_EQ(MakeNetwork("tpu_pod:generation=v5p", 64).graph.links(), 192u);  // 4x4x4
  EXPECT_EQ(MakeNetwork("tpu_pod", 192).note, "TPU v4, 4x4x12, wraps all");
  EXPECT_EQ(MakeNetwork("tpu_pod", 8).note, "TPU v4, 2x2x2, wraps 0x0x0");
  const Network twisted = MakeNetwork("tpu_pod:shape=4x4x8,twist=yes");
  const Distances d = DeviceDistances(twisted.graph);
  EXPECT_EQ(d.diameter, 6);
  EXPECT_NEAR(d.average, 3.465, 5e-4);
}

TEST(Trn2, BuildsInstanceAndUltraServer) {
  const Network instance = MakeNetwork("trn2");
  EXPECT_EQ(instance.graph.devices(), 16u);
  EXPECT_EQ(instance.graph.links(), 32u);
  const Network ultra = MakeNetwork("trn2", 64);
  EXPECT_EQ(ultra.graph.links(), 192u);
  int64_t sum = 0;  // 4 x 128 + 2 x 64 GB/s
  for (uint32_t arc = ultra.graph.begin(9); arc < ultra.graph.end(9); ++arc) {
    sum += ultra.graph.link_class(arc).bandwidth.bytes_per_second();
  }
  EXPECT_EQ(sum, 640000000000);
  EXPECT_EQ(DeviceDistances(ultra.graph).diameter, 6);
  CheckRandomRoutes(ultra, 200, 6);
}

TEST(PodErrors, NameTheFieldAndTheNearestValue) {
  struct Case {
    const char* spec;
    int devices;
    const char* part;
  };
  for (const Case& c : {
           Case{"dgx_pod", 0, "nodes is \"\"; expected how many"},
           {"dgx_pod:generation=h10", 8, "did you mean 'h100'?"},
           {"dgx_pod:nodes=2", 17, "17 devices, but room for 16 only; expected nodes=3"},
           {"dgx_pod:nodes=2,devices_per_nic=3", 0, "devices_per_nic is \"3\"; expected a divisor of 8"},
           {"dgx_pod:nodes=2,of=(leaf_spine:k=2)", 0,
            "dgx_pod: of: leaf_spine: 16 devices, but room for 2 only"},
           {"dgx_pod:nodes=2,of=(leaf_spine:pcie=60GB/s)", 0, "\"nic\" is a nic"},
           {"dgx_pod:nodes=2,of=(dgx_pod)", 0, "\"nvswitch\" is a nvswitch"},
           {"dgx_pod:nodes=2,devices_per_nic=2,of=(switch)", 0, "devices_per_nic is \"2\"; expected 1"},
           {"dgx_pod:nodes=2,chips=two", 0, "chips is \"two\"; expected all, one"},
           {"dgx_pod:nodes=0", 0, "the nearest is 1"},
           {"dgx_pod:nodes=1,pcie=60", 0, "pcie is \"60\"; expected a unit"},
           {"nvl72:racks=1,devices_per_nic=5", 0, "devices_per_nic is \"5\""},
           {"nvl72:racks=100000", 0, "racks is \"100000\""},
           {"tpu_pod:generation=v3", 0, "generation is \"v3\"; expected v4"},
           {"tpu_pod:shape=4x4", 0, "shape is \"4x4\"; expected 3 sizes"},
           {"tpu_pod:shape=16x16x32", 0, "shape is \"16x16x32\"; expected at most 4096 chips"},
           {"tpu_pod:generation=v6e,shape=32x4", 0, "sizes up to 16, as 16x16"},
           {"tpu_pod:shape=4x4x6", 0, "sizes all up to 4 or all multiples of 4, as 16x16x16"},
           {"tpu_pod", 173, "no v4 slice has 173 chips; the next is 192"},
           {"tpu_pod", 5000, "5000 devices, but a v4 pod has 4096"},
           {"tpu_pod:shape=4x4x4", 63, "shape 4x4x4 is 64 devices, but 63"},
           {"tpu_pod:shape=2x2x4,twist=yes", 0, "twist is \"yes\"; expected no"},
           {"tpu_pod:shape=4x4x16,twist=yes", 0, "expected sizes k and 2k"},
           {"tpu_pod:shape=4x4x4,link=100", 0, "\"100\"; expected a unit"},
           {"trn2", 20, "20 devices; expected 16 (instances=1) or 64 (instances=4)"},
           {"trn2:instances=2", 0, "instances is \"2\"; expected 1, or 4"},
           {"trn2:z_link=1Gb/s", 0, "z_link is \"1Gb/s\"; expected instances=4 with it"},
       }) {
    EXPECT_THAT(NetworkError(c.spec, c.devices), HasSubstr(c.part)) << c.spec;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
