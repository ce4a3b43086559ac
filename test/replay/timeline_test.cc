#include "replay/timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "replay/engine/causes/critical_path.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "test/replay/csv_testing.h"
#include "test/replay/engine_testing.h"
#include "test/replay/random_traces.h"
#include "test/replay/timeline_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr TimelineFormat kFormats[] = {TimelineFormat::kPerfetto, TimelineFormat::kChromeJson};

SeenTimeline Read(TimelineFormat format, const std::string& bytes) {
  return format == TimelineFormat::kPerfetto ? PerfettoReader(bytes).seen() : JsonReader(bytes).seen();
}

// A run and its timeline input, which points into the run.
struct TimedRun {
  TraceSet traces;
  NodeSpans spans;
  Metrics metrics;
  CriticalPath path;
  TimelineInput input;

  std::string Bytes(TimelineFormat format, TimelineTotals* totals = nullptr) const {
    std::string out;
    const auto written = WriteTimeline(input, format, Into(&out));
    EXPECT_TRUE(written.ok()) << written.status();
    if (written.ok() && totals != nullptr) *totals = *written;
    return out;
  }
  SeenTimeline Seen(TimelineFormat format, TimelineTotals* totals = nullptr) const {
    SeenTimeline seen = Read(format, Bytes(format, totals));
    EXPECT_THAT(seen.faults, IsEmpty());
    return seen;
  }
};

std::unique_ptr<TimedRun> Timed(const TraceBuilder& builder, EngineOptions options = {}) {
  auto run = std::make_unique<TimedRun>();
  auto traces = builder.Build();
  EXPECT_TRUE(traces.ok()) << traces.status();
  run->traces = *std::move(traces);
  options.spans = &run->spans;
  options.path = &run->path;
  auto fabric = *MakeMachine("analytical", Mesh(static_cast<int>(run->traces.ranks.size())), FabricOptions());
  auto metrics = Replay(run->traces, Recorded(run->traces), *fabric, options);
  if (!metrics.ok()) return nullptr;
  run->metrics = *std::move(metrics);
  run->input.traces = &run->traces;
  run->input.spans = &run->spans;
  run->input.metrics = &run->metrics;
  run->input.lanes = options.lanes;
  run->input.recorded_comm = options.recorded_comm;
  return run;
}

// Rank 1 computes for 1 us, rank 0 for 3; both reduce 100,000 bytes; rank 0 sends 50,000 to rank 1.
TraceBuilder TwoRanks() {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    et::Node& layer = b.Comp(r, r == 0 ? 3 : 1);
    layer.set_name("layer \"1\"\n");
    TraceBuilder::Int(&layer, "stream", 7);
    TraceBuilder::Int(&layer, "num_ops", 1000);
    b.Coll(r, CollectiveType::kAllReduce, 100000, {0});
  }
  b.Send(0, 1, 50000, 5, {1});
  b.Recv(1, 0, 50000, 5);
  return b;
}

TEST(Timeline, WritesOneNodeAsJson) {
  TraceBuilder b(1);
  b.Comp(0, 3);
  const auto run = Timed(b);
  EXPECT_EQ(run->Bytes(TimelineFormat::kChromeJson),
            R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":0,"name":"process_name","args":{"name":"rank 0"}},
{"ph":"M","pid":0,"name":"process_sort_index","args":{"sort_index":0}},
{"ph":"M","pid":0,"tid":1,"name":"thread_name","args":{"name":"compute"}},
{"ph":"M","pid":0,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"X","pid":0,"tid":1,"name":"n0","cat":"compute","ts":0,"dur":3,"args":{"node":0,"begin_ps":0,"duration_ps":3000000}}
]}
)");
}

// Communication of an unknown collective is shown without a partner. Its row in the graph's calls belongs to
// another node.
TEST(Timeline, UnknownCommunicationHasNoPartner) {
  TraceBuilder b = TwoRanks();
  for (int r = 0; r < 2; ++r) {
    for (int i = 0; i < 9; ++i) {
      et::Node& node = b.Comp(r, 4);
      node.set_name("ncclDevKernel_Generic");
      TraceBuilder::Int(&node, "stream", 20);
      TraceBuilder::Int(&node, "is_cpu_op", 0);
      TraceBuilder::Text(&node, "comm_kind", "unknown");
    }
  }
  const auto run = Timed(b);
  ASSERT_NE(run, nullptr);
  for (const TimelineFormat format : kFormats) {
    const SeenTimeline seen = run->Seen(format);
    int kept = 0;
    for (const SeenSlice& s : seen.slices) {
      if (s.name != "ncclDevKernel_Generic") continue;
      ++kept;
      EXPECT_EQ(s.category, "comm");
      EXPECT_EQ(s.values.at("collective"), "unknown");
      EXPECT_EQ(s.values.count("group"), 0u);
    }
    EXPECT_EQ(kept, 18);
  }
}

