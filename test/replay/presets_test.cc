#include "replay/cluster/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replay/cluster/load.h"
#include "replay/run/cluster_model.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Level = proto::LibraryLevel;
using Library = proto::CollectiveLibrary;

proto::Cluster Load(const std::string& spec) {
  absl::StatusOr<proto::Cluster> c = LoadCluster(spec);
  EXPECT_TRUE(c.ok()) << c.status();
  return c.ok() ? *c : proto::Cluster();
}

// "8x2" for two blocks of 8, or the error.
std::string ShapeOfNetwork(const proto::Cluster& c, int ranks) {
  absl::StatusOr<ClusterModel> m = BuildCluster(c, ranks);
  if (!m.ok()) return std::string(m.status().message());
  std::string shape;
  for (const TopologyDimension& d : m->topology.dimensions()) {
    shape += (shape.empty() ? "" : "x") + std::to_string(d.size);
  }
  return shape;
}

// Facts about a machine, from other sources than the preset.
struct Fact {
  const char* name;
  Library::Generation generation;
  int block;          // GPUs that reach each other without a NIC
  double gbytes;      // of a GPU in its block, GB/s a direction
  double nic_gbytes;  // of a GPU beyond it
  double memory_gbytes;
  bool in_switch;  // NVLS
};

constexpr Fact kFacts[] = {
    {"dgx-v100", Library::VOLTA, 8, 150, 6.25, 900, false},
    {"dgx2", Library::VOLTA, 16, 150, 6.25, 900, false},
    {"dgx-a100", Library::AMPERE, 8, 300, 25, 2039, false},
    {"dgx-h100", Library::HOPPER, 8, 450, 50, 3350, true},
    {"dgx-h200", Library::HOPPER, 8, 450, 50, 4800, true},
    {"dgx-h800", Library::HOPPER, 8, 200, 50, 3350, false},
    {"dgx-b200", Library::BLACKWELL, 8, 900, 50, 8000, true},
    {"dgx-b300", Library::BLACKWELL, 8, 900, 100, 8000, true},
    {"gb200-nvl72", Library::BLACKWELL, 72, 900, 50, 8000, true},
    {"gb300-nvl72", Library::BLACKWELL, 72, 900, 100, 8000, true},
    {"mi300x", Library::HOPPER, 8, 7 * 64, 50, 5300, false},
};

// Clouds and clusters: files of machines/ on top of the presets above.
struct MachineFact {
  const char* name;
  int block;
  double nic_gbytes;
  const char* device;
  const char* transport;
};

constexpr MachineFact kMachines[] = {
    {"alps", 4, 25, "GH200-96GB", "slingshot-11"},
    {"aws-p3dn", 8, 1.5625, "V100-SXM-32GB", "efa-v1"},
    {"aws-p4d", 8, 6.25, "A100-SXM4-40GB", "efa-v2"},
    {"aws-p5", 8, 50, "H100-SXM5-80GB", "efa-v2"},
    {"aws-p5en", 8, 50, "H200-SXM-141GB", "efa-v3"},
    {"aws-p6-b200", 8, 50, "B200-SXM-180GB", "efa-v4"},
    {"azure-ndv4", 8, 25, "A100-SXM4-80GB", "infiniband-hdr"},
    {"azure-ndv5", 8, 50, "H100-SXM5-80GB", "infiniband-ndr"},
    {"coreweave-gb200", 72, 50, "GB200-186GB", "infiniband-ndr"},
    {"gcp-a3high", 8, 12.5, "H100-SXM5-80GB", "tcpx"},
    {"gcp-a3mega", 8, 25, "H100-SXM5-80GB", "tcpxo"},
    {"gcp-a3ultra", 8, 50, "H200-SXM-141GB", "roce-gib"},
    {"gcp-a4", 8, 50, "B200-SXM-180GB", "roce-gib"},
    {"gcp-a4x", 72, 50, "GB200-186GB", "roce-gib"},
    {"grand-teton-h100", 8, 50, "H100-SXM5-96GB", "infiniband-ndr"},
    {"leonardo", 4, 12.5, "A100-SXM-64GB", "infiniband-hdr"},
    {"marenostrum5", 4, 25, "H100-SXM-64GB", "infiniband-ndr"},
    {"mi325x", 8, 50, "MI325X-256GB", "infiniband-ndr"},
    {"mi350x", 8, 50, "MI350X-288GB", "roce-pollara"},
    {"mi355x", 8, 50, "MI355X-288GB", "roce-pollara"},
    {"oci-gpu4", 8, 25, "A100-SXM4-80GB", "roce-100"},
    {"oci-h100", 8, 50, "H100-SXM5-80GB", "roce-400"},
    {"perlmutter", 4, 25, "A100-SXM4-40GB", "slingshot-11"},
    {"polaris", 4, 12.5, "A100-SXM4-40GB", "slingshot-11"},
};

