// An isolated all-to-all on fabric `fluid`: its price by kinds of flows, and flow by flow.
#include <gtest/gtest.h>

#include "backends/registry.h"
#include "replay/engine/price.h"

namespace chakra::CHAKRA_FILE {
namespace {

Time PricedOnFluid(const Topology& topology, const std::string& algorithm, Time overhead, bool in_place) {
  auto machine = MakeMachine("fluid", topology, FabricOptions());
  EXPECT_TRUE(machine.ok()) << machine.status();
  CollectiveCosts costs;
  costs.algorithm["all_to_all"] = algorithm;
  costs.step_overhead = overhead;
  std::vector<int> members;
  for (int r = 0; r < topology.devices(); ++r) members.push_back(r);
  const uint64_t bytes = uint64_t{3000} * members.size();
  Time now = Time::Nanos(3);
  const auto priced =
      PriceCall(**machine, costs, CollectiveType::kAllToAll, bytes, 0, members, &now, nullptr, in_place);
  EXPECT_TRUE(priced.ok()) << priced.status();
  if (!priced.ok()) return Time::Never();
  EXPECT_EQ(now, Time::Nanos(3) + priced->time);
  return priced->time;
}

TEST(ExchangePrice, EqualsSimulationOfFlows) {
  using Kind = TopologyDimension::Kind;
  const auto dim = [](Kind kind, int size, double gigabytes) {
    return TopologyDimension{kind, size, Bandwidth::FromGigabytes(gigabytes), Time::Nanos(400), "d"};
  };
  const std::vector<std::vector<TopologyDimension>> shapes = {
      {dim(Kind::kSwitch, 7, 50)},
      {dim(Kind::kSwitch, 4, 450), dim(Kind::kSwitch, 3, 50)},
      {dim(Kind::kFullyConnected, 3, 100), dim(Kind::kSwitch, 4, 25)}};
  for (const auto& shape : shapes) {
    const absl::StatusOr<Topology> topology = Topology::Make(shape);
    ASSERT_TRUE(topology.ok()) << topology.status();
    for (const char* algorithm : {"direct", "pairwise"}) {
      for (const Time overhead : {Time::Zero(), Time::Nanos(50)}) {
        const Time quick = PricedOnFluid(*topology, algorithm, overhead, true);
        const Time slow = PricedOnFluid(*topology, algorithm, overhead, false);
        EXPECT_NEAR(static_cast<double>(quick.picos()), static_cast<double>(slow.picos()), 1) << algorithm;
      }
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
