// The library's rings against closed forms, to the picosecond; the fast path against a simulation of each
// flow.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "replay/engine/price.h"
#include "replay/nccl/fast_path.h"
#include "replay/nccl/rates.h"
#include "test/replay/library_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;

// Nodes of 4 devices on links of 100 GB/s (10 ps a byte); a ring reaches 80 GB/s of them. Between nodes, 25
// GB/s (40 ps a byte).
std::string Nodes(int nodes, const std::string& more = "copy_gbytes_per_s: 10") {
  const bool several = nodes > 1;
  return "topology { dimension { kind: SWITCH size: " + std::to_string(several ? 4 : 8) +
         " bandwidth_gbytes_per_s: 100 latency_ns: 25 }" +
         (several ? " dimension { kind: SWITCH size: " + std::to_string(nodes) +
                        " bandwidth_gbytes_per_s: 25 latency_ns: 500 }"
                  : "") +
         "} collectives { library { generation: HOPPER channels: 4 chunk_bytes: 1048576 " + more +
         " level { link: NVLINK efficiency: 0.8 } " +
         (several ? "level { link: NET efficiency: 1 nic_latency_us: 0.5 }" : "") + " } }";
}

// `bytes` in equal parts over `nics` NICs, which together carry `rate`, in tenths of GB/s.
int64_t OnLink(int64_t bytes, int64_t nics, int64_t rate) {
  const int64_t part = (bytes + nics - 1) / nics;
  return (part * 10000 * nics + rate - 1) / rate;
}

