// Recorded communication replayed rank by rank, against the event loop's result.
#include "replay/engine/recorded/recorded_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/registry.h"
#include "replay/compute/row_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/match/match.h"
#include "replay/engine/recorded/recorded_walk.h"
#include "replay/engine/spans.h"
#include "test/replay/trace_builder.h"
#include "trace/model/distinct_graphs.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using Kind = CollectiveType;

std::vector<ComputeTimes> RecordedTimes(const TraceSet& traces) {
  std::vector<ComputeTimes> times;
  for (const Graph* graph : DistinctGraphs(traces).graphs) times.emplace_back().time = graph->duration;
  return times;
}

EngineOptions Recorded(bool walks, int threads) {
  EngineOptions options;
  options.recorded_comm = true;
  options.fast_paths = walks;
  options.threads = threads;
  return options;
}

std::string Print(const RankMetrics& r) {
  std::string out = absl::StrCat(r.end.picos(), " ", r.compute_busy.picos(), " ", r.host_busy.picos(), " ",
                                 r.comm_busy.picos(), " ", r.exposed_comm.picos(), " ", r.idle.picos(), " ",
                                 r.nodes, " ", r.waited.picos(), " ", r.kept_waiting.picos());
  for (const Time t : r.exposed_of) absl::StrAppend(&out, " ", t.picos());
  return out;
}

// All results of a run, as text.
std::string Print(const Metrics& m, const NodeSpans& spans) {
  std::string out = absl::StrCat(m.makespan.picos(), " ", m.nodes, " ", m.invalid_nodes, " ", m.kept.nodes,
                                 " ", m.kept.time.picos(), "\n");
  for (const RankMetrics& r : m.ranks) absl::StrAppend(&out, Print(r), "\n");
  for (const auto& [key, c] : m.collectives) {
    absl::StrAppend(&out, key.first, " ", key.second, " ", c.ranks, " ", c.count, " ", c.bytes, " ",
                    c.time.picos(), " ", c.wait.picos(), " ", c.algorithm, "\n");
  }
  for (const auto* names : {&m.operators, &m.lanes}) {
    for (const NameMetrics& n : *names)
      absl::StrAppend(&out, n.name, " ", n.count, " ", n.time.picos(), "\n");
  }
  for (const std::string& w : m.warnings) absl::StrAppend(&out, w, "\n");
  for (const auto& rank : spans) {
    for (const NodeSpan& s : rank) absl::StrAppend(&out, s.begin.picos(), "-", s.end.picos(), " ");
  }
  return out;
}

class Traces {
 public:
  explicit Traces(const TraceBuilder& builder) : traces_(builder.Build()) {
    EXPECT_TRUE(traces_.ok()) << traces_.status();
    times_ = RecordedTimes(*traces_);
    TopologyDimension d;
    d.kind = TopologyDimension::Kind::kSwitch;
    d.size = static_cast<int>(traces_->ranks.size());
    d.bandwidth = Bandwidth::BytesPerSecond(1000);
    machine_ = *MakeMachine("analytical", *Topology::Make({d}), FabricOptions());
  }
  // With the event loop, or as Replay() chooses.
  std::string Replayed(bool walks, int threads) {
    NodeSpans spans;
    EngineOptions options = Recorded(walks, threads);
    options.spans = &spans;
    const absl::StatusOr<Metrics> metrics = Replay(*traces_, times_, *machine_, options);
    return metrics.ok() ? Print(*metrics, spans) : std::string(metrics.status().message());
  }
  absl::StatusOr<Metrics> Replayed(const EngineOptions& options) {
    return Replay(*traces_, times_, *machine_, options);
  }
  bool Walks(EngineOptions options = Recorded(true, 1)) {
    const absl::StatusOr<Matching> matching = MatchCommunication(*traces_, {}, true);
    EXPECT_TRUE(matching.ok()) << matching.status();
    const auto metrics = ReplayRecorded(*traces_, times_, options, *matching);
    EXPECT_TRUE(metrics.ok()) << metrics.status();
    return metrics.ok() && metrics->has_value();
  }

