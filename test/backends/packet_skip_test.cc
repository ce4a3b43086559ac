// Compares runs that skip with runs that simulate every packet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/backends/packet_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

// Messages around a ring, in rounds; each message starts the next one. A round is an all-reduce.
struct Ring {
  std::vector<int> members;
  uint64_t bytes = 0;
  int rounds = 1;
  Time begin, gap;           // before the first round; between rounds
  std::vector<Time> skew;    // by member, before its first message of each round; may be empty
  bool connections = false;  // the messages of a pair are in order, on one connection
};

struct Outcome {
  std::map<uint64_t, std::pair<Time, Time>> messages;  // by ring, round, step and member: begin and end
  PacketTotals totals;
  std::map<std::string, LinkUse> links;
};

class Rings {
 public:
  Rings(const Topology& topology, const std::string& options, std::vector<Ring> rings)
      : rings_(std::move(rings)) {
    auto fabric = MakeMachine("packet", topology, PacketFabricOptions(options));
    EXPECT_TRUE(fabric.ok()) << fabric.status();
    if (fabric.ok()) fabric_ = *std::move(fabric);
  }

  Outcome Run() {
    for (uint64_t r = 0; r < rings_.size(); ++r) Begin(r, 0, rings_[r].begin);
    std::vector<FlowEnd> ended;
    for (;;) {
      const Time own = wakes_.empty() ? Time::Never() : wakes_.begin()->first;
      const Time now = std::min(own, fabric_->NextEvent(own));
      if (now == Time::Never()) break;
      ended.clear();
      fabric_->AdvanceTo(now, &ended);
      for (const FlowEnd& e : ended) End(e, now);
      for (; !wakes_.empty() && wakes_.begin()->first == now; wakes_.erase(wakes_.begin())) {
        Send(wakes_.begin()->second, now);
      }
    }
    EXPECT_EQ(fabric_->WhyStuck(), "");
    for (const LinkUse& use : fabric_->Links(1000000).busiest) out_.links[use.name] = use;
    out_.totals = fabric_->Packets();
    return out_;
  }

 private:
  // Ring, round, step and member: one byte each, and three for the round.
  static uint64_t Key(uint64_t ring, uint64_t round, uint64_t step, uint64_t member) {
    return ring << 40 | round << 16 | step << 8 | member;
  }
  void Begin(uint64_t ring, uint64_t round, Time at) {
    const Ring& r = rings_[ring];
    for (uint64_t m = 0; m < r.members.size(); ++m) {
      wakes_.insert({at + (r.skew.empty() ? Time::Zero() : r.skew[m]), Key(ring, round, 0, m)});
    }
  }
  void Send(uint64_t key, Time now) {
    const Ring& r = rings_[key >> 40];
    const uint64_t member = key & 0xff;
    Flow f = Message(r.members[member], r.members[(member + 1) % r.members.size()], r.bytes,
                     r.connections ? key & ~uint64_t{0xffff00} : key);
    f.in_order = r.connections;
    f.want_sent = member == 0;
    under_way_[f.tag].push_back(key);
    out_.messages[key].first = now;
    fabric_->Start(f, now);
  }
  void End(const FlowEnd& e, Time now) {
    if (e.kind == FlowEnd::kSent) return;
    std::vector<uint64_t>& keys = under_way_[e.tag];
    ASSERT_FALSE(keys.empty()) << "told twice";
    const uint64_t key = keys.front();
    keys.erase(keys.begin());
    out_.messages[key].second = e.at;
    const Ring& r = rings_[key >> 40];
    const uint64_t n = r.members.size(), step = key >> 8 & 0xff, round = key >> 16 & 0xffffff;
    if (step + 1 < 2 * (n - 1)) {
      Send(Key(key >> 40, round, step + 1, ((key & 0xff) + 1) % n), now);
    } else if (++done_[{key >> 40, round}] == n && round + 1 < static_cast<uint64_t>(r.rounds)) {
      Begin(key >> 40, round + 1, now + r.gap);
    }
  }

