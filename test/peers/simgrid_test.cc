// Fabric `fluid` and SimGrid's CM02 give the same completion times.
#include "test/peers/simgrid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "backends/fluid/network.h"
#include "backends/fluid/options.h"
#include "test/peers/sends.h"

namespace chakra::peers::CHAKRA_FILE {
namespace {

using Kind = TopologyDimension::Kind;
constexpr double kTolerance = 1e-9;        // relative
constexpr double kRounding = 100 * 1e-12;  // s: `fluid` rounds each change of a rate up to a picosecond

TopologyDimension Dim(Kind kind, int size, double gigabytes_per_s = 50, Time latency = Time::Zero()) {
  TopologyDimension d;
  d.kind = kind;
  d.size = size;
  d.bandwidth = Bandwidth::FromGigabytes(gigabytes_per_s);
  d.latency = latency;
  d.name = "d";
  return d;
}

Topology Make(std::vector<TopologyDimension> dims) {
  auto topology = Topology::Make(std::move(dims));
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *std::move(topology);
}

uint64_t Below(std::mt19937_64* random, uint64_t n) { return (*random)() % n; }
Time Until(std::mt19937_64* random, int64_t milliseconds) {
  return Time::Micros(static_cast<int64_t>(Below(random, static_cast<uint64_t>(milliseconds) * 1000)));
}

void Sort(std::vector<Send>* sends) {
  std::stable_sort(sends->begin(), sends->end(),
                   [](const Send& a, const Send& b) { return a.start < b.start; });
}

void ExpectEqual(const std::vector<double>& ours, const PeerResult& theirs) {
  ASSERT_EQ(theirs.error, "");
  ASSERT_EQ(ours.size(), theirs.ended.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    ASSERT_GT(theirs.ended[i], 0) << "flow " << i;
    ASSERT_NEAR(ours[i], theirs.ended[i], kTolerance * theirs.ended[i] + kRounding) << "flow " << i;
  }
}

void Compare(const Topology& topology, std::vector<Send> sends) {
  Sort(&sends);
  double seconds = 0;
  const std::vector<double> ours = RunFluid(topology, {}, sends, &seconds);
  ExpectEqual(ours, RunSimGrid(CaseOf(topology, {}, sends), /*exact=*/true));
}

TEST(SimGrid, OneFlow) {
  for (const uint64_t bytes : {uint64_t{1} << 24, uint64_t{3000000007}, uint64_t{1} << 44}) {
    Compare(Make({Dim(Kind::kSwitch, 4)}), {{0, 3, bytes, Time::Zero()}});
    Compare(Make({Dim(Kind::kRing, 8, 12.5), Dim(Kind::kSwitch, 3, 3.7)}), {{1, 20, bytes, Time::Micros(7)}});
  }
}

TEST(SimGrid, ManyFlowsOnOneLink) {
  std::mt19937_64 random(1);
  std::vector<Send> same_path, incast;
  for (int i = 0; i < 60; ++i) {
    same_path.push_back({0, 1, 100000000 + Below(&random, 1 << 30), Until(&random, 300)});
    incast.push_back({1 + i % 15, 0, 100000000 + Below(&random, 1 << 30), Until(&random, 300)});
  }
  Compare(Make({Dim(Kind::kFullyConnected, 2)}), same_path);
  Compare(Make({Dim(Kind::kSwitch, 16)}), incast);
}

// One flow over five links of a ring, and others over each of them.
TEST(SimGrid, ChainWithCrossTraffic) {
  std::mt19937_64 random(2);
  std::vector<Send> sends = {{0, 5, 20000000000, Time::Zero()}};
  for (int link = 0; link < 5; ++link) {
    for (int i = 0; i <= link; ++i) {
      sends.push_back({link, link + 1, 1000000000 + Below(&random, 1 << 30), Until(&random, 500)});
    }
  }
  Compare(Make({Dim(Kind::kRing, 12)}), sends);
}

std::vector<Send> AllToAll(int ranks, uint64_t spread, int64_t milliseconds, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Send> sends;
  for (int s = 0; s < ranks; ++s) {
    for (int d = 0; d < ranks; ++d) {
      if (s == d) continue;
      sends.push_back({s, d, 1000000000 + Below(&random, spread), Until(&random, milliseconds)});
    }
  }
  return sends;
}

TEST(SimGrid, AllToAll) {
  const Topology star = Make({Dim(Kind::kSwitch, 16)});
  Compare(star, AllToAll(16, 1, 1, 1));
  Compare(star, AllToAll(16, 1 << 30, 1, 2));
  Compare(star, AllToAll(16, 1, 300, 3));
  Compare(star, AllToAll(16, 1 << 30, 300, 4));
}

// Each message is sent again after it was received.
TEST(SimGrid, RingSteps) {
  std::vector<Send> sends;
  for (int r = 0; r < 16; ++r) {
    const auto more = static_cast<uint64_t>(r % 3);
    sends.push_back({r, (r + 1) % 16, 100000000 + more * 1000, Time::Zero(), 40});
    sends.push_back({r, (r + 2) % 16, 50000000, Time::Zero(), 20});
  }
  Compare(Make({Dim(Kind::kRing, 16)}), sends);
}

TopologyDimension RandomDim(std::mt19937_64* random, Time latency) {
  return Dim(static_cast<Kind>(Below(random, 3)), 2 + static_cast<int>(Below(random, 4)),
             1 + static_cast<double>(Below(random, 400)) / 8, latency);
}

std::vector<Send> RandomSends(const Topology& topology, int count, std::mt19937_64* random) {
  std::vector<Send> sends;
  const auto n = static_cast<uint64_t>(topology.devices());
  while (sends.size() < static_cast<size_t>(count)) {
    const int src = static_cast<int>(Below(random, n)), dst = static_cast<int>(Below(random, n));
    if (src != dst) sends.push_back({src, dst, 10000000 + Below(random, 1 << 30), Until(random, 400)});
  }
  return sends;
}

TEST(SimGrid, RandomTopologies) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<TopologyDimension> dims;
    for (uint64_t d = 0; d <= seed % 3; ++d) dims.push_back(RandomDim(&random, Time::Zero()));
    const Topology topology = Make(dims);
    SCOPED_TRACE(seed);
    Compare(topology, RandomSends(topology, 60, &random));
  }
}