 private:
  absl::StatusOr<TraceSet> traces_;
  std::vector<ComputeTimes> times_;
  std::unique_ptr<Machine> machine_;
};

// Ranks that call on several groups and send messages, in one order, with computation between. Few distinct
// times, so that many ranks reach a call at one instant, in several rounds.
class RandomRanks {
 public:
  RandomRanks(uint32_t seed, int ranks, int steps) : random_(seed), ranks_(ranks), builder_(ranks) {
    std::vector<int> all;
    for (int r = 0; r < ranks; ++r) all.push_back(r);
    builder_.groups["all"] = all;
    for (int first = 0; first < ranks; first += 3) {
      for (int r = first; r < std::min(ranks, first + 3); ++r)
        builder_.groups[absl::StrCat("near", first)].push_back(r);
    }
    for (int r = 0; r < ranks; ++r) builder_.groups[absl::StrCat("far", r % 2)].push_back(r);
    for (int s = 0; s < steps; ++s) Step();
  }
  const TraceBuilder& builder() const { return builder_; }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  std::vector<uint64_t> Deps(int rank) {
    const uint64_t next = builder_.NextId(rank);
    std::vector<uint64_t> deps;
    for (int i = Below(3); i > 0 && next > 0; --i)
      deps.push_back(next - 1 - random_() % std::min<uint64_t>(next, 5));
    return deps;
  }
  void Compute(int rank) {
    for (int i = Below(3); i > 0; --i)
      TraceBuilder::Int(&builder_.Comp(rank, static_cast<uint64_t>(Below(4)), Deps(rank)), "stream",
                        Below(2));
  }
  void Time(et::Node* node) {
    node->set_duration_micros(static_cast<uint64_t>(Below(3)));
    if (Below(2) == 0) TraceBuilder::Int(node, "transfer_ns", 1000 * Below(2));
  }
  void Call(const std::string& group, int lane) {
    const Kind kind = Below(2) == 0 ? Kind::kAllReduce : Kind::kAllGather;
    const bool recorded = Below(4) > 0;  // on a stream
    for (const int r : builder_.groups[group]) {
      Compute(r);
      et::Node& node = builder_.Coll(r, kind, 1024, Deps(r), group);
      Time(&node);
      if (recorded) TraceBuilder::Int(&node, "stream", lane);
    }
  }
  void Message() {
    const int from = Below(ranks_), to = (from + 1 + Below(ranks_ - 1)) % ranks_;
    Compute(from);
    et::Node& send = builder_.Send(from, to, 64, 7, Deps(from));
    Time(&send);
    if (Below(3) == 0) {
      et::AttributeProto* eager = send.add_attr();
      eager->set_name("eager");
      eager->set_bool_val(true);
    }
    Compute(to);
    Time(&builder_.Recv(to, from, 64, 7, Deps(to)));
  }
  void Step() {
    const int kind = Below(6);
    if (kind == 0) return Call("all", 10);
    if (kind == 1) return Call(absl::StrCat("far", Below(2)), 11);
    if (kind < 4) return Call(absl::StrCat("near", 3 * Below((ranks_ + 2) / 3)), 12);
    Message();
  }
  std::mt19937 random_;
  int ranks_;
  TraceBuilder builder_;
};

TEST(RecordedRun, WalksEqualTheEventLoop) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    Traces run(RandomRanks(seed, 4 + static_cast<int>(seed % 7), 40).builder());
    ASSERT_TRUE(run.Walks()) << seed;
    const std::string expected = run.Replayed(false, 1);
    for (const int threads : {1, 2, 3, 16}) ASSERT_EQ(run.Replayed(true, threads), expected) << seed;
  }
}

// More rows than one batch holds, and calls with enough ranks for every thread.
TEST(RecordedRun, WalksOfManyRanksEqualTheEventLoop) {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    Traces run(RandomRanks(seed, 24, 400).builder());
    ASSERT_TRUE(run.Walks()) << seed;
    const std::string expected = run.Replayed(false, 1);
    for (const int threads : {1, 2, 3}) ASSERT_EQ(run.Replayed(true, threads), expected) << seed;
  }
}

