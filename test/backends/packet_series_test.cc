// The series of fabric `packet`: each event counts exactly once, in the bucket of its time.
#include <gtest/gtest.h>

#include <numeric>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "test/backends/mixed_testing.h"
#include "test/sanitized.h"

namespace chakra::CHAKRA_FILE {
namespace {

uint64_t Sum(const std::vector<uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), uint64_t{0});
}

// Expects that the sums of the buckets are the totals, and that a count of 0 has no series. Adds the totals
// to `seen`.
void ExpectWhole(const LinkUses& uses, std::array<uint64_t, LinkUse::kCounts>* seen) {
  for (const LinkUse& use : uses.busiest) {
    for (size_t k = 0; k < LinkUse::kCounts; ++k) {
      const std::string what = absl::StrCat(use.name, " ", kLinkCounts[k].name);
      const uint64_t total = use.*kLinkCounts[k].total;
      ASSERT_EQ(Sum(use.counts[k]), total) << what;
      ASSERT_EQ(use.counts[k].size(), total > 0 ? use.series.size() : 0) << what;
      (*seen)[k] += total;
    }
    const auto bucket = static_cast<uint64_t>(uses.bucket.picos());
    for (const uint64_t paused : use.counts[LinkUse::kCounts - 1]) ASSERT_LE(paused, bucket) << use.name;
  }
}

// All series of a link.
using Noted = std::tuple<uint32_t, std::vector<float>, std::vector<uint64_t>,
                         std::array<std::vector<uint64_t>, LinkUse::kCounts>>;
std::vector<Noted> NotedBy(const LinkUses& uses) {
  std::vector<Noted> noted;
  for (const LinkUse& use : uses.busiest) noted.push_back({use.link, use.series, use.queued, use.counts});
  return noted;
}

constexpr int kDevices = 16;
Topology Leaves() {
  return OfNetwork("leaf_spine:hosts_per_leaf=2,leaves=8,spines=4,link=400Gb/s", kDevices);
}

// Faults: a link that is down for a while, one that is slow, and two that lose packets.
FabricOptions Troubled(const Topology& t, const std::string& text) {
  FabricOptions o = PacketFabricOptions(absl::StrCat("timeout=100us,", text));
  o.changes = {{Time::Zero(), LinkOf(t, "leaf.2", "spine.2"), 1, 0.05},
               {Time::Zero(), LinkOf(t, "leaf.5", "device.10"), 1, 0.02},
               {Time::Micros(4), LinkOf(t, "leaf.0", "spine.1"), 0},
               {Time::Micros(5), LinkOf(t, "leaf.3", "spine.0"), 0.25},
               {Time::Micros(15), LinkOf(t, "leaf.0", "spine.1"), 1}};
  return o;
}
std::vector<TimedFlow> Load(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto flows = RandomFlows(kDevices, 60, 100000, &random);
  for (int i = 1; i < 8; ++i) {
    flows.push_back({Message(i, 0, 150000, flows.size()), flows.back().at});
  }
  return flows;
}

const char* const kOptions[] = {
    "mtu=1000,series=1us,transport=dcqcn,buffer=200KB,ecn_low=20KB,ecn_high=60KB,ecn_probability=0.3",
    "mtu=1000,series=700ns,transport=dctcp,buffer=4MB,flow_control=pfc,xoff=10KB,ecn_low=30KB,ecn_high=30KB",
    "series=2us,classes=3,buffer=4MB,flow_control=pfc,xoff=20KB",
    "mtu=1000,series=500ns,transport=hpcc,flow_control=credit,credit=9KB",
    "mtu=1000,series=100ns,transport=nscc,queue=30KB,trim=yes,ecn_low=5KB,ecn_high=20KB",
    "mtu=1000,series=1us,transport=swift,switching=cut_through,switch_latency=100ns,queue=40KB",
    "series=3us,spread=adaptive,paths=8,buffer=300KB",
};