Topology MakeNetwork(const std::string& text, int devices) {
  const auto spec = ParseNetworkSpec(text);
  EXPECT_TRUE(spec.ok()) << spec.status();
  auto network = BuildNetwork(*spec, devices);
  EXPECT_TRUE(network.ok()) << network.status();
  TopologyDimension d;
  d.kind = Kind::kNetwork;
  d.size = devices;
  d.network = std::make_shared<const Network>(*std::move(network));
  d.name = "d";
  return Make({d});
}

// Hashed routes through graphs, and different rates by class of link.
TEST(SimGrid, RoutesThroughNetworks) {
  std::mt19937_64 random(3);
  for (const char* text : {"fat_tree:k=4,latency=0ns,core_link=200Gb/s", "torus:shape=4x2x2,latency=0ns",
                           "switch:planes=2,link=400Gb/s,latency=0ns"}) {
    SCOPED_TRACE(text);
    const Topology topology = MakeNetwork(text, 16);
    Compare(topology, RandomSends(topology, 100, &random));
  }
}

// A flow of `fluid` takes its links from the start, and arrives a latency after its last byte. A flow of
// SimGrid waits for the latency, then takes its links. If all paths have the same latency, both end at the
// same time.
TEST(SimGrid, EqualLatencies) {
  const Topology star = Make({Dim(Kind::kSwitch, 16, 50, Time::Micros(5000))});
  Compare(star, AllToAll(16, 1 << 30, 300, 5));
}