int64_t Ceil(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct RingCase {
  const char* rule;
  int64_t base, step, network_step;  // ps; network: 2.7, 4, 14 us and the NIC's 0.5, twice for Simple
  int64_t rate;                      // tenths of GB/s on one node
  int64_t chunk;                     // bytes
  int64_t earns;                     // bytes that a channel must have, at 8 ranks
  double large;                      // ps that a step between nodes takes longer for large chunks
};

constexpr RingCase kCases[] = {
    {"ring/ll", 6600000, 600000, 3200000, 400, 32768, 8 * 8 * 512, 4.5e6},
    {"ring/ll128", 14000000, 1900000, 4500000, 736, 576000, 8 * 640, 20e6},
    {"ring/simple", 8400000, 3400000, 15000000, 800, 1048576, 64 * 512, 8e6},
};

struct Cut {
  int64_t parts, chunk, copy;  // ps
};

Cut CutOf(const RingCase& c, int64_t bytes) {
  const int64_t channels = std::clamp<int64_t>(bytes / c.earns, 1, 4);
  const int64_t parts = Ceil(bytes, c.chunk * channels * 8);
  const double copy = static_cast<double>(bytes) / 8 / static_cast<double>(parts) /
                      (10.0 * static_cast<double>(channels)) * 1000;
  const bool simple = std::string(c.rule) == "ring/simple";
  return {parts, Ceil(bytes, 8 * parts), simple ? std::llround(copy) : 0};
}

constexpr int64_t kSizes[] = {8, 1000, 65536, 1000003, 33554432, 100000001};

TEST(LibraryCosts, RingOnOneNodeMatchesClosedForm) {
  TestMachine m = MachineOf(ClusterText(Nodes(1)), 8);
  for (const RingCase& c : kCases) {
    for (const int64_t bytes : kSizes) {
      const auto of = [&](T type, int steps) {
        m.Force(type, c.rule);
        const int64_t buffer = type == T::kAllGather ? 8 * bytes : bytes;
        const Cut cut = CutOf(c, buffer);
        // The parts share one wait for each step; every part passes the links.
        const int64_t wait = std::llround(static_cast<double>(c.step) / static_cast<double>(cut.parts));
        const int64_t hop = wait + 2 * 25000 + OnLink(cut.chunk, 1, c.rate);
        const int64_t expected = c.base + cut.parts * (steps * hop + cut.copy);
        for (const bool fast : {true, false}) {
          EXPECT_EQ(CallPicos(m, type, static_cast<uint64_t>(bytes), fast), expected)
              << std::string(Name(type)) << " " << c.rule << " " << bytes << " " << fast;
        }
      };
      of(T::kAllReduce, 14);
      of(T::kReduceScatter, 7);
      of(T::kAllGather, 7);
    }
  }
}

// Two nodes of 4: 2 of the ring's 8 links are between nodes. A member's last part passes 14 x parts links.
// The slowest such run of links counts: whole turns of the ring, and in the rest as many links between nodes
// as fit.
TEST(LibraryCosts, RingOnTwoNodesMatchesClosedForm) {
  TestMachine m = MachineOf(ClusterText(Nodes(2)), 8);
  for (const RingCase& c : kCases) {
    for (const int64_t bytes : kSizes) {
      const Cut cut = CutOf(c, bytes);
      const bool ll = std::string(c.rule) == "ring/ll";
      // The node's 80 GB/s are less than the 4 x 25 of its NICs, which share each message. With LL a ring
      // over several nodes gets 0.36 of 40 GB/s. All parts share one wait for each step.
      const int64_t rate = ll ? 144 : c.rate;
      const auto wait = [&](double picos) {
        return std::llround(std::llround(picos) / static_cast<double>(cut.parts));
      };
      const int64_t hop = wait(static_cast<double>(std::max<int64_t>(c.step, ll ? 1000000 : 0))) + 2 * 25000 +
                          OnLink(cut.chunk, 1, rate);
      // On two nodes, one of two borders counts. A message of more than 16 KiB takes up to `large` longer.
      const double own = static_cast<double>(bytes) / 8;
      const double rise = own <= 16384 ? 0 : std::min(1.0, std::log2(own / 16384) / 3);
      const double step = (static_cast<double>(c.network_step) + c.large * rise) / 2;
      // In tenths of GB/s, a fourth on each NIC.
      const int64_t far = wait(step) + 2 * 500000 + OnLink(cut.chunk, 4, rate);
      // Ring neighbours on two nodes differ in both dimensions: 3 -> 4 is (3,0) -> (0,1).
      const int64_t across = far + 2 * 25000;
      const int64_t links = 14 * cut.parts, turns = links / 8, rest = links % 8;
      const int64_t network = 2 * turns + (rest > 4 ? 2 : rest > 0 ? 1 : 0);
      const int64_t expected =
          c.base + 4 * 1700000 + (links - network) * hop + network * across + cut.parts * cut.copy;
      for (const bool fast : {true, false}) {
        m.Force(T::kAllReduce, c.rule);
        EXPECT_NEAR(static_cast<double>(CallPicos(m, T::kAllReduce, static_cast<uint64_t>(bytes), fast)),
                    static_cast<double>(expected), static_cast<double>(links))
            << c.rule << " " << bytes;
      }
    }
  }
}

// A ring of protocol Simple on nodes of 8 H100, computed link by link. Base: 9.9 us, and 1.7 us for each
// member of a node. A step inside a node: 3.8 us and 50 ns. A step between nodes: 14 us, an addition for
// large chunks, and 1,050 ns. Rate: the node's 370.8 GB/s or the rate of its NICs; between nodes an eighth on
// each NIC. The copy uses 24 channels of 47.6 GB/s.
TEST(LibraryCosts, LongRingClosedFormEqualsFlows) {
  const uint64_t bytes = uint64_t{1} << 30;
  for (const int ranks : {64, 256, 1024, 16384}) {
    TestMachine m = Preset("dgx-h100", ranks);
    m.Force(T::kAllReduce, "ring/simple");
    const int64_t nodes = ranks / 8, steps = 2 * (ranks - 1);
    const int64_t parts = Ceil(static_cast<int64_t>(bytes), int64_t{2097152} * 24 * ranks);
    const int64_t links = parts * steps, turns = links / ranks, rest = links % ranks;
    const int64_t network = turns * nodes + Ceil(rest, 8);
    const int64_t chunk = Ceil(static_cast<int64_t>(bytes), parts * ranks);
    // 0.95 of the NICs' 397.48 GB/s; from 8 nodes on, 2 % more time for each doubling.
    const double crowding = 1 + 0.02 * std::max(0.0, std::log2(static_cast<double>(nodes) / 8));
    const double rate = std::min(370.8, 0.95 * 397.48 / crowding);
    // Large chunks take 8 us more. Messages of some KiB, on 24 channels, take another 1.7 us.
    const double own = static_cast<double>(bytes) / ranks;
    const double message = own / std::clamp(own / 4096, 1.0, 24.0);
    const double large = 8e6 * std::clamp(std::log2(own / 16384) / 3, 0.0, 1.0) +
                         1.7e6 * std::clamp(std::log2(message / 750) / 3, 0.0, 1.0);
    const auto wait = [&](double picos) {
      return std::llround(std::llround(picos) / static_cast<double>(parts));
    };
    // The time of a chunk: each path carries an equal part, at most at its share of the node's rate.
    const auto picos = [&](int64_t paths) {
      const auto part = static_cast<double>(Ceil(chunk, paths) * paths);
      return static_cast<int64_t>(std::ceil(part * 1000 / rate - 1e-6));
    };
    const int64_t copy =
        std::llround(static_cast<double>(bytes) / ranks / static_cast<double>(parts) / (24 * 47.6) * 1000);
    const double borders = 1 - 1.0 / static_cast<double>(nodes);
    const int64_t expected = 9900000 + 8 * 1700000 + (links - network) * (wait(3800000) + 50000 + picos(1)) +
                             network * (wait((14000000 + large) * borders) + 1050000 + picos(8)) +
                             parts * copy;
    const int64_t closed = CallPicos(m, T::kAllReduce, bytes);
    EXPECT_NEAR(static_cast<double>(closed), static_cast<double>(expected), 2.0 * static_cast<double>(links))
        << ranks;
    if (ranks > 1024) continue;
    EXPECT_EQ(CallPicos(m, T::kAllReduce, bytes, false), closed) << ranks;
  }
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t Of(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  bool Coin() { return Of(0, 1) == 1; }

 private:
  std::mt19937_64 engine_;
};

// One or two dimensions of random kinds, with or without a library.
TestMachine RandomMachine(Random& r, bool library) {
  proto::Cluster cluster;
  const bool two = r.Coin();
  const int sizes[] = {static_cast<int>(two ? r.Of(1, 8) : r.Of(2, 40)), static_cast<int>(r.Of(2, 5))};
  for (int d = 0; d < (two ? 2 : 1); ++d) {
    proto::Dimension* dim = cluster.mutable_topology()->add_dimension();
    dim->set_kind(static_cast<proto::Dimension::Kind>(r.Of(1, 3)));
    dim->set_size(sizes[d]);
    dim->set_bandwidth_bytes_per_s(r.Of(1000000000, d == 0 ? 900000000000 : 200000000000));
    dim->set_latency_ns(static_cast<double>(r.Of(0, 2000)));
  }
  proto::Collectives* c = cluster.mutable_collectives();
  if (r.Coin()) c->set_step_overhead_ns(static_cast<double>(r.Of(1, 500)));
  if (r.Coin()) c->set_reduce_gbytes_per_s(static_cast<double>(r.Of(100, 3000)));
  const int splits = static_cast<int>(r.Of(1, 5));
  if (!library) {
    c->set_splits(splits);
    return MachineOf(cluster, 2);
  }
  proto::CollectiveLibrary* l = c->mutable_library();
  l->set_generation(static_cast<proto::CollectiveLibrary::Generation>(r.Of(1, 4)));
  l->set_channels(static_cast<int>(r.Of(1, 32)));
  l->set_chunk_bytes(r.Of(1024, 2000000));
  if (r.Coin()) l->set_copy_gbytes_per_s(static_cast<double>(r.Of(1, 50)));
  for (int d = 0; d < (two ? 2 : 1); ++d) {
    proto::LibraryLevel* level = l->add_level();
    level->set_link(d == 0 ? proto::LibraryLevel::NVLINK : proto::LibraryLevel::NET);
    level->set_efficiency(static_cast<double>(r.Of(1, 100)) / 100);
    level->set_nic_latency_us(static_cast<double>(r.Of(0, 3)));
  }
  return MachineOf(cluster, 2);
}

// The fast path on random cases: uneven links, members in any order, sizes that do not divide, late members.
TEST(LibraryCosts, FastPathEqualsFlows) {
  int answered = 0, rings = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Random r(seed);
    const bool library = r.Coin();
    TestMachine m = RandomMachine(r, library);
    std::vector<int> members = m.All();
    if (r.Coin()) {
      for (size_t i = members.size() - 1; i > 0; --i) {
        std::swap(members[i], members[static_cast<size_t>(r.Of(0, static_cast<int64_t>(i)))]);
      }
    }
    members.resize(static_cast<size_t>(r.Of(2, static_cast<int64_t>(members.size()))));
    const T type = std::vector<T>{T::kAllReduce, T::kAllGather, T::kReduceScatter}[r.Of(0, 2)];
    const std::vector<std::string> names = AlgorithmsFor(type);
    std::string name = names[r.Coin() ? 0 : static_cast<size_t>(r.Of(0, 2))];
    if (library) {
      m.Force(type, name + std::vector<std::string>{"/ll", "/ll128", "/simple"}[r.Of(0, 2)]);
    } else {
      m.costs().algorithm[std::string(Name(type))] = name;
    }
    const auto n = static_cast<int64_t>(members.size());
    uint64_t bytes = static_cast<uint64_t>(r.Of(0, 2) > 0 ? r.Of(1, 3000000) : r.Of(0, 5000));
    if (r.Coin()) bytes *= static_cast<uint64_t>(n * m.costs().splits);  // so that chunks are equal
    std::vector<Time> begin(members.size());
    if (r.Of(0, 3) > 0) {
      for (Time& t : begin) t = Time::Picos(r.Of(0, 3000000000));
    }
    m.AnotherFabric("analytical");
    const RunResult closed = RunCall(m, type, bytes, members, begin, true);
    const auto closed_traffic = m.fabric->Traffic();
    m.AnotherFabric("analytical");
    const RunResult flows = RunCall(m, type, bytes, members, begin, false);
    ASSERT_EQ(closed.error, "");
    EXPECT_EQ(closed.end, flows.end) << closed.algorithm << " of " << bytes << " on " << n;
    EXPECT_EQ(flows.flows > 0, true);
    answered += closed.flows == 0 ? 1 : 0;
    rings += closed.flows == 0 && name == "ring" ? 1 : 0;
    const auto traffic = m.fabric->Traffic();
    for (size_t d = 0; d < traffic.size(); ++d) EXPECT_EQ(closed_traffic[d].bytes, traffic[d].bytes);
  }
  EXPECT_GT(answered, 200);
  EXPECT_GT(rings, 120);
}

// Members in blocks, in any order of blocks: all blocks have the same costs.
TEST(LibraryCosts, PeriodOfCostsFindsSymmetricBlocks) {
  int found = 0, refused = 0, alone = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random r(seed);
    TestMachine m = RandomMachine(r, r.Coin());
    const std::vector<TopologyDimension>& dims = m.fabric->topology().dimensions();
    const int inner = dims.size() > 1 ? dims[0].size : 1, blocks = dims.back().size;
    std::vector<int> order(static_cast<size_t>(blocks)), members;
    std::iota(order.begin(), order.end(), 0);
    if (r.Coin()) std::swap(order[0], order[static_cast<size_t>(r.Of(0, blocks - 1))]);
    if (r.Coin()) order.resize(static_cast<size_t>(r.Of(1, blocks)));
    const int taken = static_cast<int>(r.Of(1, inner));
    for (const int b : order) {
      for (int i = 0; i < taken; ++i) members.push_back(b * inner + i);
    }
    const size_t n = members.size();
    if (n < 2) continue;
    if (r.Of(0, 5) == 0)
      std::swap(members[0], members[static_cast<size_t>(r.Of(1, static_cast<int64_t>(n) - 1))]);
    const size_t period = PeriodOfCosts(*m.fabric, members);
    ASSERT_EQ(n % period, 0u);
    const auto cost = [&](size_t a, size_t b) {
      return m.fabric->Cost(members[a], members[b], 4096).received();
    };
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b < n; ++b) {
        ASSERT_EQ(cost(a, b), cost((a + period) % n, (b + period) % n)) << a << " to " << b << " of " << n;
        ASSERT_EQ(m.fabric->Level(members[a], members[b]),
                  m.fabric->Level(members[(a + period) % n], members[(b + period) % n]));
      }
    }
    found += period > 1 && period < n ? 1 : 0;
    alone += period == 1 ? 1 : 0;
    refused += period == n ? 1 : 0;
    const uint64_t bytes = static_cast<uint64_t>(r.Of(0, 3000)) * n * static_cast<uint64_t>(m.costs().splits);
    const T type = std::vector<T>{T::kAllToAll, T::kAllGather, T::kBarrier}[static_cast<size_t>(r.Of(0, 2))];
    const std::vector<Time> begin(n, Time::Nanos(r.Of(0, 1000)));
    m.AnotherFabric("analytical");
    const RunResult closed = RunCall(m, type, bytes, members, begin, true);
    const auto closed_traffic = m.fabric->Traffic();
    m.AnotherFabric("analytical");
    const RunResult flows = RunCall(m, type, bytes, members, begin, false);
    EXPECT_EQ(closed.end, flows.end) << closed.algorithm << " of " << bytes << " on " << n;
    const auto traffic = m.fabric->Traffic();
    for (size_t d = 0; d < traffic.size(); ++d) EXPECT_EQ(closed_traffic[d].bytes, traffic[d].bytes);
  }
  EXPECT_GT(found, 40);
  EXPECT_GT(alone, 40);
  EXPECT_GT(refused, 40);
}

