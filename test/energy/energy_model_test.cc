// Constants of energy, caps, and the bill of a machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "replay/cluster/devices.h"
#include "replay/cluster/load.h"
#include "replay/energy/bill.h"
#include "replay/energy/model.h"
#include "replay/energy/site.h"
#include "replay/run/cluster_model.h"

namespace chakra::energy::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

std::string Said(const absl::Status& s) { return std::string(s.message()); }

Constants Of(const std::string& device) {
  const auto constants = ConstantsOf(BuiltInModel(), device);
  EXPECT_TRUE(constants.ok()) << constants.status();
  return constants.value_or(Constants());
}

// All devices with published power.
std::vector<std::string> DevicesWithPower() {
  std::vector<std::string> names = DeviceNames();
  for (const char* name : {"Ascend910B", "TPU-v5p", "TPU-v6e", "TPU-v7", "Trainium1", "Trainium2"}) {
    EXPECT_EQ(std::erase(names, name), 1u) << name;
    EXPECT_THAT(Said(ConstantsOf(BuiltInModel(), name).status()), HasSubstr(name));
  }
  return names;
}

TEST(EnergyModel, DeviceProfilesStayWithinTheirRating) {
  for (const std::string& name : DevicesWithPower()) {
    const DeviceLevels levels = LevelsOf(Of(name));
    EXPECT_GT(levels.resident, 0) << name;
    EXPECT_LE(levels.resident + std::max(levels.busy, levels.wait), levels.most) << name;
  }
  // Every figure names its source.
  for (const std::string& name : DevicesWithPower()) {
    const Constants constants = Of(name);
    for (const NamedFigure& f : FiguresOf(constants))
      EXPECT_FALSE(f.figure->source().empty()) << name << f.name;
  }
}

TEST(EnergyModel, FilesReplaceFiguresAndErrorsNameFields) {
  const std::string path = testing::TempDir() + "/energy_model.txtpb";
  const auto load = [&](const std::string& text) {
    std::ofstream(path) << text;
    return LoadEnergyModel(path);
  };
  const auto model =
      load("profile { device: \"H100-SXM5-80GB\" power { idle_watts { value: 60 } } } pue { value: 1.1 }");
  ASSERT_TRUE(model.ok()) << model.status();
  const auto constants = ConstantsOf(*model, "H100-SXM5-80GB");
  ASSERT_TRUE(constants.ok()) << constants.status();
  EXPECT_EQ(constants->profile.power().idle_watts().value(), 60);
  EXPECT_EQ(constants->profile.power().most_watts().value(), 700);
  EXPECT_EQ(constants->pue.value(), 1.1);
  EXPECT_THAT(Said(load("pue { value: 0.5 }").status()), HasSubstr("pue.value is 0.5"));
  EXPECT_THAT(Said(load("site_fixed_share { value: 2 }").status()), HasSubstr("site_fixed_share.value is 2"));
  EXPECT_THAT(Said(load("network { switch_pj_per_bit { value: -1 } }").status()),
              HasSubstr("switch_pj_per_bit"));
  EXPECT_THAT(
      Said(load("profile { device: \"x\" power { most_watts { value: 5 low: 7 high: 9 } } }").status()),
      HasSubstr("profile[0].power.most_watts.value is 5; expected it between its low, 7, and its high, 9"));
  EXPECT_THAT(Said(load("profile { }").status()), HasSubstr("profile[0].device is empty"));
  EXPECT_THAT(Said(ConstantsOf(BuiltInModel(), "H1000").status()), HasSubstr("most_watts"));
}

TEST(EnergyModel, RefusesCapsBelowTheLeastDraw) {
  Constants h100 = Of("H100-SXM5-80GB");
  EXPECT_TRUE(SetCap("500W", &h100).ok());
  EXPECT_EQ(LevelsOf(h100).most, 500000);
  EXPECT_TRUE(SetCap("0.4kW", &h100).ok());
  EXPECT_THAT(Said(SetCap("100W", &h100)), HasSubstr("expected at least 220W"));
  EXPECT_THAT(Said(SetCap("500", &h100)), HasSubstr("500W, device=500W or rack=40kW"));
  EXPECT_THAT(Said(SetCap("rack=1kW", &h100)), HasSubstr("expected at least"));
  // A rack of 4 nodes: 32 devices at 500 W and 4 hosts of 1,650 W, with fans and supplies.
  ASSERT_TRUE(SetCap("rack=26071.36W", &h100).ok());
  EXPECT_NEAR(h100.cap_watts, 500, 0.1);
  EXPECT_TRUE(SetCap("2kW", &h100).ok());  // above the rating: the rating holds
  EXPECT_EQ(LevelsOf(h100).most, 700000);
}

TEST(EnergyModel, SlowdownsGrowAsPowerFalls) {
  const proto::FrequencyCurve curve = Of("H100-SXM5-80GB").profile.frequency();
  EXPECT_EQ(SlowdownAt(curve, 1), 1);
  double before = 1;
  for (double share = 0.95; share > LeastShare(curve); share -= 0.05) {
    const double longer = SlowdownAt(curve, share);
    EXPECT_GT(longer, before) << share;
    EXPECT_LT(longer * share, before * (share + 0.05)) << "energy falls: " << share;
    before = longer;
  }
}

Bill BillOfCluster(const std::string& spec, int ranks, const std::string& device) {
  auto described = LoadCluster(spec, nullptr);
  EXPECT_TRUE(described.ok()) << described.status();
  const auto cluster = BuildCluster(*described, ranks);
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  return BillOf(cluster->topology, Of(device).profile.node());
}