// If latencies L differ, a flow of SimGrid equals a flow of `fluid` without latency that starts L later and
// has the weight 1 / L.
TEST(SimGrid, LatenciesAsWeights) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<TopologyDimension> dims;
    for (uint64_t d = 0; d <= seed % 3; ++d) {
      dims.push_back(RandomDim(&random, Time::Micros(1 + static_cast<int64_t>(Below(&random, 4000)))));
    }
    const Topology topology = Make(dims);
    std::vector<Send> sends = RandomSends(topology, 60, &random);
    Sort(&sends);
    const PeerResult theirs = RunSimGrid(CaseOf(topology, {}, sends), /*exact=*/true);

    for (TopologyDimension& d : dims) d.latency = Time::Zero();
    FabricOptions options;
    for (Send& s : sends) {
      const Time latency = Router(topology, {}).Find(s.src, s.dst, 0).latency;
      s.start += latency;
      s.service_class = static_cast<int>(options.Ask<FlowOptions>().classes.size());
      options.Ask<FlowOptions>().classes.push_back({1 / latency.seconds(), 0});
    }
    std::vector<size_t> order(sends.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return sends[a].start < sends[b].start; });
    std::vector<Send> sorted;
    for (const size_t i : order) sorted.push_back(sends[i]);
    double seconds = 0;
    const std::vector<double> received = RunFluid(Make(dims), options, sorted, &seconds);
    std::vector<double> ours(sends.size());
    for (size_t i = 0; i < order.size(); ++i) ours[order[i]] = received[i];
    SCOPED_TRACE(seed);
    ExpectEqual(ours, theirs);
  }
}

// The ends of the flows, from the rates of FluidNetwork only, in doubles.
std::vector<double> StepThrough(const PeerCase& what) {
  FluidNetwork network;
  for (const PeerLink& l : what.links) network.AddLink(l.bandwidth);
  const size_t n = what.flows.size();
  std::vector<double> left(n), ended(n, -1);
  std::vector<uint32_t> number(n, 0), changed;
  std::vector<bool> begun(n, false);
  for (size_t i = 0; i < n; ++i) left[i] = static_cast<double>(what.flows[i].bytes);
  const auto runs = [&](size_t i) { return begun[i] && ended[i] < 0; };
  double now = 0;
  for (;;) {
    network.Solve(&changed);
    double next = INFINITY;
    for (size_t i = 0; i < n; ++i) {
      if (!begun[i]) next = std::min(next, what.flows[i].start);
      if (runs(i)) next = std::min(next, now + left[i] / network.rate(number[i]));
    }
    if (next == INFINITY) return ended;
    for (size_t i = 0; i < n; ++i) {
      if (!runs(i)) continue;
      const double rate = network.rate(number[i]);
      left[i] -= rate * (next - now);
      if (left[i] > rate * 1e-13) continue;
      ended[i] = next;
      network.RemoveFlow(number[i]);
    }
    for (size_t i = 0; i < n; ++i) {
      if (begun[i] || what.flows[i].start > next) continue;
      begun[i] = true;
      std::vector<FluidHop> hops;
      for (const uint32_t link : what.routes[what.flows[i].route].links) hops.push_back({link});
      number[i] = network.AddFlow(hops, 1, 0);
    }
    now = next;
  }
}

// 60 flows, each over one to six of 20 links in any order.
PeerCase RandomPlatform(uint64_t seed) {
  std::mt19937_64 random(seed);
  PeerCase out;
  for (int l = 0; l < 20; ++l) out.links.push_back({1e9 * static_cast<double>(1 + Below(&random, 50))});
  std::vector<uint32_t> links(20);
  for (uint32_t l = 0; l < 20; ++l) links[l] = l;
  for (int f = 0; f < 60; ++f) {
    std::shuffle(links.begin(), links.end(), random);
    const auto count = static_cast<std::ptrdiff_t>(1 + Below(&random, 6));
    out.routes.push_back({2 * f, 2 * f + 1, {links.begin(), links.begin() + count}});
    out.flows.push_back(
        {static_cast<uint32_t>(f), 10000000 + Below(&random, 1 << 30), Until(&random, 600).seconds()});
  }
  std::stable_sort(out.flows.begin(), out.flows.end(),
                   [](const PeerFlow& a, const PeerFlow& b) { return a.start < b.start; });
  return out;
}

TEST(SimGrid, RandomPlatforms) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const PeerCase platform = RandomPlatform(seed);
    SCOPED_TRACE(seed);
    ExpectEqual(StepThrough(platform), RunSimGrid(platform, /*exact=*/true));
  }
}

}  // namespace
}  // namespace chakra::peers::CHAKRA_FILE
