// Compares exchanges that are solved by kinds of flows with the same exchanges flow by flow, to the
// picosecond.
#include <gtest/gtest.h>

#include <random>

#include "backends/fluid/fluid.h"
#include "fabric_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using Kind = TopologyDimension::Kind;

Time ExchangeByFlows(const Topology& topology, const FabricOptions& options, const std::vector<int>& devices,
                     const std::vector<ExchangeMessage>& messages) {
  FluidFabric fabric(topology, options);
  for (const int src : devices) {
    for (const int dst : devices) {
      if (src == dst) continue;
      const ExchangeMessage& m = messages[static_cast<size_t>(topology.Level(src, dst))];
      Flow flow = Message(src, dst, m.wire_bytes);
      flow.delay = m.delay;
      fabric.Start(flow, Time::Zero());
    }
  }
  std::vector<FlowEnd> ended;
  for (Time t = fabric.NextEvent(); t != Time::Never(); t = fabric.NextEvent()) fabric.AdvanceTo(t, &ended);
  return ended.empty() ? Time::Never() : ended.back().at;
}

std::vector<int> ExchangeDevices(const Topology& topology) {
  std::vector<int> devices;
  for (int d = 0; d < topology.devices(); ++d) devices.push_back(d);
  return devices;
}

std::vector<ExchangeMessage> ExchangeMessages(std::mt19937_64* random, const Topology& topology) {
  std::vector<ExchangeMessage> messages;
  for (size_t l = 0; l <= topology.dimensions().size(); ++l) {
    const uint64_t bytes = (*random)() % 8 == 0 ? 0 : (*random)() % 3000000;
    messages.push_back({bytes, Time::Nanos(static_cast<int64_t>((*random)() % 3000))});
  }
  return messages;
}

// The two sum in different orders, so an end on the border of a picosecond may differ by one.
void ExpectSameEnd(Time a, Time b) {
  EXPECT_NEAR(static_cast<double>(a.picos()), static_cast<double>(b.picos()), 1);
}

TEST(FluidExchange, MatchesSingleFlows) {
  std::mt19937_64 random(3);
  int exact = 0, answered = 0;
  for (int round = 0; round < 120; ++round) {
    std::vector<TopologyDimension> dims;
    for (uint64_t d = 0; d <= random() % 3; ++d) {
      dims.push_back(MakeDim(static_cast<Kind>(random() % 3), 2 + static_cast<int>(random() % 4),
                             static_cast<double>(1 + random() % 400) / 4,
                             static_cast<int64_t>(random() % 900)));
    }
    FabricOptions options;
    if (round % 3 == 0) options.Ask<FlowOptions>().startup = Time::Nanos(700);
    if (round % 4 == 0) options.Ask<FlowOptions>().efficiency = 0.9;
    const Topology topology = MakeTopology(dims);
    const std::vector<int> devices = ExchangeDevices(topology);
    const std::vector<ExchangeMessage> messages = ExchangeMessages(&random, topology);
    SCOPED_TRACE(round);
    const std::optional<ExchangeTime> time = FluidFabric(topology, options).TimeOfExchange(devices, messages);
    if (!time) continue;  // at a tie, a ring of even size goes upwards: not symmetric
    ++answered;
    const Time expected = ExchangeByFlows(topology, options, devices, messages);
    exact += time->last == expected;
    ExpectSameEnd(time->last, expected);
  }
  EXPECT_GT(answered, 60);
  EXPECT_GE(exact, answered - 2);
}

// If the flows are not symmetric, the fabric refuses the exchange; it never gives a wrong time.
TEST(FluidExchange, SubsetsAreRefusedOrExact) {
  std::mt19937_64 random(5);
  int refused = 0, answered = 0;
  for (int round = 0; round < 200; ++round) {
    const Topology topology =
        MakeTopology({MakeDim(static_cast<Kind>(random() % 3), 2 + static_cast<int>(random() % 3)),
                      MakeDim(Kind::kSwitch, 2 + static_cast<int>(random() % 4), 20)});
    std::vector<int> devices = ExchangeDevices(topology);
    std::shuffle(devices.begin(), devices.end(), random);
    devices.resize(2 + random() % (devices.size() - 1));
    const std::vector<ExchangeMessage> messages = ExchangeMessages(&random, topology);
    SCOPED_TRACE(round);
    const std::optional<ExchangeTime> time = FluidFabric(topology, {}).TimeOfExchange(devices, messages);
    ++(time ? answered : refused);
    if (time) ExpectSameEnd(time->last, ExchangeByFlows(topology, {}, devices, messages));
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(answered, 20);
}

TEST(FluidExchange, RefusedWhileOtherFlowsRun) {
  const Topology topology = MakeTopology({MakeDim(Kind::kSwitch, 4)});
  const std::vector<ExchangeMessage> messages(2, {1000, Time::Zero()});
  FluidFabric fabric(topology, {});
  EXPECT_TRUE(fabric.TimeOfExchange({0, 1, 2}, messages).has_value());
  fabric.Start(Message(3, 0, 1000000), Time::Zero());
  fabric.NextEvent();
  EXPECT_FALSE(fabric.TimeOfExchange({0, 1, 2}, messages).has_value());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
