// Fabric `mixed` with random choices, transports, routes, faults and classes.
#include <set>

#include "test/backends/mixed_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

constexpr const char* kPackets[] = {"",
                                    "transport=dcqcn,flow_control=pfc,buffer=32MB",
                                    "transport=nscc,buffer=1MB",
                                    "spread=packet,paths=4,recovery=selective,buffer=1MB",
                                    "flow_control=credit",
                                    "classes=4,weights=1x2x3"};
constexpr RoutingPolicy kPolicies[] = {RoutingPolicy::kEcmp, RoutingPolicy::kSpray, RoutingPolicy::kFlowlet,
                                       RoutingPolicy::kValiant, RoutingPolicy::kDestination};

PacketChoice RandomChoice(std::mt19937_64* random) {
  PacketChoice c;
  if ((*random)() % 2 == 0) c.link = (*random)() % 2 == 0 ? "leaf.0 - spine.*" : "device.3";
  if ((*random)() % 2 == 0) {
    c.by_device = true;
    c.devices = {static_cast<int>((*random)() % 6), 6 + static_cast<int>((*random)() % 6)};
  }
  if ((*random)() % 3 == 0 || (!c.by_link() && !c.by_device)) {
    c.after = Time::Micros(static_cast<int64_t>((*random)() % 30));
    c.until = c.after + Time::Micros(40);
  }
  return c;
}

FabricOptions RandomOptions(const Topology& t, std::mt19937_64* random) {
  FabricOptions o = Mixed({}, kPackets[(*random)() % std::size(kPackets)]);
  for (uint64_t n = 1 + (*random)() % 3; n > 0; --n)
    o.Ask<PacketChoices>().any_of.push_back(RandomChoice(random));
  o.routing.policy = kPolicies[(*random)() % std::size(kPolicies)];
  if ((*random)() % 3 == 0) o.routing.queue_pairs = 3;
  if ((*random)() % 4 == 0) o.Ask<FlowOptions>().classes = {{1, 0}, {3, 0}, {1, 1}};
  if ((*random)() % 4 == 0) o.Ask<FlowOptions>().startup = Time::Nanos(700);
  if ((*random)() % 4 == 0) o.Ask<FlowOptions>().efficiency = 0.8;
  if ((*random)() % 2 == 0) return o;
  o.changes = {{Time::Micros(10), LinkOf(t, "leaf.0", "spine.0"), 0},
               {Time::Micros(12), LinkOf(t, "leaf.1", "spine.1"), 0.25},
               {Time::Micros(40), LinkOf(t, "leaf.0", "spine.0"), 1},
               {Time::Micros(41), LinkOf(t, "leaf.0", "device.1"), 0},
               {Time::Micros(60), LinkOf(t, "leaf.0", "device.1"), 1}};
  return o;
}

// A third of the messages are in order, on connections that carry several messages.
std::vector<TimedFlow> RandomMessages(std::mt19937_64* random) {
  std::vector<TimedFlow> flows = RandomFlows(12, 60, 200000, random);
  for (TimedFlow& f : flows) {
    if ((*random)() % 3 != 0) continue;
    f.flow.in_order = true;
    f.flow.want_sent = false;
    f.flow.tag = 5000 + static_cast<uint64_t>(f.flow.src * 12 + f.flow.dst);
  }
  return flows;
}

TEST(MixedRandom, AllMessagesEndOnceInTimeOrder) {
  const Topology t = OfNetwork("leaf_spine:hosts_per_leaf=4,spines=4,link=400Gb/s", 12);
  for (uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<TimedFlow> flows = RandomMessages(&random);
    const FabricOptions options = RandomOptions(t, &random);
    const Ran mixed("mixed", t, options, flows);
    ASSERT_NE(mixed.fabric, nullptr);
    std::multiset<std::pair<uint64_t, int>> expected, got;
    for (const TimedFlow& f : flows) {
      expected.insert({f.flow.tag, FlowEnd::kReceived});
      if (f.flow.want_sent) expected.insert({f.flow.tag, FlowEnd::kSent});
    }
    Time last;
    for (const FlowEnd& e : mixed.ended) {
      got.insert({e.tag, e.kind});
      EXPECT_GE(e.at, last) << "seed " << seed << " tag " << e.tag;
      last = e.at;
    }
    EXPECT_EQ(got, expected) << "seed " << seed << " " << mixed.fabric->WhyStuck();
    const PacketTotals totals = mixed.fabric->Packets();
    EXPECT_EQ(totals.messages + totals.fluid_messages, flows.size());
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