// Each rank's spans are given once, from walks and from the event loop.
TEST(RecordedRun, GivesSpansOfEachRankOnce) {
  Traces run(RandomRanks(3, 9, 60).builder());
  for (const bool walks : {false, true}) {
    NodeSpans kept;
    std::vector<std::vector<NodeSpan>> given(9);
    EngineOptions options = Recorded(walks, 3);
    options.spans = &kept;
    ASSERT_TRUE(run.Replayed(options).ok());
    options.spans = nullptr;
    options.ran = [&](uint32_t rank, const std::vector<NodeSpan>& spans) {
      EXPECT_TRUE(given[rank].empty());
      given[rank] = spans;
    };
    ASSERT_TRUE(run.Replayed(options).ok());
    for (size_t r = 0; r < given.size(); ++r) {
      ASSERT_EQ(given[r].size(), kept[r].size());
      for (size_t i = 0; i < given[r].size(); ++i) {
        EXPECT_EQ(given[r][i].begin, kept[r][i].begin);
        EXPECT_EQ(given[r][i].end, kept[r][i].end);
      }
    }
  }
}

// On each rank, the second call waits for the first. The ranks make the two calls in opposite order.
TEST(RecordedRun, DeadlockGivesEventLoopError) {
  TraceBuilder builder(2);
  builder.groups = {{"a", {0, 1}}, {"b", {0, 1}}};
  for (const int r : {0, 1}) {
    for (const char* group : {r == 0 ? "a" : "b", r == 0 ? "b" : "a"}) {
      const uint64_t next = builder.NextId(r);
      et::Node& node =
          builder.Coll(r, Kind::kAllReduce, 8,
                       next > 0 ? std::vector<uint64_t>{next - 1} : std::vector<uint64_t>{}, group);
      node.set_duration_micros(1);
      TraceBuilder::Int(&node, "stream", group[0]);
    }
  }
  Traces run(builder);
  EXPECT_FALSE(run.Walks());
  EXPECT_THAT(run.Replayed(true, 2), HasSubstr("a"));
  EXPECT_EQ(run.Replayed(true, 2), run.Replayed(false, 1));
}

TEST(RecordedRun, UsesEventLoopIfWalksCannotRun) {
  const TraceBuilder good = RandomRanks(1, 4, 10).builder();
  EXPECT_TRUE(Traces(good).Walks());
  for (int what = 0; what < 3; ++what) {
    TraceBuilder builder = good;
    if (what == 0) builder.Comp(0, 1);  // on a queued lane
    if (what == 1) TraceBuilder::Delays(&builder.Coll(0, Kind::kBarrier, 0, {0}, "far0"), {5});
    if (what == 2) TraceBuilder::Int(&builder.Comp(0, 1), "stream", RecordedShape::kMostLanes);
    Traces run(builder);
    EXPECT_FALSE(run.Walks()) << what;
    EXPECT_EQ(run.Replayed(true, 2), run.Replayed(false, 1)) << what;
  }
  EngineOptions single = Recorded(true, 1);
  single.lanes = LanePolicy::kSingle;
  EXPECT_FALSE(Traces(good).Walks(single));
  EngineOptions late = Recorded(true, 1);
  late.start.assign(4, Time::Picos(5));
  EXPECT_FALSE(Traces(good).Walks(late));
}

// Writing a time does not change the graph's column.
TEST(RowTimes, AreCopiedOnWrite) {
  const NarrowColumn<Time> column = NarrowColumn<Time>::Narrow(std::vector<Time>(3000, Time::Nanos(7)));
  RowTimes times = column;
  const RowTimes same = times;
  times[5] = Time::Nanos(9);
  EXPECT_EQ(times.size(), 3000u);
  EXPECT_EQ(column[5], Time::Nanos(7));
  EXPECT_EQ(same[5], Time::Nanos(7));
  EXPECT_FALSE(times == same);
  times[5] = Time::Nanos(7);
  EXPECT_TRUE(times == same);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