  std::unique_ptr<Machine> fabric_;
  std::vector<Ring> rings_;
  std::multimap<Time, uint64_t> wakes_;
  std::map<uint64_t, std::vector<uint64_t>> under_way_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> done_;
  Outcome out_;
};

// `a` is the run without skips.
void ExpectSame(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.messages, b.messages);
  ASSERT_EQ(a.links.size(), b.links.size());
  for (const auto& [name, use] : a.links) {
    const auto it = b.links.find(name);
    ASSERT_NE(it, b.links.end()) << name;
    EXPECT_EQ(use.bytes, it->second.bytes) << name;
    EXPECT_EQ(use.packets, it->second.packets) << name;
    EXPECT_EQ(use.flows, it->second.flows) << name;
    EXPECT_EQ(use.most_queued, it->second.most_queued) << name;
  }
  EXPECT_EQ(a.totals.packets, b.totals.packets);
  EXPECT_EQ(a.totals.hops, b.totals.hops);
  EXPECT_EQ(a.totals.acks, b.totals.acks);
}

Time Latest(const Outcome& o) {
  Time last;
  for (const auto& [key, times] : o.messages) last = std::max(last, times.second);
  return last;
}

// The largest relative error of a message's time.
double WorstError(const Outcome& a, const Outcome& b) {
  double worst = 0;
  EXPECT_EQ(a.messages.size(), b.messages.size());
  for (const auto& [key, times] : a.messages) {
    const auto it = b.messages.find(key);
    if (it == b.messages.end()) return 1e9;
    const auto took = static_cast<double>((times.second - times.first).picos());
    const auto other = static_cast<double>((it->second.second - it->second.first).picos());
    worst = std::max(worst, std::abs(other / took - 1));
  }
  return worst;
}

std::vector<int> Members(int first, int count, int stride = 1) {
  std::vector<int> members;
  for (int i = 0; i < count; ++i) members.push_back(first + i * stride);
  return members;
}

const Time kGap = Time::Micros(50);

TEST(PacketSkip, IsOffByDefault) {
  EXPECT_EQ(Packets("").skip, PacketOptions::Skip::kOff);
  const Outcome o =
      Rings(Star(4, 25, Time::Nanos(500)), "", {{Members(0, 4), 1 << 20, 3, {}, kGap, {}}}).Run();
  EXPECT_EQ(o.totals.skipped + o.totals.jumps + o.totals.repeats, 0u);
}

TEST(PacketSkip, SimulatesRepeatedRoundsOnce) {
  const Topology t = Star(4, 25, Time::Nanos(500));
  const std::vector<Ring> rings = {{Members(0, 4), 300000, 10, {}, kGap, {}}};
  const Outcome off = Rings(t, "", rings).Run(), on = Rings(t, "skip=repeats", rings).Run();
  ExpectSame(off, on);
  EXPECT_EQ(on.totals.repeats, 9u * 24);
  EXPECT_EQ(on.totals.skipped * 10, on.totals.packets * 9);
  EXPECT_LT(on.totals.events * 9, off.totals.events);
}

TEST(PacketSkip, SimulatesSymmetricRingsOnce) {
  const Topology t = OfNetwork("leaf_spine:leaves=4,hosts_per_leaf=4,spines=4", 16);
  std::vector<Ring> rings;
  for (int leaf = 0; leaf < 4; ++leaf) rings.push_back({Members(4 * leaf, 4), 300000, 2, {}, kGap, {}});
  const Outcome off = Rings(t, "", rings).Run(), on = Rings(t, "skip=repeats", rings).Run();
  ExpectSame(off, on);
  EXPECT_EQ(on.totals.repeats, 7u * 24);
}

