// The ends of `fluid` against cases solved by hand, against `analytical` where no link is shared, and against
// a slow simulation that solves everything again at every event.
#include "backends/fluid/fluid.h"

#include <cmath>
#include <random>

#include "backends/analytical/options.h"
#include "backends/fluid/options.h"
#include "fabric_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using Kind = TopologyDimension::Kind;

std::unique_ptr<Machine> Fluid(const Topology& topology, FabricOptions options = {}) {
  auto fabric = MakeMachine("fluid", topology, options);
  EXPECT_TRUE(fabric.ok()) << fabric.status();
  return *std::move(fabric);
}

Flow Watched(int src, int dst, uint64_t bytes, uint64_t tag = 0) {
  return Message(src, dst, bytes, tag, true);
}

Time At(const std::vector<FlowEnd>& ended, uint64_t tag, FlowEnd::Kind kind = FlowEnd::kReceived) {
  for (const FlowEnd& e : ended) {
    if (e.tag == tag && e.kind == kind) return e.at;
  }
  ADD_FAILURE() << "no end of " << tag;
  return Time::Never();
}

// A switch of links at 50 GB/s (20 ps a byte) and 500 ns.
Topology Star(int devices) { return MakeTopology({MakeDim(Kind::kSwitch, devices)}); }

TEST(Fluid, LongerFlowSpeedsUpAfterTheShorter) {
  auto fabric = Fluid(Star(3));
  const auto ended = Drive(
      fabric.get(), {{Watched(0, 2, 50000, 1), Time::Zero()}, {Watched(1, 2, 100000, 2), Time::Zero()}});
  // At half the rate both move 50,000 B in 2 us. The rest of the second then takes 1 us at the full rate.
  EXPECT_EQ(At(ended, 1, FlowEnd::kSent), Time::Micros(2));
  EXPECT_EQ(At(ended, 1), Time::Micros(3));
  EXPECT_EQ(At(ended, 2, FlowEnd::kSent), Time::Micros(3));
  EXPECT_EQ(At(ended, 2), Time::Micros(4));
}

TEST(Fluid, LaterFlowSlowsTheFirst) {
  auto fabric = Fluid(Star(3));
  const auto ended = Drive(
      fabric.get(), {{Watched(0, 2, 100000, 1), Time::Zero()}, {Watched(1, 2, 50000, 2), Time::Micros(1)}});
  // In 1 us by itself the first moves half of its bytes. Its rest and the second then share the link for 2
  // us.
  EXPECT_EQ(At(ended, 1, FlowEnd::kSent), Time::Micros(3));
  EXPECT_EQ(At(ended, 2, FlowEnd::kSent), Time::Micros(3));
}

TEST(Fluid, FreedBandwidthGoesToOtherFlows) {
  // 0 -> 3, 1 -> 3 and 1 -> 2: the uplink of 1 and the downlink of 3 carry two flows each.
  auto fabric = Fluid(Star(4));
  const auto ended = Drive(fabric.get(), {{Watched(0, 3, 100000, 1), Time::Zero()},
                                          {Watched(1, 3, 25000, 2), Time::Zero()},
                                          {Watched(1, 2, 100000, 3), Time::Zero()}});
  // All have half the rate until flow 2 ends at 1 us (25,000 B at 25 GB/s). Flows 1 and 3 then share no link.
  EXPECT_EQ(At(ended, 2, FlowEnd::kSent), Time::Micros(1));
  EXPECT_EQ(At(ended, 1, FlowEnd::kSent), Time::Micros(1) + Time::Nanos(1500));
  EXPECT_EQ(At(ended, 3, FlowEnd::kSent), Time::Micros(1) + Time::Nanos(1500));
}