// Calls are priced one after another. An earlier call does not change a later price.
TEST(LibraryCosts, EarlierCallsDoNotChangeThePrice) {
  TestMachine m = Preset("dgx-h100", 16);
  Time now;
  for (const T type : {T::kAllReduce, T::kAllToAll, T::kBroadcast, T::kAllReduce, T::kGather}) {
    const auto priced = PriceCall(*m.fabric, m.costs(), type, 1 << 20, 0, m.All(), &now);
    ASSERT_TRUE(priced.ok()) << priced.status();
    TestMachine fresh = Preset("dgx-h100", 16);
    EXPECT_EQ(priced->time.picos(), CallPicos(fresh, type, 1 << 20));
    EXPECT_EQ(*PriceUncontended(*m.fabric, m.costs(), type, 1 << 20, 0, m.All()), priced->time);
  }
}

// No algorithm is faster than its links allow, with any overlap.
TEST(LibraryCosts, NoAlgorithmIsFasterThanItsLinks) {
  const double bytes = 1 << 30;
  struct Bound {
    T type;
    double us;  // 450 GB/s: the bytes that must leave or reach some member
  };
  const double us = bytes / 450e3;
  for (const Bound& b :
       {Bound{T::kAllReduce, us}, Bound{T::kAllGather, us * 7 / 8}, Bound{T::kReduceScatter, us / 8},
        Bound{T::kAllToAll, us * 7 / 8}, Bound{T::kBroadcast, us}, Bound{T::kReduce, us},
        Bound{T::kGather, us * 7 / 8}, Bound{T::kScatter, us * 7 / 8}}) {
    for (const std::string& name : AlgorithmsFor(b.type)) {
      TestMachine m = Preset("dgx-h100", 8);
      m.Force(b.type, name);
      const bool grows = b.type == T::kAllGather || b.type == T::kGather;
      Time now;
      const auto priced = PriceCall(*m.fabric, m.costs(), b.type,
                                    static_cast<uint64_t>(grows ? bytes / 8 : bytes), 0, m.All(), &now);
      if (!priced.ok()) continue;  // needs several nodes or other switches
      EXPECT_GT(static_cast<double>(priced->time.picos()) * 1e-6, b.us) << std::string(Name(b.type)) << name;
    }
  }
}