TEST(PacketSkip, LaterRingsRepeatRingsInFlight) {
  const Topology t = OfNetwork("leaf_spine:leaves=4,hosts_per_leaf=4,spines=4", 16);
  std::vector<Ring> rings;
  for (int leaf = 0; leaf < 4; ++leaf) {
    rings.push_back({Members(4 * leaf, 4), 300000, 1, Time::Micros(20) * leaf, kGap, {}});
  }
  const Outcome off = Rings(t, "", rings).Run(), on = Rings(t, "skip=repeats", rings).Run();
  ExpectSame(off, on);
  EXPECT_EQ(on.totals.repeats, 3u * 24);
}

TEST(PacketSkip, DisturbedRoundsAreSimulated) {
  const Topology t = Star(6, 25, Time::Nanos(500));
  // The second ring starts once, in the middle of a round of the first.
  const std::vector<Ring> rings = {{Members(0, 4), 300000, 6, {}, kGap, {}},
                                   {{2, 4, 5}, 200000, 1, Time::Micros(333), kGap, {}}};
  const Outcome off = Rings(t, "", rings).Run(), on = Rings(t, "skip=repeats", rings).Run();
  ExpectSame(off, on);
  EXPECT_GT(on.totals.repeats, 24u);
  EXPECT_LT(on.totals.repeats, 5u * 24);
}

TEST(PacketSkip, JoinedRegionsAreSimulatedFromTheirStart) {
  const Topology t = Star(8, 25, Time::Nanos(500));
  // Two rings run; a third shares devices with both.
  const std::vector<Ring> rings = {{Members(0, 3), 500000, 3, {}, kGap, {}},
                                   {Members(3, 3), 400000, 3, Time::Micros(7), kGap, {}},
                                   {{1, 4, 6}, 300000, 2, Time::Micros(31), kGap, {}}};
  for (const char* options : {"", "flow_control=pfc,buffer=400KB", "queue=60KB,recovery=selective"}) {
    const Outcome off = Rings(t, options, rings).Run();
    const Outcome on = Rings(t, absl::StrCat(options, *options ? "," : "", "skip=repeats"), rings).Run();
    ExpectSame(off, on);
  }
}

TEST(PacketSkip, SkewedMembersEndUnchanged) {
  const Topology t = OfNetwork("leaf_spine:leaves=4,hosts_per_leaf=4,spines=4", 16);
  std::vector<Ring> rings;
  std::mt19937_64 random(7);
  for (int leaf = 0; leaf < 4; ++leaf) {
    Ring ring{Members(4 * leaf, 4), 150000, 4, {}, kGap, {}};
    for (int m = 0; m < 4; ++m) ring.skew.push_back(Time::Picos(static_cast<int64_t>(random() % 20000000)));
    ring.connections = leaf % 2 == 0;
    rings.push_back(ring);
  }
  const Outcome off = Rings(t, "", rings).Run(), on = Rings(t, "skip=repeats", rings).Run();
  ExpectSame(off, on);
  EXPECT_GE(on.totals.repeats, 4u * 2 * 24);  // the later rounds have the skew of the first
}

TEST(PacketSkip, RepeatsWithAnyTransport) {
  const Topology t = Star(4, 12.5, Time::Nanos(500));
  const std::vector<Ring> rings = {{Members(0, 4), 400000, 3, {}, kGap, {}, true}};
  for (const char* transport : {"dcqcn", "hpcc", "timely", "swift", "dctcp"}) {
    const std::string options = absl::StrCat("transport=", transport, ",flow_control=pfc,buffer=4MB");
    const Outcome off = Rings(t, options, rings).Run();
    const Outcome on = Rings(t, absl::StrCat(options, ",skip=repeats"), rings).Run();
    SCOPED_TRACE(transport);
    ExpectSame(off, on);
    EXPECT_EQ(on.totals.repeats, 2u * 24);
  }
}