TEST(Timeline, WritesOneNodeAsProtobuf) {
  TraceBuilder b(1);
  b.Comp(0, 3);
  perfetto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(Timed(b)->Bytes(TimelineFormat::kPerfetto)));
  EXPECT_EQ(
      trace.ShortDebugString(),
      "packet { trusted_packet_sequence_id: 1 sequence_flags: 1 track_descriptor { uuid: 0 "
      "process_ordering: PROCESS_ORDERING_EXPLICIT } } "
      "packet { trusted_packet_sequence_id: 1 track_descriptor { uuid: 1 process { pid: 0 "
      "legacy_sort_index: 0 process_name: \"rank 0\" } child_ordering: EXPLICIT sibling_order_rank: 0 } } "
      "packet { trusted_packet_sequence_id: 1 track_descriptor { uuid: 2 name: \"compute\" "
      "parent_uuid: 1 sibling_order_rank: 1 } } "
      "packet { timestamp: 0 trusted_packet_sequence_id: 1 track_event { category_iids: 1 "
      "debug_annotations { name_iid: 1 uint_value: 0 } debug_annotations { name_iid: 2 uint_value: 0 } "
      "debug_annotations { name_iid: 3 uint_value: 3000000 } type: TYPE_SLICE_BEGIN name_iid: 1 "
      "track_uuid: 2 } interned_data { event_categories { iid: 1 name: \"compute\" } event_names { "
      "iid: 1 name: \"n0\" } debug_annotation_names { iid: 1 name: \"node\" } debug_annotation_names { "
      "iid: 2 name: \"begin_ps\" } debug_annotation_names { iid: 3 name: \"duration_ps\" } } "
      "sequence_flags: 2 } "
      "packet { timestamp: 3000 trusted_packet_sequence_id: 1 track_event { type: TYPE_SLICE_END "
      "track_uuid: 2 } sequence_flags: 2 }");
}

TEST(Timeline, ShowsWaitsAndArrows) {
  const auto run = Timed(TwoRanks());
  for (const TimelineFormat format : kFormats) {
    TimelineTotals totals;
    const SeenTimeline seen = run->Seen(format, &totals);
    EXPECT_THAT(seen.processes, ElementsAre(Pair(0, "rank 0"), Pair(1, "rank 1")));
    // Rank 1 posts its receive at once, during its collective.
    EXPECT_THAT(seen.tracks, ElementsAre(Pair(0, "stream 7"), Pair(0, "communication"), Pair(1, "stream 7"),
                                         Pair(1, "communication"), Pair(1, "communication (2)")));
    EXPECT_EQ(totals.ranks, 2u);
    EXPECT_EQ(totals.nodes, 6u);
    EXPECT_EQ(totals.arrows, 2u);
    EXPECT_EQ(totals.left_out, "");
    const auto nodes = seen.Nodes();
    ASSERT_EQ(nodes.size(), 6u);
    const SeenSlice& layer = seen.slices[nodes.at({0, "0"})];
    EXPECT_EQ(layer.name, "layer \"1\"\n");
    EXPECT_EQ(layer.category, "compute");
    EXPECT_EQ(layer.end, 3000);
    EXPECT_EQ(layer.values.at("operations"), "1000");
    const SeenSlice& reduce = seen.slices[nodes.at({1, "1"})];
    EXPECT_EQ(reduce.begin, 1000);
    EXPECT_EQ(reduce.values.at("collective"), "all_reduce");
    EXPECT_EQ(reduce.values.at("group"), "all ranks");
    EXPECT_EQ(reduce.values.at("algorithm"), "ring");
    EXPECT_EQ(reduce.values.at("bytes"), "100000");
    EXPECT_EQ(reduce.values.at("last_rank"), "0");
    EXPECT_EQ(reduce.values.at("wait_ps"), "2000000");
    EXPECT_THAT(seen.arrows, ::testing::UnorderedElementsAre(Pair(nodes.at({0, "1"}), nodes.at({1, "1"})),
                                                             Pair(nodes.at({0, "2"}), nodes.at({1, "2"}))));
    std::vector<std::string> waits;
    for (const SeenSlice& s : seen.slices) {
      if (s.category == "wait")
        waits.push_back(absl::StrCat(s.pid, " ", s.name, " ", s.begin, "-", s.end, " ", s.depth));
    }
    const int64_t sent = seen.slices[nodes.at({0, "2"})].begin;
    EXPECT_THAT(waits, ElementsAre(absl::StrCat("1 until rank 0 sends 0-", sent, " 1"),
                                   "1 until rank 0 arrives 1000-3000 1"));
  }
}