TEST(Fluid, AppliesClassesStartupAndEfficiency) {
  FabricOptions options;
  options.Ask<FlowOptions>().classes = {{1, 0}, {3, 0}, {1, 1}};
  auto fabric = Fluid(Star(4), options);
  Flow light = Watched(0, 3, 25000, 1), heavy = Watched(1, 3, 75000, 2);
  heavy.service_class = 1;
  auto ended = Drive(fabric.get(), {{light, Time::Zero()}, {heavy, Time::Zero()}});
  EXPECT_EQ(At(ended, 1, FlowEnd::kSent), Time::Micros(2));
  EXPECT_EQ(At(ended, 2, FlowEnd::kSent), Time::Micros(2));
  // The urgent flow has the full rate; the other one waits.
  fabric = Fluid(Star(4), options);
  Flow urgent = Watched(1, 3, 50000, 2);
  urgent.service_class = 2;
  ended = Drive(fabric.get(), {{Watched(0, 3, 50000, 1), Time::Zero()}, {urgent, Time::Zero()}});
  EXPECT_EQ(At(ended, 2, FlowEnd::kSent), Time::Micros(1));
  EXPECT_EQ(At(ended, 1, FlowEnd::kSent), Time::Micros(2));
  FabricOptions slow;
  slow.Ask<FlowOptions>().startup = Time::Nanos(300);
  slow.Ask<FlowOptions>().efficiency = 0.5;
  fabric = Fluid(Star(4), slow);
  ended = Drive(fabric.get(), {{Watched(0, 3, 50000, 1), Time::Nanos(5)}});
  EXPECT_EQ(At(ended, 1, FlowEnd::kSent), Time::Nanos(5 + 300 + 2000));
  EXPECT_EQ(At(ended, 1), Time::Nanos(5 + 300 + 2000 + 1000));
  const FlowCost cost = fabric->Cost(0, 3, 50000);
  EXPECT_EQ(cost.received(), Time::Nanos(300 + 2000 + 1000));
  EXPECT_EQ(cost.sent, Time::Nanos(300 + 2000));
}

TEST(Fluid, MessagesToSelfAndWithoutBytes) {
  auto fabric = Fluid(Star(2));
  Flow delayed = Watched(1, 1, 1000, 2);
  delayed.delay = Time::Nanos(7);
  const auto ended = Drive(fabric.get(), {{Watched(0, 1, 0, 1), Time::Zero()}, {delayed, Time::Zero()}});
  EXPECT_EQ(At(ended, 1, FlowEnd::kSent), Time::Zero());
  EXPECT_EQ(At(ended, 1), Time::Micros(1));
  EXPECT_EQ(At(ended, 2), Time::Nanos(7));
}

// The lower flow shared no link before the higher one came.
TEST(Fluid, HigherPriorityStopsARunningFlow) {
  FabricOptions options;
  options.Ask<FlowOptions>().classes = {{1, 0}, {1, 1}};
  const auto fabric = MakeMachine("fluid", Star(3), options);
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  Flow low = Watched(1, 0, 10000000, 0), high = Watched(2, 0, 1000000, 1);
  high.service_class = 1;
  const auto alone =
      Drive(NewFabric("fluid", Star(3)).get(), {{high, Time::Zero()}, {low, Time::Micros(100)}});
  const auto ended = Drive(fabric->get(), {{low, Time::Zero()}, {high, Time::Micros(10)}});
  EXPECT_EQ(At(ended, 1), Time::Micros(10) + At(alone, 1));
  EXPECT_EQ(At(ended, 0), At(alone, 0) - Time::Micros(100) + At(alone, 1) - Time::Micros(1));
}

TEST(Fluid, RefusesInvalidOptions) {
  const auto error = [](const char* name, const FabricOptions& options) {
    const auto fabric = MakeMachine(name, Star(2), options);
    EXPECT_FALSE(fabric.ok());
    return std::string(fabric.status().message());
  };
  FabricOptions o;
  o.Ask<PathOptions>().store_and_forward = true;
  EXPECT_NE(error("fluid", o).find("store and forward"), std::string::npos);
  o = {};
  o.Ask<FlowOptions>().efficiency = 1.5;
  EXPECT_NE(error("fluid", o).find("efficiency 1.5; expected > 0 and <= 1"), std::string::npos);
  o.Ask<FlowOptions>().efficiency = 0.9;
  EXPECT_NE(error("analytical", o).find("are for fluid"), std::string::npos);
  o = {};
  o.Ask<FlowOptions>().classes = {{0, 0}};
  EXPECT_NE(error("fluid", o).find("weight 0"), std::string::npos);
}

