// Rings and trees of a library over several nodes use all NICs if flows share links.
#include "replay/engine/symmetry/node_lanes.h"

#include <gtest/gtest.h>

#include "backends/registry.h"
#include "replay/cluster/load.h"
#include "replay/cluster/options.h"
#include "replay/run/collective_table.h"

namespace chakra::CHAKRA_FILE {
namespace {

std::unique_ptr<Machine> TwoLevels(const Topology& topology) { return *MakeMachine("fluid", topology, {}); }

TEST(NodeLanes, FindsMembersAndRailsOfNodes) {
  const TopologyDimension node{TopologyDimension::Kind::kSwitch, 4, Bandwidth::FromGigabytes(300),
                               Time::Nanos(25), "node"};
  const TopologyDimension nic{TopologyDimension::Kind::kSwitch, 4, Bandwidth::FromGigabytes(50),
                              Time::Nanos(500), "nic"};
  const auto fabric = TwoLevels(*Topology::Make({node, nic}));
  // Three members on node 0, in no order, two on node 2, all four on node 3.
  const NodeLanes lanes(*fabric, {2, 8, 0, 3, 11, 12, 13, 14, 15}, 1);
  EXPECT_EQ(lanes.Cards(0, 1), 2);
  EXPECT_EQ(lanes.Cards(0, 5), 3);
  EXPECT_EQ(lanes.Ends(2, 5, 0), std::make_pair(0, 13));  // second of its node
  EXPECT_EQ(lanes.Ends(2, 5, 2), std::make_pair(2, 15));
  EXPECT_EQ(lanes.Ends(1, 5, 1), std::make_pair(11, 13));
}

double Micros(const std::string& algorithm, const std::string& fabric, const TopologyOptions& topology) {
  proto::Cluster cluster = *LoadCluster("dgx-h100");
  std::vector<std::string> notes;
  EXPECT_TRUE(ApplyTopologyOptions(topology, &cluster, &notes).ok());
  TableOptions options;
  options.ranks = 16;
  options.algorithm = algorithm;
  options.fabric = fabric;
  auto table = CollectiveTable::Make(cluster, options);
  EXPECT_TRUE(table.ok()) << table.status();
  auto row = table->Price(uint64_t{256} << 20);
  EXPECT_TRUE(row.ok()) << row.status();
  return row->time_us;
}

TEST(NodeLanes, FullBandwidthEqualsNoContention) {
  for (const char* fabric : {"fluid", "analytical-fifo"}) {
    const double uncontended = Micros("ring", "analytical", {});
    EXPECT_NEAR(Micros("ring", fabric, {}), uncontended, 0.02 * uncontended) << fabric;
    EXPECT_NEAR(Micros("ring", fabric, {"switch", "", {}}), uncontended, 0.02 * uncontended) << fabric;
  }
}

TEST(NodeLanes, SlowestNicLimitsTheRing) {
  const double whole = Micros("ring", "fluid", {"switch", "", {}});
  // The bytes of an all-reduce that each of eight NICs carries. A NIC has 50 GB/s; the ring's limit leaves a
  // part idle.
  const double carried = 2 * 15.0 / 16 * (uint64_t{256} << 20) / 8;
  EXPECT_GT(whole, carried / 50e3);
  // The ring is as slow as the slowest NIC.
  for (const char* device : {"0", "5", "7", "8"}) {
    const std::string fault = std::string("slow:bandwidth=0.5,device=") + device;
    const double half = Micros("ring", "fluid", {"switch", "", {fault}});
    EXPECT_GT(half, carried / 25e3) << device;
    EXPECT_LT(half, 1.03 * carried / 25e3) << device;
  }
  // Two leaves for each node; one uplink of 50 GB/s for four NICs.
  const char* leaves = "leaf_spine:leaves=4,hosts_per_leaf=4,oversubscription=";
  const double full = Micros("ring", "fluid", {std::string(leaves) + "1:1", "spray", {}});
  const double quarter = Micros("ring", "fluid", {std::string(leaves) + "4:1", "spray", {}});
  EXPECT_NEAR(full, whole, 0.02 * whole);
  EXPECT_GT(quarter, 4 * carried / 50e3);
  EXPECT_LT(quarter, 1.03 * 4 * carried / 50e3);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