TEST(PacketSeries, BucketsAddUpForAnyNumberOfThreads) {
  const Topology t = Leaves();
  std::array<uint64_t, LinkUse::kCounts> seen{};
  for (const char* text : kOptions) {
    for (const uint64_t seed : {1, 2}) {
      SCOPED_TRACE(absl::StrCat(text, " load ", seed));
      FabricOptions o = Troubled(t, text);
      const auto flows = Load(seed);
      std::vector<Noted> one;
      for (const int threads : {1, 2, 3}) {
        o.threads = threads;
        const PacketRun run(t, o, flows);
        ExpectAllReceived(flows, run.ended);
        const LinkUses uses = run.fabric->Links(1000);
        std::array<uint64_t, LinkUse::kCounts> of_run{};
        ExpectWhole(uses, &of_run);
        const PacketTotals c = run.counters();
        EXPECT_EQ(of_run, (std::array<uint64_t, LinkUse::kCounts>{c.marks, c.drops, c.lost, c.trims, c.pauses,
                                                                  of_run.back()}));
        for (size_t k = 0; k < seen.size(); ++k) seen[k] += of_run[k];
        if (threads == 1) one = NotedBy(uses);
        EXPECT_EQ(NotedBy(uses), one) << threads;
      }
    }
  }
  for (size_t k = 0; k < seen.size(); ++k) EXPECT_GT(seen[k], 100u) << kLinkCounts[k].name;
}

// At any time: in the middle of a bucket, of a window of the parts, or of a pause.
TEST(PacketSeries, BucketsAddUpDuringTheRun) {
  const Topology t = Leaves();
  for (const char* text : kOptions) {
    FabricOptions o = Troubled(t, text);
    o.threads = 2;
    std::array<uint64_t, LinkUse::kCounts> seen{};
    int looks = 0;
    PacketRun(t, o, Load(3), [&](Time, const PacketFabric& fabric) {
      if (++looks % (kSanitized ? 25 : 5) == 0) ExpectWhole(fabric.Links(1000), &seen);
    });
    EXPECT_GT(looks, 50) << text;
  }
}

// Compares the buckets with the counters of a fabric without series, read at the ends of the buckets.
TEST(PacketSeries, BucketsMatchCounters) {
  const Topology t = Star(9, 50, Time::Nanos(400));
  const Time bucket = Time::Nanos(1700);
  const auto flows = Incast(8, 200000);
  for (const char* text :
       {"buffer=2MB,flow_control=pfc,xoff=40KB,classes=3", "queue=60KB,ecn_low=9KB,ecn_high=30KB,ecn=yes",
        "transport=nscc,queue=150KB,trim=yes"}) {
    SCOPED_TRACE(text);
    FabricOptions o = PacketFabricOptions(absl::StrCat("timeout=30us,", text));
    o.changes = {{Time::Zero(), LinkOf(t, "switch", "device.0"), 1, 0.01}};
    PacketFabric plain(t, o);
    o.Ask<PacketOptions>().series = bucket;
    const PacketRun run(t, o, flows);
    const LinkUses uses = run.fabric->Links(1000);
    ASSERT_EQ(uses.bucket, bucket);
    for (const TimedFlow& f : flows) plain.Start(f.flow, f.at);
    std::vector<FlowEnd> ended;
    std::vector<std::array<uint64_t, LinkUse::kCounts>> before(uses.busiest.size());
    size_t buckets = 0;
    for (const LinkUse& use : uses.busiest) buckets = std::max(buckets, use.series.size());
    EXPECT_GT(buckets, 15u);
    for (size_t b = 0; b < buckets; ++b) {
      const Time end = bucket * static_cast<int64_t>(b + 1);
      plain.AdvanceTo(end - Time::Picos(1), &ended);
      const PacketNetwork& n = plain.network();
      for (size_t i = 0; i < uses.busiest.size(); ++i) {
        const uint32_t port = n.Find(uses.busiest[i].link);
        const PortInfo& p = n.info(port);
        // The last bucket ends with the run.
        const std::array<uint64_t, LinkUse::kCounts> now = {
            p.marks, p.drops, p.lost, p.trims, p.pauses, n.Paused(port, std::min(end, run.last).picos())};
        for (size_t k = 0; k < now.size(); ++k) {
          const auto& counts = uses.busiest[i].counts[k];
          ASSERT_EQ(b < counts.size() ? counts[b] : 0, now[k] - before[i][k])
              << uses.busiest[i].name << " " << kLinkCounts[k].name << " bucket " << b;
        }
        before[i] = now;
      }
    }
  }
}