TopologyDimension RandomDim(std::mt19937_64* random, int max_size) {
  const auto kind = static_cast<Kind>((*random)() % 3);
  return {kind, 1 + static_cast<int>((*random)() % static_cast<uint64_t>(max_size)),
          Bandwidth::BytesPerSecond(1000000 + static_cast<int64_t>((*random)() % 100000000000)),
          Time::Picos((*random)() % 3 == 0 ? 0 : static_cast<int64_t>((*random)() % 1000000)), "d"};
}

TEST(Fluid, IsolatedFlowMatchesAnalytical) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 3000; ++i) {
    std::vector<TopologyDimension> dims;
    for (uint64_t d = 0; d <= random() % 4; ++d) dims.push_back(RandomDim(&random, 6));
    const Topology topology = MakeTopology(dims);
    const auto devices = static_cast<uint64_t>(topology.devices());
    const Flow flow = Watched(static_cast<int>(random() % devices), static_cast<int>(random() % devices),
                              random() % 10 == 0 ? 0 : random() % (uint64_t{1} << 40), 1);
    auto plain = *MakeMachine("analytical", topology, FabricOptions());
    auto fluid = Fluid(topology);
    const auto a = Drive(plain.get(), {{flow, Time::Nanos(7)}});
    const auto b = Drive(fluid.get(), {{flow, Time::Nanos(7)}});
    ASSERT_EQ(a.size(), 2u);
    ASSERT_EQ(b.size(), 2u);
    for (size_t k = 0; k < 2; ++k) {
      ASSERT_EQ(a[k].at, b[k].at) << i;
      ASSERT_EQ(a[k].kind, b[k].kind) << i;
    }
  }
}

// When each flow is sent, in seconds: looks at every flow at every event.
std::vector<double> SlowSent(const Topology& topology, const std::vector<TimedFlow>& flows) {
  struct State {
    std::vector<uint32_t> links;
    double left;
    bool begun = false, done = false;
  };
  std::vector<State> states;
  std::map<uint32_t, double> capacity;
  for (const TimedFlow& f : flows) {
    std::vector<Hop> path;
    topology.Path(f.flow.src, f.flow.dst, &path);
    State s{{}, static_cast<double>(f.flow.bytes)};
    for (const Hop& h : path) {
      s.links.push_back(h.link);
      capacity[h.link] = static_cast<double>(topology.dimensions()[h.dimension].bandwidth.bytes_per_second());
    }
    states.push_back(s);
  }
  std::vector<double> sent(flows.size(), 0);
  double now = 0;
  for (;;) {
    std::map<uint32_t, double> left = capacity;
    std::vector<double> rate(flows.size(), 0);
    std::vector<bool> grows(flows.size());
    for (size_t i = 0; i < flows.size(); ++i) grows[i] = states[i].begun && !states[i].done;
    for (;;) {
      std::map<uint32_t, int> count;
      for (size_t i = 0; i < flows.size(); ++i) {
        for (const uint32_t l : states[i].links) count[l] += grows[i];
      }
      double least = -1;
      uint32_t at = 0;
      for (const auto& [l, n] : count) {
        if (n > 0 && (least < 0 || left[l] / n < least)) {
          least = left[l] / n;
          at = l;
        }
      }
      if (least < 0) break;
      for (size_t i = 0; i < flows.size(); ++i) {
        const auto& links = states[i].links;
        if (!grows[i] || std::find(links.begin(), links.end(), at) == links.end()) continue;
        grows[i] = false;
        rate[i] = least;
        for (const uint32_t l : links) left[l] -= least;
      }
    }
    double next = -1;
    for (size_t i = 0; i < flows.size(); ++i) {
      double t = -1;
      if (!states[i].begun) t = flows[i].at.seconds();
      if (states[i].begun && !states[i].done) t = now + states[i].left / rate[i];
      if (t >= 0 && (next < 0 || t < next)) next = t;
    }
    if (next < 0) return sent;
    for (size_t i = 0; i < flows.size(); ++i) states[i].left -= rate[i] * (next - now);
    now = next;
    for (size_t i = 0; i < flows.size(); ++i) {
      State& s = states[i];
      if (!s.begun && flows[i].at.seconds() <= now) {
        s.begun = true;
        s.done = s.links.empty() || s.left <= 0;
        if (s.done) sent[i] = now;
      } else if (s.begun && !s.done && s.left <= rate[i] * 1e-13) {
        s.done = true;
        sent[i] = now;
      }
    }
  }
}