TEST(Timeline, ShowsChosenRanks) {
  auto run = Timed(TwoRanks());
  run->input.ranks = {1};
  for (const TimelineFormat format : kFormats) {
    TimelineTotals totals;
    const SeenTimeline seen = run->Seen(format, &totals);
    EXPECT_THAT(seen.processes, ElementsAre(Pair(1, "rank 1")));
    EXPECT_EQ(totals.nodes, 3u);
    EXPECT_THAT(seen.arrows, IsEmpty());  // they would come from rank 0
    EXPECT_EQ(seen.slices[seen.Nodes().at({1, "1"})].values.at("last_rank"), "0");
  }
  run->input.ranks = {1, 2};
  std::string out;
  const auto bad = WriteTimeline(run->input, TimelineFormat::kPerfetto, Into(&out));
  EXPECT_EQ(bad.status().message(), "the timeline cannot show rank 2: the traces have ranks 0 to 1");
  EXPECT_EQ(out, "");
}

TEST(Timeline, NotesNodesLeftOut) {
  TraceBuilder b(4);
  for (int r = 0; r < 4; ++r) {
    for (uint64_t i = 0; i < 10; ++i) b.Comp(r, 1);
  }
  auto run = Timed(b);
  const auto note = [&run](uint64_t most) {
    run->input.most_nodes = most;
    TimelineTotals totals;
    const SeenTimeline seen = run->Seen(TimelineFormat::kPerfetto, &totals);
    EXPECT_EQ(seen.slices.size(), totals.nodes);
    return totals.left_out;
  };
  EXPECT_EQ(note(0), "");
  EXPECT_EQ(note(40), "");
  EXPECT_EQ(
      note(39),
      "the timeline has 30 of 40 nodes, those of ranks 0 to 2; for the others: --timeline-ranks 3; for all "
      "at once: --timeline-nodes 0");
  run->input.ranks = {0, 2, 3};
  EXPECT_EQ(
      note(10),
      "the timeline has 10 of 30 nodes, those of rank 0; for the others: --timeline-ranks 2-3; for all at "
      "once: --timeline-nodes 0");
  EXPECT_THAT(note(7), HasSubstr("has 7 of 30 nodes, those of rank 0;"));
}

TEST(Timeline, LinksHaveCounters) {
  auto run = Timed(TwoRanks());
  LinkUses links;
  links.bucket = Time::Nanos(10);
  LinkUse use;
  use.link = 3;
  use.name = "a - \"b\"";
  use.series = {0.25f, 0.25f, 0, 1.0f};
  use.queued = {0, 4096, 4096};
  use.counts[0] = {0, 7, 0, 0};         // marks
  use.counts[5] = {0, 2500, 10000, 0};  // paused_ps
  links.busiest = {use};
  run->input.links = &links;
  for (const TimelineFormat format : kFormats) {
    TimelineTotals totals;
    const SeenTimeline seen = run->Seen(format, &totals);
    EXPECT_EQ(totals.samples, 13u);
    EXPECT_EQ(seen.processes.at(2), "links");
    EXPECT_THAT(
        seen.counters,
        ElementsAre(Pair("link 3, a - \"b\": marks", ElementsAre(Pair(0, 0), Pair(10, 7), Pair(20, 0))),
                    Pair("link 3, a - \"b\": paused",
                         ElementsAre(Pair(0, 0), Pair(10, 25), Pair(20, 100), Pair(30, 0))),
                    Pair("link 3, a - \"b\": queued", ElementsAre(Pair(0, 0), Pair(20, 4096))),
                    Pair("link 3, a - \"b\": taken",
                         ElementsAre(Pair(0, 25), Pair(20, 0), Pair(30, 100), Pair(40, 0)))));
  }
}

