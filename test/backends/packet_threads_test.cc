// Fabric `packet` in parts: threads and parts do not change results.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "absl/strings/str_cat.h"
#include "backends/packet/parts/worker_crew.h"
#include "test/backends/packet_outcome.h"

namespace chakra::CHAKRA_FILE {
namespace {

using packet::WorkerCrew;

// As the engine does, a received message starts another from its destination at that instant. Each first
// message starts a chain of `again` others.
template <typename Events = BucketEvents>
PacketOutcome<Events> Played(const Topology& topology, FabricOptions options, const std::vector<TimedFlow>& flows,
                       int again, int threads) {
  options.threads = threads;
  PacketFabricOf<Events> fabric(topology, options);
  std::vector<FlowEnd> ended;
  std::vector<std::pair<Flow, int>> started;  // with the number of messages before it in its chain
  const auto start = [&](Flow f, int before, Time at) {
    f.tag = started.size();
    started.push_back({f, before});
    fabric.Start(f, at);
  };
  size_t next = 0, seen = 0;
  for (;;) {
    const Time due = next < flows.size() ? flows[next].at : Time::Never();
    const Time t = std::min(due, fabric.NextEvent(due));
    if (t == Time::Never()) break;
    if (t > Time::Micros(1000000)) {
      ADD_FAILURE() << fabric.WhyStuck();
      break;
    }
    fabric.AdvanceTo(t, &ended);
    for (; next < flows.size() && flows[next].at == t; ++next) start(flows[next].flow, 0, t);
    for (; seen < ended.size(); ++seen) {
      auto [f, before] = started[ended[seen].tag];
      if (ended[seen].kind != FlowEnd::kReceived || before == again) continue;
      f.src = std::exchange(f.dst, static_cast<int>((started.size() * 7) % kClosDevices));
      start(f, before + 1, t);
    }
  }
  PacketOutcome<Events> outcome;
  outcome.Take(fabric, ended);
  return outcome;
}

// A link that is down for a while, one at half its rate, and three that lose packets.
std::vector<LinkChange> Faults(const Topology& t) {
  const uint32_t a = LinkOf(t, "leaf.0", "spine.1"), b = LinkOf(t, "leaf.3", "spine.0");
  return {{Time::Zero(), LinkOf(t, "leaf.5", "spine.2"), 1, 0.03},
          {Time::Zero(), LinkOf(t, "spine.3", "leaf.1"), 1, 0.1},
          {Time::Zero(), LinkOf(t, "device.6", "leaf.3"), 1, 0.01},
          {Time::Micros(4), a, 0},
          {Time::Micros(5), b, 0.5},
          {Time::Micros(15), a, 1}};
}

const char* const kOptions[] = {
    "",
    "mtu=1000,transport=dcqcn,buffer=200KB,ecn_low=20KB,ecn_high=60KB,ecn_probability=0.3",
    "mtu=1000,transport=dctcp,buffer=1MB,flow_control=pfc,xoff=20KB",
    "mtu=1000,transport=hpcc,flow_control=credit,credit=9KB",
    "mtu=1000,transport=nscc,queue=30KB,trim=yes",
    "mtu=1000,transport=swift,switching=cut_through,switch_latency=100ns,queue=40KB",
    "spread=adaptive,paths=8,buffer=1MB",
    "mtu=1000,spread=packet,paths=8,classes=4,weights=1x2x5,recovery=selective,ack_every=4",
};

TEST(PacketThreads, DoNotChangeResults) {
  const Topology clos = Clos();
  for (const char* text : kOptions) {
    FabricOptions o = PacketFabricOptions(absl::StrCat("timeout=100us", *text == 0 ? "" : ",", text));
    o.changes = Faults(clos);
    o.link_series = o.Get<PacketOptions>().mtu == 1000;
    std::mt19937_64 random(7);
    const auto flows = RandomFlows(kClosDevices, 40, 60000, &random);
    const auto one = Played(clos, o, flows, 1, 1);
    EXPECT_GT(one.ended.size(), 80u) << text;
    for (const int threads : {2, 3, 5}) {
      SCOPED_TRACE(absl::StrCat(text, " threads ", threads));
      ExpectSameOutcome(Played(clos, o, flows, 1, threads), one);
    }
  }
}

TEST(PacketThreads, PartsAndEventQueuesDoNotChangeResults) {
  const Topology parts = Clos(), whole = Clos(true);
  FabricOptions none;
  EXPECT_EQ(PacketNetwork(parts, none.Get<PacketOptions>()).parts(), 3u);
  EXPECT_EQ(PacketNetwork(parts, none.Get<PacketOptions>()).lookahead(), 400000);
  EXPECT_EQ(PacketNetwork(whole, none.Get<PacketOptions>()).parts(), 0u);
  for (const char* text : kOptions) {
    FabricOptions o = PacketFabricOptions(absl::StrCat("timeout=100us", *text == 0 ? "" : ",", text));
    o.changes = Faults(parts);
    std::mt19937_64 random(8);
    const auto flows = RandomFlows(kClosDevices, 40, 60000, &random);
    const auto one = Played(whole, o, flows, 1, 1);
    SCOPED_TRACE(text);
    ExpectSameOutcome(Played(parts, o, flows, 1, 2), one);
    ExpectSameOutcome(Played<HeapEvents>(parts, o, flows, 1, 2), one);
  }
}

// Enough packets in flight that the simulation prefetches their memory.
TEST(PacketThreads, ManyPacketsInFlightDoNotChangeResults) {
  std::vector<Flow> flows;
  for (int i = 1; i < kClosDevices; ++i) flows.push_back(Message(i, i % 4 == 0 ? 1 : 0, 500000, 0));
  const FabricOptions o = PacketFabricOptions("mtu=200,transport=(window:bdp=1000)");
  const Topology parts = Clos();
  const auto one = Played(Clos(true), o, AtOnce(flows), 0, 1);
  EXPECT_EQ(one.ended.size(), flows.size());
  EXPECT_GT(one.most_packets, 20000u);
  ExpectSameOutcome(Played(parts, o, AtOnce(flows), 0, 3), one);
  ExpectSameOutcome(Played<HeapEvents>(parts, o, AtOnce(flows), 0, 1), one);
}

TEST(PacketThreads, IslandSwitchesEndMessages) {
  const Topology t = Islands();
  const int hub = t.SwitchBetween(4, 5);
  ASSERT_GE(hub, t.devices());
  std::vector<Flow> flows;
  for (int i = 0; i < t.devices(); ++i) {
    flows.push_back(Message(i, (i + 5) % t.devices(), 100000, 0));
    flows.push_back(Message(i, i ^ 1, 50000, 0));
  }
  flows.push_back(Message(4, hub, 30000, 0));
  flows.push_back(Message(hub, 5, 30000, 0));
  const FabricOptions o = PacketFabricOptions("mtu=500");
  EXPECT_GT(PacketNetwork(t, o.Get<PacketOptions>()).parts(), 1u);
  const auto one = Played(t, o, AtOnce(flows), 0, 1);
  EXPECT_EQ(one.ended.size(), flows.size());
  ExpectSameOutcome(Played(t, o, AtOnce(flows), 0, 4), one);
}

// Small steps, or questions for the next event, do not change results.
TEST(PacketThreads, StepSizesDoNotChangeResults) {
  const Topology clos = Clos();
  FabricOptions o = PacketFabricOptions("mtu=1000,transport=dctcp,queue=50KB");
  std::mt19937_64 random(9);
  const auto flows = RandomFlows(kClosDevices, 30, 60000, &random);
  const auto one = Played(clos, o, flows, 0, 1);
  for (const int64_t step : {1000, 37000, 399999, 400000, 5000000}) {
    o.threads = 2;
    PacketFabric fabric(clos, o);
    std::vector<FlowEnd> ended;
    size_t next = 0;
    for (Time t; fabric.NextEvent() != Time::Never() || next < flows.size(); t += Time::Picos(step)) {
      for (; next < flows.size() && flows[next].at <= t; ++next) {
        const bool later = next > 0 && flows[next].at > flows[next - 1].at;
        if (later) fabric.AdvanceTo(flows[next].at, &ended);
        fabric.Start(flows[next].flow, flows[next].at);
      }
      fabric.AdvanceTo(t, &ended);
    }
    PacketOutcome<BucketEvents> outcome;
    outcome.Take(fabric, ended);
    SCOPED_TRACE(step);
    ExpectSameOutcome(outcome, one);
  }
}

TEST(WorkerCrew, RunsEachTaskOncePerRound) {
  for (const int workers : {1, 3, 9}) {
    constexpr uint32_t kTasks = 7;
    std::vector<std::atomic<int>> done(kTasks);
    packet::WorkerCrew crew(workers, kTasks, [&](uint32_t task) { done[task].fetch_add(1); });
    for (int round = 1; round <= 500; ++round) {
      crew.Begin();
      if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      crew.Finish();
      for (const auto& d : done) ASSERT_EQ(d.load(), round);
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