TEST(EnergyBill, SingleSwitchHasAPortForEachDevice) {
  const Bill bill = BillOfCluster("dgx-h100", 64, "H100-SXM5-80GB");
  EXPECT_EQ(bill.nodes, 8);
  EXPECT_EQ(bill.racks, 2);
  ASSERT_EQ(bill.links.size(), 1u);  // NVLink is in the nodes
  EXPECT_DOUBLE_EQ(bill.links[0].gbits_per_s, 400);
  EXPECT_EQ(bill.switch_ports(), 64);
  EXPECT_EQ(bill.switch_transceivers(false), 64);
  EXPECT_EQ(bill.transceivers(false), 128);
  EXPECT_EQ(bill.transceivers(true), 0);
  EXPECT_TRUE(BillOfCluster("dgx-h100", 8, "H100-SXM5-80GB").links.empty());
}

TEST(EnergyBill, NvlinkDomainsOfManyNodesAreNoNetwork) {
  const Bill bill = BillOfCluster("gb200-nvl72", 72, "GB200-186GB");
  EXPECT_EQ(bill.nodes, 18);
  EXPECT_EQ(bill.racks, 1);
  EXPECT_TRUE(bill.links.empty());
}

// A fat tree of k = 4: 16 devices, 16 links to 8 edge switches, 16 to 8 aggregation switches, 16 to 4 cores.
TEST(EnergyBill, FatTreesCountEachLink) {
  auto described = LoadCluster("dgx-h100", nullptr);
  ASSERT_TRUE(described.ok()) << described.status();
  described->clear_collectives();
  described->mutable_topology()->clear_dimension();
  proto::Dimension& d = *described->mutable_topology()->add_dimension();
  d.set_kind(proto::Dimension::NETWORK);
  d.set_size(16);
  d.mutable_network()->set_build("fat_tree:k=4,link=400Gb/s");
  const auto cluster = BuildCluster(*described, 16);
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  const Bill bill = BillOf(cluster->topology, Of("H100-SXM5-80GB").profile.node());
  ASSERT_EQ(bill.links.size(), 1u);
  EXPECT_EQ(bill.links[0].links, 48);
  EXPECT_EQ(bill.links[0].first_hop, 16);
  EXPECT_EQ(bill.switch_ports(), 80);
  EXPECT_EQ(bill.switch_transceivers(true), 64);
  EXPECT_EQ(bill.transceivers(false), 96);
}

TEST(EnergyBill, PlacesCountNodesWithRanks) {
  proto::NodePower node;
  node.set_devices(8);
  node.set_nodes_per_rack(2);
  const Places places = PlacesOf({0, 9, 8, 40}, 4, node);
  EXPECT_EQ(places.nodes, 3u);
  EXPECT_EQ(places.racks, 2u);
  EXPECT_EQ(places.node, (std::vector<uint32_t>{0, 1, 1, 2}));
  EXPECT_EQ(places.rack, (std::vector<uint32_t>{0, 0, 0, 1}));
}

TEST(EnergySite, PartsFollowTheConstants) {
  Constants h100 = Of("H100-SXM5-80GB");
  const Bill bill = BillOfCluster("dgx-h100", 16, "H100-SXM5-80GB");
  const Site site(h100, bill, 2, 0);
  const Time second = Time::Micros(1000000);
  const Femtojoules devices = EnergyOf(10000000, second.picos());  // 10 kJ
  const SiteEnergy e = site.Energy(devices, second);
  EXPECT_NEAR(ToJoules(e.hosts), 3300, 1e-6);
  EXPECT_NEAR(ToJoules(e.fans), 0.12 * 13300, 1e-6);
  EXPECT_NEAR(ToJoules(e.supplies), 0.03 * 1.12 * 13300, 1e-6);
  EXPECT_NEAR(ToJoules(e.network), 16 * 400 * (0.0293 + 0.0213), 1e-3);
  EXPECT_NEAR(ToJoules(e.cooling), 0.2 * (1.12 * 1.03 * 13300 + 16 * 400 * 0.0506), 1e-3);
  // AllPower() gives the same sum.
  EXPECT_NEAR(site.AllPower(second).Of(10000000), 10000 + ToJoules(e.sum()), 0.01);
}

// At full load the site takes the share that its PUE gives. At half load, with half of the share fixed, it
// takes three quarters of that.
TEST(EnergySite, FixedShareStaysAtAnyLoad) {
  Constants h100 = Of("H100-SXM5-80GB");
  h100.profile.mutable_node()->mutable_host_watts()->set_value(0);
  h100.site_fixed_share.set_value(0.5);
  const Bill bill = BillOfCluster("dgx-h100", 8, "H100-SXM5-80GB");
  const Site site(h100, bill, 1, 0);
  const Time second = Time::Micros(1000000);
  const double full = 5600 * 1.12 * 1.03;
  EXPECT_NEAR(site.FullWatts(Bound::kValue), full, 1e-6);
  for (const double load : {0.0, 0.5, 1.0}) {
    const Femtojoules devices = EnergyOf(ToMilliwatts(5600 * load), second.picos());
    const SiteEnergy e = site.Energy(devices, second);
    EXPECT_NEAR(ToJoules(e.cooling), 0.2 * full * (0.5 + 0.5 * load), 0.01) << load;
    EXPECT_NEAR(site.AllPower(second).Of(ToMilliwatts(5600 * load)), ToJoules(devices + e.sum()), 0.01);
  }
}

}  // namespace
}  // namespace chakra::energy::CHAKRA_FILE