TEST(Timeline, AcceptsAnyBytesInNames) {
  TraceBuilder b(1);
  et::Node& node = b.Comp(0, 1);
  node.set_id(~uint64_t{0});
  node.set_name("tab\there \x01 \\ \"q\"");
  auto run = Timed(b);
  ASSERT_NE(run, nullptr);
  for (const TimelineFormat format : kFormats) {
    const SeenTimeline seen = run->Seen(format);
    ASSERT_EQ(seen.slices.size(), 1u);
    EXPECT_EQ(seen.slices[0].name, "tab\there \x01 \\ \"q\"");
    EXPECT_EQ(seen.slices[0].values.at("node"), "18446744073709551615");
  }
}

TEST(Timeline, CriticalPathComesFirst) {
  auto run = Timed(TwoRanks());
  run->input.path = &run->path;
  run->input.ranks = {1};
  for (const TimelineFormat format : kFormats) {
    const SeenTimeline seen = run->Seen(format);
    EXPECT_EQ(seen.processes.at(3), "critical path");
    int64_t at = 0;
    std::vector<std::string> names;
    for (const SeenSlice& s : seen.slices) {
      if (s.pid != 3) continue;
      EXPECT_EQ(s.begin, at);
      at = s.end;
      names.push_back(absl::StrCat(s.name, ", ", s.category, ", rank ", s.values.at("rank")));
    }
    EXPECT_EQ(at, run->metrics.makespan.picos() / 1000);
    EXPECT_THAT(names, ElementsAre("layer \"1\"\n, compute, rank 0", "all_reduce of all ranks, comm, rank 0",
                                   "message of rank 0, comm, rank 1"));
    EXPECT_THAT(run->Bytes(TimelineFormat::kChromeJson),
                HasSubstr("\"pid\":3,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":-1}"));
  }
}

// Times below a nanosecond do not overlap, and none is lost.
TEST(Timeline, PicosecondsKeepTheirOrder) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    for (int i = 0; i < 6; ++i) b.Coll(r, CollectiveType::kBarrier, 0);
  }
  auto run = Timed(b);
  const int64_t begins[] = {0, 300, 300, 700, 1100, 1100}, ends[] = {300, 700, 300, 1100, 2900, 1100};
  for (int r = 0; r < 2; ++r) {
    for (int i = 0; i < 6; ++i) run->spans[r][i] = {Time::Picos(begins[i]), Time::Picos(ends[i])};
  }
  for (const TimelineFormat format : kFormats) {
    const SeenTimeline seen = run->Seen(format);
    EXPECT_EQ(seen.tracks.size(), 2u);
    EXPECT_EQ(seen.Nodes().size(), 12u);
    for (const SeenSlice& s : seen.slices) EXPECT_EQ(s.depth, 0) << s.values.at("node");
  }
  EXPECT_THAT(run->Bytes(TimelineFormat::kChromeJson), HasSubstr("\"ts\":0.0011,\"dur\":0.0018,"));
}

// Each node is one slice with its times. Waits are inside slices. Arrows join the nodes of one call or
// message.
void Check(const TimedRun& run, const SeenTimeline& seen, const TimelineTotals& totals) {
  const auto nodes = seen.Nodes();
  EXPECT_EQ(nodes.size(), run.traces.nodes());
  EXPECT_EQ(seen.arrows.size(), totals.arrows);
  for (const RankTrace& trace : run.traces.ranks) {
    for (uint32_t row = 0; row < trace.graph->size(); ++row) {
      const SeenSlice& s = seen.slices[nodes.at({trace.rank, absl::StrCat(trace.graph->id[row])})];
      const NodeSpan& span = run.spans[trace.rank][row];
      EXPECT_EQ(s.depth, 0);
      EXPECT_EQ(s.begin, span.begin.picos() / 1000);
      EXPECT_EQ(s.values.at("begin_ps"), absl::StrCat(span.begin.picos()));
      EXPECT_EQ(s.values.at("duration_ps"), absl::StrCat((span.end - span.begin).picos()));
    }
  }
  Time on_path;
  for (const SeenSlice& s : seen.slices) {
    EXPECT_EQ(s.depth, s.category == "wait" ? 1 : 0);
    if (seen.processes.at(s.pid) != "critical path") continue;
    EXPECT_EQ(s.values.at("begin_ps"), absl::StrCat(on_path.picos()));
    on_path += Time::Picos(std::stoll(s.values.at("duration_ps")));
  }
  EXPECT_EQ(on_path, run.metrics.makespan);
  for (const auto& [a, b] : seen.arrows) {
    const SeenSlice &from = seen.slices[a], &to = seen.slices[b];
    ASSERT_EQ(from.category, "comm");
    ASSERT_EQ(to.category, "comm");
    EXPECT_LE(from.begin, to.end);
    EXPECT_EQ(from.values.at("bytes"), to.values.at("bytes"));
    if (from.values.count("call") > 0) {
      EXPECT_EQ(from.values.at("call"), to.values.at("call"));
      EXPECT_EQ(from.values.at("group"), to.values.at("group"));
      EXPECT_EQ(from.values.at("last_rank"), absl::StrCat(from.pid));
    } else {
      EXPECT_EQ(from.values.at("from"), absl::StrCat(from.pid));
      EXPECT_EQ(to.values.at("to"), absl::StrCat(to.pid));
    }
  }
}