// Random rings of messages over several networks.
TEST(PacketSkip, RandomMessagesEndUnchanged) {
  const std::vector<Topology> topologies = {Star({12.5, 25, 5, 12.5, 50}, Time::Nanos(300)),
                                            OfNetwork("leaf_spine:k=8", 12), OfNetwork("fat_tree:k=4", 16),
                                            OfNetwork("torus:shape=3x3", 0)};
  std::mt19937_64 random(11);
  uint64_t repeats = 0;
  for (int run = 0; run < 24; ++run) {
    const Topology& t = topologies[static_cast<size_t>(run) % topologies.size()];
    std::vector<Ring> rings;
    const int count = 2 + static_cast<int>(random() % 4);
    for (int r = 0; r < count; ++r) {
      Ring ring;
      const int members = 2 + static_cast<int>(random() % 3);
      const int first = static_cast<int>(random() % static_cast<uint64_t>(t.devices() - members + 1));
      ring.members = Members(first, members);
      ring.bytes = 1 + random() % 100000;
      ring.rounds = 3;
      ring.begin = Time::Nanos(static_cast<int64_t>(random() % 3 * (random() % 30000)));
      ring.gap = Time::Micros(static_cast<int64_t>(random() % 60));
      ring.connections = random() % 2 == 0;
      rings.push_back(ring);
    }
    const Outcome off = Rings(t, "", rings).Run(), on = Rings(t, "skip=repeats", rings).Run();
    SCOPED_TRACE(run);
    ExpectSame(off, on);
    repeats += on.totals.repeats;
  }
  EXPECT_GT(repeats, 500u);
}

TEST(PacketSkip, SkipsSteadyPartOfLongMessages) {
  const Topology t = Star(2, 25, Time::Nanos(500));
  const std::vector<Ring> rings = {{Members(0, 2), 100'000'000, 1, {}, kGap, {}}};
  for (const char* options : {"", "transport=dcqcn", "transport=hpcc", "transport=swift", "transport=timely",
                              "transport=dctcp", "recovery=selective", "ack_every=4"}) {
    const Outcome off = Rings(t, options, rings).Run();
    const Outcome on = Rings(t, absl::StrCat(options, *options ? "," : "", "skip=steady"), rings).Run();
    SCOPED_TRACE(options);
    EXPECT_LT(WorstError(off, on), 2e-3);
    EXPECT_GT(static_cast<double>(on.totals.skipped), 0.4 * static_cast<double>(on.totals.packets));
    EXPECT_GT(on.totals.jumps, 0u);
    EXPECT_NEAR(static_cast<double>(on.totals.packets) / static_cast<double>(off.totals.packets), 1, 5e-3);
    for (const auto& [name, use] : off.links) {
      EXPECT_NEAR(static_cast<double>(on.links.at(name).bytes), static_cast<double>(use.bytes),
                  5e-3 * static_cast<double>(use.bytes))
          << name;
    }
  }
}

// Senders of different sizes and starts to one receiver: rates change when a sender comes or goes.
TEST(PacketSkip, SkipsAfterRatesSettle) {
  const Topology t = Star(5, 12.5, Time::Micros(1));
  struct Case {
    const char* options;
    double skipped;  // share of the packets, at least
  };
  // The rates of the other transports keep going up and down, or change by chance: there is nothing to skip.
  for (const Case& c : {Case{"", 0.4}, Case{"ecn=yes,ecn_low=400KB", 0.4}, Case{"transport=dctcp", 0.02},
                        Case{"transport=swift", 0}}) {
    std::vector<Ring> rings;
    for (int i = 1; i < 5; ++i) {
      rings.push_back({{i, 0}, static_cast<uint64_t>(i) * 20'000'000, 1, Time::Micros(100) * i, kGap, {}});
    }
    const Outcome off = Rings(t, c.options, rings).Run();
    const Outcome on = Rings(t, absl::StrCat(c.options, *c.options ? "," : "", "skip=steady"), rings).Run();
    SCOPED_TRACE(c.options);
    EXPECT_LT(WorstError(off, on), 0.01);
    EXPECT_GE(static_cast<double>(on.totals.skipped), c.skipped * static_cast<double>(on.totals.packets));
    EXPECT_NEAR(Latest(on).seconds() / Latest(off).seconds(), 1, 0.002);
  }
}