TEST(Fluid, MatchesSlowSimulation) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 200; ++round) {
    std::vector<TopologyDimension> dims;
    for (uint64_t d = 0; d <= random() % 2; ++d) dims.push_back(RandomDim(&random, 5));
    if (round % 2 == 0) {
      for (TopologyDimension& d : dims) d.bandwidth = Bandwidth::FromGigabytes(1 << (random() % 3));
    }
    const Topology topology = MakeTopology(dims);
    const auto devices = static_cast<uint64_t>(topology.devices());
    std::vector<TimedFlow> flows;
    Time at;
    for (uint64_t i = 0, n = 1 + random() % 25; i < n; ++i) {
      at += Time::Nanos(static_cast<int64_t>(random() % 3) * 50000);
      flows.push_back({Watched(static_cast<int>(random() % devices), static_cast<int>(random() % devices),
                               random() % 8 * 1000000, i),
                       at});
    }
    const std::vector<double> expected = SlowSent(topology, flows);
    auto fabric = Fluid(topology);
    const auto ended = Drive(fabric.get(), flows);
    ASSERT_EQ(ended.size(), 2 * flows.size());
    for (size_t i = 0; i < flows.size(); ++i) {
      const double got = At(ended, i, FlowEnd::kSent).seconds();
      // Each rate change rounds up to a picosecond.
      ASSERT_NEAR(got, expected[i], 1e-9 * expected[i] + 60e-12) << round << " " << i;
    }
    for (size_t i = 1; i < ended.size(); ++i) ASSERT_LE(ended[i - 1].at, ended[i].at);
  }
}

// All flows of one instant need one solution, whatever their number.
TEST(Fluid, SolvesFlowsOfOneInstantTogether) {
  auto fabric = Fluid(Star(32));
  std::vector<TimedFlow> flows;
  for (int s = 0; s < 32; ++s) {
    for (int d = 0; d < 32; ++d) {
      if (s != d) flows.push_back({Watched(s, d, 50000, flows.size()), Time::Zero()});
    }
  }
  const auto ended = Drive(fabric.get(), flows);
  for (const FlowEnd& e : ended) {
    EXPECT_EQ(e.at, e.kind == FlowEnd::kSent ? Time::Micros(31) : Time::Micros(32));
  }
  EXPECT_EQ(static_cast<const FluidFabric&>(fabric->fabric()).network().work(), 32u * 31);
}

// The caller may ask for the next event between the starts, as a replay does when its ranks arrive one after
// another at one instant.
TEST(Fluid, NextEventAtTheStartSolvesNothing) {
  constexpr int kDevices = 32;
  auto fabric = Fluid(Star(kDevices));
  uint64_t tag = 0;
  for (int s = 0; s < kDevices; ++s) {
    for (int d = 0; d < kDevices; ++d) {
      if (s != d) fabric->Start(Watched(s, d, 50000, tag++), Time::Zero());
    }
    ASSERT_GT(fabric->NextEvent(Time::Zero()), Time::Zero());
  }
  const auto& network = static_cast<const FluidFabric&>(fabric->fabric()).network();
  EXPECT_EQ(network.work(), 0u);
  // A message without bytes ends when it starts, and is reported at once.
  fabric->Start(Watched(0, 0, 0, tag), Time::Zero());
  EXPECT_EQ(fabric->NextEvent(Time::Zero()), Time::Zero());
  std::vector<FlowEnd> ended;
  fabric->AdvanceTo(Time::Zero(), &ended);
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].tag, tag);
  EXPECT_EQ(fabric->NextEvent(Time::Never()), Time::Micros(31));
  EXPECT_EQ(network.work(), uint64_t{kDevices} * (kDevices - 1));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