// Broadcast and reduce on the library's ring: a chain of pieces. Pieces follow one another at the rate of a
// link, and the last piece passes n-1 hops.
TEST(LibraryCosts, BroadcastAndReduceRunAsChainOfPieces) {
  TestMachine m = MachineOf(ClusterText(Nodes(1)), 8);
  for (const T type : {T::kBroadcast, T::kReduce}) {
    m.Force(type, "ring/simple");
    // 64 MiB in pieces of at most 4 channels x 256 KiB: 64 of 1 MiB.
    const int64_t piece = OnLink(1048576, 1, 800);
    for (const int root : {0, 5}) {
      m.AnotherFabric("analytical");
      const RunResult run = RunCall(m, type, 67108864, m.All(), std::vector<Time>(8), true, root);
      ASSERT_EQ(run.error, "");
      EXPECT_EQ(run.algorithm, "ring/simple");
      const Time last = *std::max_element(run.end.begin(), run.end.end());
      EXPECT_EQ(last.picos(), 8400000 + 7 * (3400000 + 50000 + piece) + 63 * piece);
    }
  }
}

// The price of a call on an idle machine.
PricedCall IdlePrice(TestMachine& m, T type, uint64_t bytes) {
  Time now;
  const auto priced = PriceCall(*m.fabric, m.costs(), type, bytes, 0, m.All(), &now);
  EXPECT_TRUE(priced.ok()) << priced.status();
  return priced.ok() ? *priced : PricedCall();
}