TEST(Timeline, RandomRunsAreConsistent) {
  std::mt19937 random(8);
  size_t runs = 0, arrows = 0, waits = 0;
  for (int round = 0; round < 150; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 4);
    TraceBuilder builder = RandomTraces(random, ranks);
    AddRandomDelays(random, ranks, &builder);
    AddRandomTransfers(random, ranks, &builder);
    EngineOptions options = Lanes(static_cast<LanePolicy>(random() % 3));
    options.memory.bandwidth = Bandwidth::BytesPerSecond(1000000000);
    options.recorded_comm = random() % 4 == 0;
    const auto run = Timed(builder, options);
    if (run == nullptr) continue;  // it cannot finish
    ++runs;
    run->input.path = &run->path;
    for (const TimelineFormat format : kFormats) {
      TimelineTotals totals;
      const SeenTimeline seen = run->Seen(format, &totals);
      Check(*run, seen, totals);
      arrows += seen.arrows.size();
      for (const SeenSlice& s : seen.slices) waits += s.category == "wait";
      EXPECT_EQ(run->Bytes(format), run->Bytes(format));
      ASSERT_FALSE(HasFailure()) << "round " << round;
    }
  }
  EXPECT_THAT(runs, Gt(100u));
  EXPECT_THAT(arrows, Gt(500u));
  EXPECT_THAT(waits, Gt(200u));
}

TEST(Timeline, StopsAtFirstFailedWrite) {
  const auto run = Timed(TwoRanks());
  for (const TimelineFormat format : kFormats) {
    int calls = 0;
    const auto full = [&calls](absl::string_view) {
      ++calls;
      return absl::ResourceExhaustedError("disk full");
    };
    EXPECT_EQ(WriteTimeline(run->input, format, full).status().message(), "disk full");
    EXPECT_EQ(calls, 1);
  }
}

TEST(TimelineFormat, ChosenByFileName) {
  for (const char* name : {"a.perfetto-trace", "a.pftrace", "dir.json/a.pftrace.gz"})
    EXPECT_EQ(*TimelineFormatOf(name), TimelineFormat::kPerfetto) << name;
  for (const char* name : {"a.json", "a.json.gz"})
    EXPECT_EQ(*TimelineFormatOf(name), TimelineFormat::kChromeJson);
  EXPECT_EQ(
      TimelineFormatOf("a.json.zst").status().message(),
      "a.json.zst: viewers open .gz, not .zst; expected .perfetto-trace, .pftrace or .json, with or without "
      ".gz");
  EXPECT_THAT(std::string(TimelineFormatOf("a.txt").status().message()),
              AllOf(HasSubstr("a.txt: its ending"), HasSubstr("--timeline-format")));
  EXPECT_EQ(*ParseTimelineFormat("json"), TimelineFormat::kChromeJson);
  EXPECT_EQ(ParseTimelineFormat("chrome").status().message(), "\"chrome\", expected perfetto or json");
}

TEST(TimelineRanks, ParsesLists) {
  EXPECT_THAT(*ParseTimelineRanks("0-3,16"), ElementsAre(0, 1, 2, 3, 16));
  EXPECT_THAT(*ParseTimelineRanks("5,0-4/2,2"), ElementsAre(0, 2, 4, 5));
  for (const char* bad : {"", "3-1", "-1", "1,", "a", "0-3/0", "1 2", "0-99999999", "0-16777215,3"}) {
    EXPECT_THAT(std::string(ParseTimelineRanks(bad).status().message()), HasSubstr("expected")) << bad;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