TEST(Presets, MachinesMatchTheirFacts) {
  for (const MachineFact& m : kMachines) {
    SCOPED_TRACE(m.name);
    const proto::Cluster c = Load(m.name);
    EXPECT_EQ(c.name(), m.name);
    EXPECT_FALSE(c.source().empty());
    EXPECT_TRUE(c.base().empty());
    EXPECT_EQ(c.change_size(), 0);
    EXPECT_EQ(c.topology().dimension(0).size(), m.block);
    const int last = c.topology().dimension_size() - 1;
    EXPECT_EQ(c.topology().dimension(last).bandwidth_gbytes_per_s(), m.nic_gbytes);
    EXPECT_EQ(c.device().name(), m.device);
    EXPECT_EQ(c.collectives().library().level(last).transport().name(), m.transport);
  }
  EXPECT_EQ(Load("aws-p5:nodes=4").topology().dimension(1).size(), 4);
}

TEST(Presets, NamesMatchTheTable) {
  std::vector<std::string> names;
  for (const Fact& f : kFacts) names.emplace_back(f.name);
  names.insert(names.end(),
               {"l40s", "rtx-pro-6000", "gaudi2", "gaudi3", "tpu-v5p", "tpu-v6e", "tpu-v7", "trn1", "trn2"});
  for (const MachineFact& m : kMachines) names.emplace_back(m.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(PresetNames(), names);
  EXPECT_EQ(PresetText("dgx-h10"), "");
  EXPECT_EQ(PresetText(""), "");
}

// The text of a preset gives the same machine as its name.
TEST(Presets, TextEqualsLoadedMachine) {
  for (const std::string& name : PresetNames()) {
    SCOPED_TRACE(name);
    proto::Cluster text;
    ASSERT_TRUE(ParseMessage(PresetText(name), name, &text).ok());
    if (!text.base().empty()) continue;
    EXPECT_EQ(text.collectives().library().terms(), "");
    EXPECT_GT(text.device().peak_tflops_size(), 0);
    EXPECT_EQ(text.DebugString(), Load(name).DebugString());
  }
}

TEST(Presets, PresetsMatchTheirFacts) {
  for (const Fact& f : kFacts) {
    SCOPED_TRACE(f.name);
    const proto::Cluster c = Load(f.name);
    EXPECT_EQ(c.name(), f.name);
    EXPECT_FALSE(c.source().empty());
    ASSERT_EQ(c.topology().dimension_size(), 2);
    const proto::Dimension& block = c.topology().dimension(0);
    const proto::Dimension& nic = c.topology().dimension(1);
    const int peers = block.kind() == proto::Dimension::FULLY_CONNECTED ? f.block - 1 : 1;
    EXPECT_EQ(block.size(), f.block);
    EXPECT_EQ(block.bandwidth_gbytes_per_s() * peers, f.gbytes);
    EXPECT_EQ(nic.size(), 0);
    EXPECT_EQ(nic.name(), "nic");  // nic_gbps= and the like
    EXPECT_EQ(nic.bandwidth_gbytes_per_s(), f.nic_gbytes);
    EXPECT_EQ(c.device().memory_gbytes_per_s(), f.memory_gbytes);
    EXPECT_FALSE(c.device().name().empty());
    EXPECT_GT(c.device().peak_tflops().at(c.device().default_dtype()), 0);
    EXPECT_EQ(c.collectives().library().generation(), f.generation);
    EXPECT_EQ(c.collectives().library().level(0).in_switch_efficiency() > 0, f.in_switch);
  }
}

TEST(Presets, SizesFollowTheRanks) {
  for (const Fact& f : kFacts) {
    SCOPED_TRACE(f.name);
    const proto::Cluster c = Load(f.name);
    for (int ranks : {1, 2, 3, 5, 8, 16, f.block, 3 * f.block}) {
      SCOPED_TRACE(ranks);
      const std::string nodes = std::to_string(ranks / f.block);
      EXPECT_EQ(ShapeOfNetwork(c, ranks),
                ranks <= f.block ? std::to_string(ranks) : std::to_string(f.block) + "x" + nodes);
    }
    const int odd = 2 * f.block + 1;
    EXPECT_THAT(ShapeOfNetwork(c, odd), AllOf(HasSubstr(std::to_string(odd) + " ranks"),
                                     HasSubstr("multiple of " + std::to_string(f.block)),
                                     HasSubstr("nodes=N"), HasSubstr("gpus_per_node=N")));
  }
}

// A job of 256 gets 64 of each rack of 72, as schedulers place it.
TEST(Presets, JobsUseEqualPartsOfRacks) {
  for (const char* name : {"gb200-nvl72", "gb300-nvl72"}) {
    EXPECT_EQ(ShapeOfNetwork(Load(name), 64), "64");
    EXPECT_EQ(ShapeOfNetwork(Load(name), 128), "64x2");
    EXPECT_EQ(ShapeOfNetwork(Load(name), 256), "64x4");
    EXPECT_EQ(ShapeOfNetwork(Load(name), 288), "72x4");
    EXPECT_THAT(ShapeOfNetwork(Load(name), 146), HasSubstr("146 ranks do not fill whole blocks"));
  }
  EXPECT_THAT(ShapeOfNetwork(Load("dgx-h100"), 12), HasSubstr("12 ranks do not fill whole blocks"));
}

TEST(Presets, OverridesWorkOnEachPreset) {
  for (const Fact& f : kFacts) {
    const std::string name = f.name;
    EXPECT_EQ(ShapeOfNetwork(Load(name + ":gpus_per_node=2"), 6), "2x3") << name;
    EXPECT_EQ(Load(name + ":nic_gbps=80").topology().dimension(1).bandwidth_gbytes_per_s(), 10) << name;
    EXPECT_EQ(Load(name + ":nvlink_gbytes_per_s=7").topology().dimension(0).bandwidth_gbytes_per_s(), 7)
        << name;
  }
}

// Two pairs of GPUs on each of two sockets.
TEST(Presets, PcieNodesHaveNestedDimensions) {
  for (const std::string name : {"l40s", "rtx-pro-6000"}) {
    SCOPED_TRACE(name);
    const proto::Cluster c = Load(name);
    EXPECT_EQ(ShapeOfNetwork(c, 2), "2x1x1");
    EXPECT_EQ(ShapeOfNetwork(c, 3), "2x2x1");  // a device stays idle
    EXPECT_EQ(ShapeOfNetwork(c, 4), "2x2x1");
    EXPECT_EQ(ShapeOfNetwork(c, 8), "2x2x2");
    EXPECT_EQ(ShapeOfNetwork(c, 24), "2x2x2x3");
    EXPECT_EQ(ShapeOfNetwork(Load(name + ":gpus_per_node=4"), 8), "2x2x1x2");
    EXPECT_EQ(Load(name + ":nic_gbps=80").topology().dimension(3).bandwidth_gbytes_per_s(), 10);
    EXPECT_THAT(std::string(LoadCluster(name + ":gpus_per_node=6").status().message()),
                HasSubstr("gpus_per_node is 6; expected a number of devices"));
    ASSERT_EQ(c.collectives().library().level_size(), 4);
    for (int level = 0; level < 3; ++level) {
      EXPECT_EQ(c.collectives().library().level(level).link(), Level::PCI);
    }
  }
}

TEST(Presets, LibraryHasALevelForEachDimension) {
  for (const Fact& f : kFacts) {
    SCOPED_TRACE(f.name);
    const proto::Cluster c = Load(f.name);
    const Library& library = c.collectives().library();
    EXPECT_GE(library.channels(), 1);
    EXPECT_GT(library.enqueue_us(), 0);
    EXPECT_GE(library.launch_us(), library.enqueue_us());  // its median; enqueue_us is the minimum
    EXPECT_GE(library.copy_gbytes_per_s(), 0);
    EXPECT_LT(library.copy_gbytes_per_s() * library.channels(), c.device().memory_gbytes_per_s());
    EXPECT_GT(library.term_size(), 0);
    ASSERT_EQ(library.level_size(), c.topology().dimension_size());
    EXPECT_EQ(library.level(0).link(), Level::NVLINK);
    EXPECT_EQ(library.level(1).link(), Level::NET);
    EXPECT_EQ(library.level(1).in_switch_efficiency(), 0);  // SHARP is the user's choice
    for (const Level& level : library.level()) {
      EXPECT_GT(level.efficiency(), 0);
      EXPECT_LE(level.efficiency(), 1);
      EXPECT_LT(level.in_switch_efficiency(), level.efficiency());
      EXPECT_EQ(level.in_switch_channels() > 0, level.in_switch_efficiency() > 0);
      EXPECT_EQ(level.wire_gbytes_per_s() > 0, level.wiring_size() > 0);
    }
  }
}

// NCCL's planned rate of a link, over the link's rate.
TEST(Presets, EfficiencyMatchesNcclSources) {
  const auto nvlink = [](const char* name) { return Load(name).collectives().library().level(0); };
  EXPECT_NEAR(nvlink("dgx-v100").efficiency(), 128.0 / 144, 1e-4);
  EXPECT_NEAR(nvlink("dgx2").efficiency(), 128.0 / 144, 1e-4);
  EXPECT_NEAR(nvlink("dgx-a100").efficiency(), 20.0 / 25, 1e-4);
  EXPECT_NEAR(nvlink("mi300x").efficiency(), 48.0 / 64, 1e-4);
  for (const char* name : {"dgx-h800", "dgx-h100", "dgx-h200"}) {
    EXPECT_NEAR(nvlink(name).efficiency(), 20.6 / 25, 1e-4) << name;
  }
  for (const char* name : {"dgx-h100", "dgx-h200"}) {
    EXPECT_NEAR(nvlink(name).in_switch_efficiency(), 0.85 * 20.6 / 25, 1e-4) << name;
  }
  for (const char* name : {"dgx-b200", "dgx-b300", "gb200-nvl72", "gb300-nvl72"}) {
    EXPECT_NEAR(nvlink(name).efficiency(), 40.1 / 50, 1e-4) << name;
    EXPECT_NEAR(nvlink(name).in_switch_efficiency(), 0.74 * 40.1 / 50, 1e-4) << name;
  }
}

// The number of links of each device. Checks that no pair occurs twice.
std::vector<int> LinksOfDevices(const proto::Cluster& c) {
  const Level& level = c.collectives().library().level(0);
  std::vector<int> links(static_cast<size_t>(c.topology().dimension(0).size()));
  std::set<std::pair<int, int>> seen;
  for (const proto::Wire& w : level.wiring()) {
    EXPECT_LT(w.a(), w.b());
    EXPECT_GT(w.links(), 0);
    EXPECT_TRUE(seen.emplace(w.a(), w.b()).second) << w.a() << "-" << w.b();
    links.at(static_cast<size_t>(w.a())) += w.links();
    links.at(static_cast<size_t>(w.b())) += w.links();
  }
  return links;
}

TEST(Presets, WiringUsesEachLinkOfADevice) {
  for (const Fact& f : kFacts) {
    SCOPED_TRACE(f.name);
    const proto::Cluster c = Load(f.name);
    const Level& level = c.collectives().library().level(0);
    if (level.wiring_size() == 0) continue;
    for (int links : LinksOfDevices(c)) EXPECT_EQ(links * level.wire_gbytes_per_s(), f.gbytes);
  }
  EXPECT_EQ(LinksOfDevices(Load("dgx-v100")), std::vector<int>(8, 6));
}

// nvidia-smi topo -m: the first half row of each GPU, "-" where there is no NVLink.
TEST(Presets, DgxV100WiringMatchesItsMatrix) {
  const std::string kMatrix[8] = {"01122---", "1021-2--", "1202--1-", "2120---1",
                                  "2---0112", "-2--1021", "--1-1202", "---12120"};
  const proto::Cluster c = Load("dgx-v100");
  int pairs = 0;
  for (const proto::Wire& w : c.collectives().library().level(0).wiring()) {
    const auto a = static_cast<size_t>(w.a()), b = static_cast<size_t>(w.b());
    EXPECT_EQ(std::string(1, kMatrix[a][b]), std::to_string(w.links())) << w.a() << "-" << w.b();
    EXPECT_EQ(kMatrix[a][b], kMatrix[b][a]);
    ++pairs;
  }
  EXPECT_EQ(pairs, 16);  // 28 pairs, 12 of them without a link
}

TEST(Presets, UnknownPresetListsAll) {
  const std::string error(LoadCluster("dgx-v10").status().message());
  for (const Fact& f : kFacts) EXPECT_THAT(error, HasSubstr(f.name));
  EXPECT_THAT(error, HasSubstr("did you mean \"dgx-v100\"?"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