TEST(PacketSkip, TighterToleranceSkipsLess) {
  const Topology t = Star(3, 12.5, Time::Micros(1));
  const std::vector<Ring> rings = {{{1, 0}, 20'000'000, 1, {}, kGap, {}},
                                   {{2, 0}, 30'000'000, 1, {}, kGap, {}}};
  const Outcome loose = Rings(t, "skip=steady,skip_tolerance=0.02", rings).Run();
  const Outcome tight = Rings(t, "skip=steady,skip_tolerance=0.002", rings).Run();
  EXPECT_GT(loose.totals.skipped, tight.totals.skipped);
  EXPECT_GT(tight.totals.skipped, 0u);
}

TEST(PacketSkip, SkipAllRepeatsSteadyRounds) {
  const Topology t = Star(4, 25, Time::Nanos(500));
  const std::vector<Ring> rings = {{Members(0, 4), 20'000'000, 4, {}, kGap, {}}};
  const Outcome off = Rings(t, "", rings).Run(), on = Rings(t, "skip=all", rings).Run();
  EXPECT_LT(WorstError(off, on), 0.01);
  EXPECT_EQ(on.totals.repeats, 3u * 24);
  EXPECT_GT(on.totals.jumps, 0u);
  EXPECT_GT(static_cast<double>(on.totals.skipped), 0.9 * static_cast<double>(on.totals.packets));
}

// Starts messages at given times; collects their ends, and the counts at the end.
struct Driven {
  explicit Driven(const Topology& topology, const std::string& options) {
    auto made = MakeMachine("packet", topology, PacketFabricOptions(options));
    EXPECT_TRUE(made.ok()) << made.status();
    fabric = *std::move(made);
  }
  void Start(Flow f, Time at) {
    for (Time n = fabric->NextEvent(at); n < at; n = fabric->NextEvent(at)) fabric->AdvanceTo(n, &ended);
    fabric->AdvanceTo(at, &ended);
    fabric->Start(f, at);
  }
  void Finish() {
    for (Time n = fabric->NextEvent(Time::Never()); n < Time::Never(); n = fabric->NextEvent(Time::Never())) {
      fabric->AdvanceTo(n, &ended);
    }
    totals = fabric->Packets();
  }
  std::vector<std::pair<uint64_t, Time>> Told() const {
    std::vector<std::pair<uint64_t, Time>> told;
    for (const FlowEnd& e : ended) told.emplace_back(e.tag, e.at);
    return told;
  }
  std::unique_ptr<Machine> fabric;
  std::vector<FlowEnd> ended;
  PacketTotals totals;
};

TEST(PacketSkip, RegionSimulatedAtItsLastMomentEnds) {
  PacketTotals totals[2];
  for (const bool skips : {false, true}) {
    Driven d(Star(4, 12.5, Time::Nanos(500)), skips ? "skip=repeats" : "");
    const auto start = [&](int src, uint64_t bytes, uint64_t tag, Time at) {
      Flow f = Message(src, src + 1, bytes, tag);
      f.delay = Time::Micros(5);
      d.Start(f, at);
    };
    // The second message comes when only signals could be in flight. Then two messages like the first come,
    // each by itself.
    start(0, 4096, 0, Time::Zero());
    const Time quiet = Time::Picos(2 * 500000 + 2 * 332800 + 5000000);
    start(0, 5000, 1, quiet + Time::Nanos(200));
    start(0, 4096, 2, Time::Micros(100));
    start(2, 4096, 3, Time::Micros(110));
    d.Finish();
    EXPECT_EQ(d.ended.size(), 4u);
    totals[skips] = d.totals;
  }
  EXPECT_EQ(totals[0].packets, totals[1].packets);
  EXPECT_EQ(totals[0].hops, totals[1].hops);
}