double Us(Time t) { return static_cast<double>(t.picos()) * 1e-6; }

// The root of a broadcast writes all of the data at the rate of its channel, and does not wait. The others
// follow hop by hop; each hop waits for 4 KiB.
TEST(LibraryCosts, BroadcastRootDoesNotWaitForOthers) {
  TestMachine m =
      MachineOf(ClusterText(Nodes(1,
                                  "term { algorithm: \"ring\" protocol: \"ll\" base_us: 5 step_us: 1 "
                                  "channel_gbytes_per_s: 2 step_share: 0.5 }")),
                8);
  m.Force(T::kBroadcast, "ring/ll");
  const PricedCall call = IdlePrice(m, T::kBroadcast, 20000);
  ASSERT_EQ(call.channels, 1);
  const double wire = 2 * 20000 * 1e-5;           // us, data and flags, at 100 GB/s
  EXPECT_NEAR(Us(call.root_time), 5 + 10, 0.01);  // the wire is a part of the 10
  const double hop = 1 + 0.5 * 4096 / 2000.0 + 0.05;
  EXPECT_GE(Us(call.time), 5 + 10 + 7 * hop - wire);
  EXPECT_LE(Us(call.time), 5 + 10 + 7 * hop + wire);
}

// On a mesh the channels of a ring spread over all links: 7 of 64 GB/s.
TEST(LibraryCosts, MeshRingUsesAllLinks) {
  TestMachine m = MachineOf(
      ClusterText(
          "topology { dimension { kind: FULLY_CONNECTED size: 8 bandwidth_gbytes_per_s: 64 latency_ns: 50 } "
          "} "
          "collectives { library { generation: HOPPER channels: 112 level { link: NVLINK efficiency: 0.75 } "
          "term { algorithm: \"ring\" protocol: \"ll\" base_us: 5 step_us: 1 channel_gbytes_per_s: 2 } } }"),
      8);
  m.Force(T::kAllReduce, "ring/ll");
  const PricedCall call = IdlePrice(m, T::kAllReduce, 1 << 20);
  ASSERT_EQ(call.channels, 32);
  const double part = (1 << 20) / 8.0;
  EXPECT_NEAR(Us(call.time), 5 + part / (32 * 2e3) + 14 * (1 + 0.05 + 2 * part / (7 * 64e3)), 0.01);
}

