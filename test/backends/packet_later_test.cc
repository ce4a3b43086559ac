// Fabric `packet` makes the flows of a list when their turn comes. Compares them with the same flows made at
// once.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "backends/packet/ends/later.h"
#include "test/backends/packet_outcome.h"

namespace chakra::CHAKRA_FILE {
namespace {

class FlowVector final : public FlowList {
 public:
  explicit FlowVector(std::vector<Flow> flows)
      : FlowList(static_cast<uint32_t>(flows.size())), flows_(std::move(flows)) {}
  Flow At(uint32_t i) const override { return flows_[i]; }

 private:
  std::vector<Flow> flows_;
};

// Flows that start at one instant, one after the other.
struct TimedList {
  std::vector<Flow> flows;
  Time at;
};

// Starts each list. When a flow is received, starts once the flow that `after` has for its tag. With `later`,
// starts the flows as lists, otherwise one by one. `memory` gets the most bytes that the fabric takes.
PacketOutcome<BucketEvents> PlayLists(const Topology& topology, FabricOptions options,
                                      const std::vector<TimedList>& lists, std::map<uint64_t, Flow> after,
                                      bool later, int threads, uint64_t* memory = nullptr) {
  options.threads = threads;
  PacketFabric fabric(topology, options);
  std::vector<FlowEnd> ended;
  size_t next = 0, seen = 0;
  for (;;) {
    const Time due = next < lists.size() ? lists[next].at : Time::Never();
    const Time t = std::min(due, fabric.NextEvent(due));
    if (t == Time::Never()) break;
    if (t > Time::Micros(1000000)) {
      ADD_FAILURE() << fabric.WhyStuck();
      break;
    }
    fabric.AdvanceTo(t, &ended);
    for (; next < lists.size() && lists[next].at == t; ++next) {
      if (later) {
        fabric.StartAll(std::make_shared<FlowVector>(lists[next].flows), t);
      } else {
        for (const Flow& f : lists[next].flows) fabric.Start(f, t);
      }
    }
    for (; seen < ended.size(); ++seen) {
      if (ended[seen].kind != FlowEnd::kReceived) continue;
      const auto then = after.find(ended[seen].tag);
      if (then == after.end()) continue;
      const Flow flow = then->second;
      after.erase(then);
      fabric.Start(flow, t);
    }
    if (memory != nullptr) *memory = std::max(*memory, fabric.MemoryBytes());
  }
  ExpectQuiet(fabric, options);
  EXPECT_EQ(fabric.WhyStuck(), "");
  PacketOutcome<BucketEvents> outcome;
  outcome.Take(fabric, ended);
  return outcome;
}

struct Scene {
  std::vector<TimedList> lists;
  std::map<uint64_t, Flow> after;  // by tag
  size_t flows = 0;
};

// Lists of flows, several lists in flight at once. Flows go to other devices or to their own, are empty or
// not, of several classes, in order on one connection or not. Some flows have a successor with the same tag,
// between the same devices or others.
Scene RandomScene(int devices, uint64_t most, std::mt19937_64* random) {
  const auto draw = [&](uint64_t below) { return (*random)() % below; };
  const auto device = [&] { return static_cast<int>(draw(static_cast<uint64_t>(devices))); };
  Scene scene;
  Time at;
  for (int i = 0; i < 24; ++i) {
    TimedList list;
    list.at = at;
    const int src = device();
    const bool one_class = draw(2) == 0;
    for (uint64_t n = draw(30); n > 0; --n) {
      const uint64_t bytes = draw(5) == 0 ? draw(3) : draw(most);
      Flow f = Message(draw(20) == 0 ? device() : src, device(), bytes, scene.flows++, draw(4) == 0);
      f.in_order = draw(4) != 0;
      f.service_class = one_class ? 0 : static_cast<int>(draw(3));
      f.delay = Time::Nanos(static_cast<int64_t>(draw(3) * 500));
      if (draw(3) == 0) f.wire_bytes = bytes + bytes / 8;
      list.flows.push_back(f);
      if (draw(4) != 0) continue;
      Flow then = f;
      if (draw(2) == 0) then.dst = device();
      then.bytes = draw(most);
      then.wire_bytes = Flow::kPayload;
      if (draw(3) == 0) then.tag |= uint64_t{1} << 40;
      scene.after.emplace(f.tag, then);
    }
    scene.lists.push_back(std::move(list));
    if (draw(3) != 0) at += Time::Picos(static_cast<int64_t>(draw(4'000'000)));
  }
  return scene;
}

struct LaterCase {
  const char* name;
  const char* packet;
  bool makes_later;  // otherwise all flows of a list are made at once
};

const LaterCase kLaterCases[] = {
    {"default", "", true},
    {"small window", "mtu=1000,transport=(window:bytes=3000)", true},
    {"large window", "mtu=512,header=40,transport=(window:bdp=20)", true},
    {"classes", "mtu=1000,classes=4,weights=1x2x5", true},
    {"several ways", "mtu=1000,paths=4", true},
    {"rare answers", "mtu=1000,ack_every=4,switching=cut_through,switch_latency=100ns", true},
    {"pauses", "mtu=1000,buffer=200KB,flow_control=pfc,xoff=20KB", true},
    {"credits", "mtu=1000,flow_control=credit,credit=9KB", true},
    {"marks", "mtu=1000,transport=dcqcn,ecn_low=20KB,ecn_high=60KB,ecn_probability=0.3", false},
    {"telemetry", "mtu=1000,transport=hpcc", false},
    {"delays", "mtu=1000,transport=swift", false},
    {"losses", "mtu=1000,queue=30KB,timeout=100us", false},
    {"selective", "mtu=1000,spread=packet,paths=8,recovery=selective", false},
};

TEST(PacketLater, ListedFlowsEndAsFlowsMadeAtOnce) {
  const std::pair<const char*, Topology> topologies[] = {
      {"clos", Clos()},
      {"islands", Islands()},
      {"star", Star(8, 50, Time::Nanos(300))},
      {"two switches", MakeTopology({MakeDim(TopologyDimension::Kind::kSwitch, 4, 400, 25),
                                     MakeDim(TopologyDimension::Kind::kSwitch, 4)})},
      {"ring", MakeTopology({MakeDim(TopologyDimension::Kind::kRing, 6)})},
  };
  std::mt19937_64 random(11);
  for (const auto& [name, topology] : topologies) {
    for (const LaterCase& c : kLaterCases) {
      const FabricOptions o = PacketFabricOptions(c.packet);
      // Credits around a ring can end in a deadlock.
      const bool stands = topology.devices() == 6 && std::string(c.name) == "credits";
      if (stands || !PacketFabric::Check(topology, o).ok()) continue;
      const Scene scene = RandomScene(topology.devices(), 60000, &random);
      const auto at_once = PlayLists(topology, o, scene.lists, scene.after, false, 1);
      EXPECT_GE(at_once.ended.size(), scene.flows + scene.after.size());
      for (const int threads : {1, 2, 8}) {
        SCOPED_TRACE(absl::StrCat(name, ", ", c.name, ", threads ", threads));
        ExpectSameOutcome(PlayLists(topology, o, scene.lists, scene.after, true, threads), at_once);
      }
    }
  }
}

// An all-to-all; each device sends to its neighbours in order.
std::vector<TimedList> Exchange(int devices, uint64_t bytes) {
  std::vector<TimedList> lists;
  for (int src = 0; src < devices; ++src) {
    TimedList list;
    for (int i = 1; i < devices; ++i) {
      const auto tag = static_cast<uint64_t>(src * devices + i);
      list.flows.push_back(Message(src, (src + i) % devices, bytes, tag));
      list.flows.back().in_order = true;
    }
    lists.push_back(std::move(list));
  }
  return lists;
}

TEST(PacketLater, WaitingFlowsTakeLittleMemory) {
  constexpr int kMembers = 96;
  constexpr uint64_t kFlows = kMembers * (kMembers - 1);
  const Topology t = OfNetwork("fat_tree:k=8", kMembers);
  for (const LaterCase& c : kLaterCases) {
    const bool chosen = c.makes_later == (std::string(c.name) != "marks");
    if (!chosen || (c.makes_later && std::string(c.packet).find("window") != std::string::npos)) continue;
    const FabricOptions o = PacketFabricOptions(c.packet);
    if (!PacketFabric::Check(t, o).ok()) continue;
    uint64_t at_once = 0, later = 0;
    const auto lists = Exchange(kMembers, 500);
    const auto outcome = PlayLists(t, o, lists, {}, false, 1, &at_once);
    ExpectSameOutcome(PlayLists(t, o, lists, {}, true, 1, &later), outcome);
    if (c.makes_later) {
      EXPECT_LT(later + 150 * kFlows, at_once) << c.name;
    } else {
      EXPECT_EQ(later, at_once) << c.name;
    }
  }
}

// Devices forward from fast links to slow ones, so nearly all messages are in flight at once.
TEST(PacketLater, SinglePacketMessagesTakeLittleMemory) {
  constexpr int kMembers = 128;
  const Topology t = MakeTopology({MakeDim(TopologyDimension::Kind::kSwitch, 8, 4000, 25),
                                   MakeDim(TopologyDimension::Kind::kSwitch, kMembers / 8, 1)});
  const FabricOptions o = PacketFabricOptions("");
  uint64_t memory = 0;
  const auto outcome = PlayLists(t, o, Exchange(kMembers, 4000), {}, true, 1, &memory);
  EXPECT_EQ(outcome.ended.size(), size_t{kMembers} * (kMembers - 1));
  EXPECT_GT(outcome.most_packets, size_t{kMembers} * kMembers * 8 / 10);
  EXPECT_LT(memory, uint64_t{kMembers} * kMembers * 400);  // half of the reserved memory may be unused
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