TEST(PacketSkip, LocalMessagesEndUnchanged) {
  std::vector<std::pair<uint64_t, Time>> told[3];
  const char* options[] = {"", "skip=steady", "skip=all"};
  for (int i = 0; i < 3; ++i) {
    Driven d(Star(3, 12.5, Time::Micros(1)), options[i]);
    d.Start(Message(0, 1, 50'000'000, 1), Time::Zero());
    for (uint64_t k = 0; k < 5; ++k) {
      Flow f = Message(2, 2, 1000, 10 + k);
      f.delay = Time::Micros(700);
      d.Start(f, Time::Micros(300) * static_cast<int64_t>(k));
    }
    d.Finish();
    EXPECT_EQ(d.totals.skipped > 0, i > 0);
    told[i] = d.Told();
    ASSERT_EQ(told[i].size(), 6u);
    told[i].pop_back();  // the long one
  }
  EXPECT_EQ(told[0], told[1]);
  EXPECT_EQ(told[0], told[2]);
}

// The fabric abandons a region while acknowledgements wait in a switch that is an end point.
TEST(PacketSkip, AbandonedRegionsLeaveSwitchBuffersClean) {
  TopologyDimension dim;
  dim.kind = TopologyDimension::Kind::kSwitch;
  dim.name = "net";
  dim.size = 8;
  dim.bandwidth = Bandwidth::FromGigabytes(12.5);
  dim.latency = Time::Nanos(500);
  const Topology t = *Topology::Make({dim});
  std::vector<std::pair<uint64_t, Time>> told[2];
  for (const bool skips : {false, true}) {
    Driven d(t, skips ? "buffer=1MB,skip=repeats" : "buffer=1MB");
    const int middle = d.fabric->SwitchBetween(0, 3);
    d.Start(Message(0, middle, 1000000, 0), Time::Zero());
    d.Start(Message(1, 0, 1000000, 1), Time::Zero());
    d.Start(Message(2, 0, 1000000, 2), Time::Zero());
    d.Start(Message(4, 5, 1000000, 3), Time::Zero());
    d.Start(Message(4, 0, 1000, 4), Time::Picos(20'080'000));
    d.Finish();
    EXPECT_EQ(d.totals.drops, 0u);
    told[skips] = d.Told();
  }
  EXPECT_EQ(told[0], told[1]);
}

TEST(PacketSkip, NamesDeadlocksInsideRegions) {
  // Two rings, of 5 and of 20 switches, in which messages take three links around: both rings deadlock.
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, 25);
  b.AddVertices("switch", VertexKind::kSwitch, 25, 1);
  const uint16_t c = b.AddClass({"link", Bandwidth::FromGigabytes(12.5), Time::Nanos(10)});
  for (uint32_t i = 0; i < 25; ++i) b.AddLink(i, 25 + i, c);
  b.AddLink(25, 30, c);
  std::string routes;
  std::vector<Flow> flows;
  for (const auto& [first, n] : std::vector<std::pair<uint32_t, uint32_t>>{{0, 5}, {5, 20}}) {
    for (uint32_t i = 0; i < n; ++i) {
      b.AddLink(25 + first + i, 25 + first + (i + 1) % n, c);
      const uint32_t to = first + (i + 3) % n;
      absl::StrAppend(&routes, "device.", first + i, " -> device.", to, ":");
      for (uint32_t s = 0; s < 4; ++s) absl::StrAppend(&routes, " switch.", first + (i + s) % n);
      absl::StrAppend(&routes, " device.", to, "\n");
      flows.push_back(Message(static_cast<int>(first + i), static_cast<int>(to), 400 * 4096, flows.size()));
    }
  }
  const Topology t = OfGraph(std::move(b));
  const auto file = RouteFile::Parse(routes, "ring", t.dimensions()[0].network->graph);
  ASSERT_TRUE(file.ok()) << file.status();
  FabricOptions options = PacketFabricOptions("flow_control=credit,credit=8300,skip=repeats");
  options.routing.routes = {std::make_shared<const RouteFile>(*file)};
  auto fabric = MakeMachine("packet", t, options);
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  for (const Flow& f : flows) (*fabric)->Start(f, Time::Zero());
  std::vector<FlowEnd> ended;
  for (Time n; (n = (*fabric)->NextEvent(Time::Never())) < Time::Never();) (*fabric)->AdvanceTo(n, &ended);
  EXPECT_LT(ended.size(), flows.size());
  EXPECT_THAT((*fabric)->WhyStuck(), HasSubstr("deadlock: ports wait for each other in a cycle"));
}