// Between nodes, a direct exchange pays for each remote peer, for large messages, and to fill its pipeline.
TEST(LibraryCosts, DirectExchangePaysForRemotePeers) {
  const auto priced = [&](const std::string& transport, uint64_t bytes) {
    std::string text = Nodes(2);
    const std::string net = "link: NET efficiency: 1";
    text.insert(text.find(net) + net.size(), " transport { " + transport + " }");
    TestMachine m = MachineOf(ClusterText(text), 8);
    m.Force(T::kAllToAll, "direct/simple");
    return Us(IdlePrice(m, T::kAllToAll, bytes).time);
  };
  const double plain = priced("", 8000000);
  EXPECT_NEAR(priced("post_us: 1.5", 8000000) - plain, 4 * 1.5, 1e-3);
  EXPECT_NEAR(priced("post_us: 1.5 exchange_us: 6 small_exchange_us: 9 small_bytes: 1000", 8000000) - plain,
              4 * 1.5 + 6, 1e-3);
  EXPECT_NEAR(priced("exchange_us: 6 small_exchange_us: 9 small_bytes: 1000", 8000) - priced("", 8000), 9,
              1e-3);
  EXPECT_NEAR(priced("large_us: 7 large_bytes: 4096", 8000000) - plain, 7, 1e-3);
  // 1 MB for each of 4 peers at 25 GB/s; exchanges lose half of this rate.
  EXPECT_NEAR(priced("exchange_share: 0.5", 8000000) - plain, 4e6 / 25e3, 1e-2);
}