// Merged buckets are equal to those of a run with wide buckets from the start.
TEST(PacketSeries, MergedBucketsKeepTheirSums) {
  const Topology t = Leaves();
  for (const char* text :
       {"mtu=1000,transport=dctcp,buffer=4MB,flow_control=pfc,xoff=10KB,ecn_low=30KB,ecn_high=30KB",
        "mtu=1000,transport=nscc,queue=30KB,trim=yes,ecn_low=5KB,ecn_high=20KB"}) {
    SCOPED_TRACE(text);
    auto flows = Load(4);
    // Flows long after the others, after a time without events.
    for (const int64_t micros : {300, 700, 1500}) {
      for (TimedFlow f : Incast(6, 100000)) {
        f.flow.tag = flows.size();
        flows.push_back({f.flow, Time::Micros(micros)});
      }
    }
    const auto noted = [&](int64_t nanos) {
      const PacketRun run(t, Troubled(t, absl::StrCat(text, ",series=", nanos, "ns")), flows);
      LinkUses uses = run.fabric->Links(1000);
      std::array<uint64_t, LinkUse::kCounts> seen{};
      ExpectWhole(uses, &seen);
      EXPECT_GT(Sum({seen.begin(), seen.end()}), 1000u);
      for (LinkUse& use : uses.busiest) use.queued.clear();  // a merged bucket keeps the largest value
      return std::pair(uses.bucket, NotedBy(uses));
    };
    const auto merged = noted(100);
    EXPECT_GE(merged.first, Time::Nanos(400));
    EXPECT_EQ(merged, noted(merged.first.picos() / 1000));
  }
}

// Queued bytes and pauses appear in all buckets, also in those without events.
TEST(PacketSeries, QueuesAndPausesFillIdleBuckets) {
  // A packet of the slow link takes 832 ns.
  const Topology t = Line({50, 5}, Time::Micros(40));
  const FabricOptions o = PacketFabricOptions(
      "series=100ns,transport=(window:bytes=20MB),buffer=30MB,flow_control=pfc,xoff=20KB");
  const PacketRun run(t, o, AtOnce({Message(0, 1, 64 * 4096, 0)}));
  std::array<uint64_t, LinkUse::kCounts> seen{};
  const LinkUses uses = run.fabric->Links(10);
  ExpectWhole(uses, &seen);
  ASSERT_EQ(uses.bucket, Time::Nanos(100));
  const uint32_t fast = LinkOf(t, "device.0", "switch"), slow = LinkOf(t, "switch", "device.1");
  for (const LinkUse& use : uses.busiest) {
    if (use.link == fast) {
      // The pause fills all buckets between its first and its last.
      const auto& paused = use.counts.back();
      EXPECT_EQ(use.pauses, 1u);
      EXPECT_GT(use.paused, 40000000u);
      const auto whole = static_cast<uint64_t>(std::count(paused.begin(), paused.end(), 100000));
      EXPECT_GE(whole, use.paused / 100000 - 1);
    } else if (use.link == slow) {
      // Packets wait from the arrival of the second, 83.2 ns after the first, until the last starts to leave.
      const auto waits = [](uint64_t bytes) { return bytes > 0; };
      const auto first = std::find_if(use.queued.begin(), use.queued.end(), waits);
      const auto last = std::find_if(use.queued.rbegin(), use.queued.rend(), waits).base();
      EXPECT_TRUE(std::all_of(first, last, waits));
      EXPECT_NEAR(static_cast<double>(last - first), 63 * 8.32 - 0.832, 1);
    }
  }
}

TEST(PacketSeries, MixedSeriesAddUp) {
  const Topology t = Leaves();
  for (const char* series : {"100ns", "1us", "30us"}) {
    FabricOptions o =
        Troubled(t, absl::StrCat("mtu=1000,buffer=4MB,flow_control=pfc,xoff=10KB,series=", series));
    o.link_series = true;
    o.Ask<PacketChoices>().any_of = {OfDevices(Range(0, 8))};
    const auto flows = Load(5);
    const Ran mixed("mixed", t, o, flows);
    ExpectAllReceived(flows, mixed.ended);
    std::array<uint64_t, LinkUse::kCounts> seen{};
    ExpectWhole(mixed.fabric->Links(1000), &seen);
    const PacketTotals c = mixed.fabric->Packets();
    EXPECT_EQ(seen, (std::array<uint64_t, LinkUse::kCounts>{c.marks, c.drops, c.lost, c.trims, c.pauses,
                                                            seen.back()}));
    EXPECT_GT(c.lost, 0u);
    EXPECT_GT(c.pauses, 0u);
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