std::string Refused(const std::string& options, const std::function<void(FabricOptions*)>& change = nullptr) {
  FabricOptions o = PacketFabricOptions(options);
  if (change) change(&o);
  const auto fabric = MakeMachine("packet", Star(4, 25, Time::Nanos(500)), o);
  EXPECT_FALSE(fabric.ok()) << options;
  return std::string(fabric.status().message());
}

TEST(PacketSkip, RefusesUnfitOptions) {
  EXPECT_THAT(Refused("skip=repeats,spread=packet"), HasSubstr("expected skip=steady or skip=off"));
  EXPECT_THAT(Refused("skip=all",
                      [](FabricOptions* o) {
                        o->changes = {{Time::Micros(1), 0, 0.5}};
                      }),
              HasSubstr("expected skip=steady or skip=off"));
  EXPECT_THAT(Refused("skip=repeats,classes=3"), HasSubstr("classes is 3; expected 2 with skip=repeats"));
  EXPECT_THAT(Refused("skip=steady,series=10us"), HasSubstr("expected skip=off, or no series"));
  EXPECT_THAT(Refused("skip=steady", [](FabricOptions* o) { o->link_series = true; }), HasSubstr("series"));
  EXPECT_THAT(std::string(ParsePacketOptions("skip=some").status().message()),
              HasSubstr("off, steady, repeats"));
  for (const char* bad : {"skip_tolerance=0", "skip_tolerance=0.5"}) {
    EXPECT_THAT(std::string(ParsePacketOptions(bad).status().message()), HasSubstr("0.001 to 0.1")) << bad;
  }
  FabricOptions mixed = PacketFabricOptions("skip=all");
  mixed.Ask<PacketChoices>().any_of.resize(1);
  mixed.Ask<PacketChoices>().any_of[0].devices = {0};
  mixed.Ask<PacketChoices>().any_of[0].by_device = true;
  EXPECT_THAT(std::string(MakeMachine("mixed", Star(4, 25, Time::Nanos(500)), mixed).status().message()),
              HasSubstr("expected skip=off"));
}

// The other message goes on at a constant rate.
TEST(PacketSkip, ReportsMessagesAfterTheirConnectionEnds) {
  std::vector<TimedFlow> flows = Incast(2, 20'000'000);
  flows[0].flow.bytes = 2'000'000;
  flows[0].flow.delay = Time::Micros(300);
  std::vector<double> ends[2];  // us
  for (const bool steady : {false, true}) {
    auto fabric = MakeMachine("packet", Star(3, 50, Time::Nanos(300)),
                              PacketFabricOptions(steady ? "skip=steady" : ""));
    ASSERT_TRUE(fabric.ok()) << fabric.status();
    for (const FlowEnd& e : Drive(fabric->get(), flows)) ends[steady].push_back(e.at.seconds() * 1e6);
  }
  ASSERT_EQ(ends[0].size(), 2u);
  ASSERT_EQ(ends[1].size(), 2u);
  for (const size_t i : {0, 1}) EXPECT_NEAR(ends[1][i], ends[0][i], 0.01 * ends[0][i]);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