// A step waits while its data moves, once for all loops of the call. A copy has at most own_bytes.
TEST(LibraryCosts, StepWaitOverlapsData) {
  TestMachine m = MachineOf(
      ClusterText(Nodes(
          1,
          "term { algorithm: \"ring\" protocol: \"simple\" base_us: 5 step_us: 300 own_gbytes_per_s: 10 "
          "own_bytes: 1000000 step_overlaps: true }")),
      8);
  m.Force(T::kAllReduce, "ring/simple");
  const auto us = [&](uint64_t bytes) { return Us(IdlePrice(m, T::kAllReduce, bytes).time); };
  // The part of a member takes 400 us a step.
  const double rate = Rates(m.library(), m.Shape(m.All()), "ring").bus() * 1e3;
  const auto part = static_cast<uint64_t>(400 * rate);
  const double all = us(8 * part);
  EXPECT_NEAR(all, 5 + 14 * 500 + 100, 14 * 0.5);
}

// A term that repeats the library's own values changes no price, for any number of parts.
TEST(LibraryCosts, TermEqualToBuiltInChangesNothing) {
  for (const std::string rule : {"ring/simple", "ring/ll128", "ring/ll"}) {
    const std::string protocol = rule.substr(rule.find('/') + 1);
    for (const uint64_t bytes : {uint64_t{1000}, uint64_t{1} << 25, uint64_t{1} << 30}) {
      std::vector<int64_t> picos;
      for (const bool term : {false, true}) {
        const std::string text = "term { algorithm: \"ring\" protocol: \"" + protocol + "\" bus_share: 1 }";
        TestMachine m = MachineOf(ClusterText(Nodes(1, term ? text : "")), 8);
        m.Force(T::kAllReduce, rule);
        picos.push_back(CallPicos(m, T::kAllReduce, bytes));
      }
      EXPECT_EQ(picos[0], picos[1]) << rule << " " << bytes;
    }
  }
}

// Algorithms that depend on the library's release.
TEST(LibraryCosts, ReleaseChangesTheChoice) {
  const auto takes = [](const std::string& spec, T type, uint64_t bytes, int ranks = 8) {
    TestMachine m = Preset(spec, ranks);
    return IdlePrice(m, type, bytes).algorithm;
  };
  EXPECT_EQ(takes("dgx-h100", T::kAllReduce, 1 << 28), "nvls/simple");
  EXPECT_EQ(takes("dgx-h100:nccl=2.17", T::kAllReduce, 1 << 28), "nvls/simple");
  EXPECT_EQ(takes("dgx-h100:nccl=2.16", T::kAllReduce, 1 << 28), "ring/simple");
  EXPECT_EQ(takes("dgx-h100:nccl=2.12", T::kAllToAll, 1 << 10), "direct/ll");
  EXPECT_EQ(takes("dgx-h100:nccl=2.11.4", T::kAllToAll, 1 << 10), "direct/simple");
}

TEST(LibraryCosts, TrafficCountsPayloadOnly) {
  TestMachine m = Preset("dgx-h100", 8);
  m.Force(T::kAllReduce, "nvls");
  const RunResult run = RunCall(m, T::kAllReduce, 8 << 20, m.All(), std::vector<Time>(8), true);
  ASSERT_EQ(run.error, "");
  // B (1 + 1/n) in each direction on every member's link.
  EXPECT_EQ(m.fabric->Traffic()[0].bytes, 8u * 2 * ((8 << 20) + (1 << 20)));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
