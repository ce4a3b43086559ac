// Logs of collective calls: NCCL's Inspector and profiler example, and how ranks are joined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/trace/call_log_testing.h"
#include "trace/et/writer.h"
#include "trace/import/collective_logs/importer.h"
#include "trace/import/collective_logs/steps.h"
#include "trace/model/capture_info.h"
#include "trace/model/graph_builder.h"

namespace chakra::collective_logs::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Four ranks, two steps: an all-reduce of all, then a reduce-scatter of pairs, which rank 1 and 3 enter late.
LogFolder FourRanks(const std::string& name) {
  LogFolder folder(name);
  for (int r = 0; r < 4; ++r) {
    std::string log;
    for (int step = 0; step < 3; ++step) {
      const int64_t at = 1000000000 + step * 1000 + r;
      log += Print({.name = "World",
                    .rank = r,
                    .pid = 100 + r,
                    .sequence = static_cast<uint64_t>(step),
                    .micros = static_cast<uint64_t>(100 - r),
                    .start_us = at});
      const int64_t late = at + 200 + 10 * (r % 2) - r;
      log += Print({.id = absl::StrCat("0xa", r / 2),
                    .rank = r % 2,
                    .ranks = 2,
                    .pid = 100 + r,
                    .call = "ReduceScatter",
                    .sequence = static_cast<uint64_t>(step),
                    .bytes = 4096,
                    .micros = static_cast<uint64_t>(60 - 10 * (r % 2)),
                    .start_us = late});
    }
    folder.Add(absl::StrCat("node0-pid", 100 + r, ".log"), log);
  }
  return folder;
}

TEST(Inspector, MakesTracesWithGroupsSizesAndTimes) {
  const auto set = FourRanks("four").Read();
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->ranks.size(), 4u);
  EXPECT_THAT(set->groups.at("World"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(set->groups.at("0xa0"), ElementsAre(0, 1));
  EXPECT_THAT(set->groups.at("0xa1"), ElementsAre(2, 3));
  const Graph& g = *set->ranks[1].graph;
  std::vector<std::string> names;
  for (uint32_t row = 0; row < g.size(); ++row) names.emplace_back(g.name_of(row));
  EXPECT_THAT(names, ElementsAre("## process_group:init ##", "[capture window]", "[between calls]",
                                 "all_reduce", "[between calls]", "reduce_scatter", "[between calls]",
                                 "all_reduce", "[between calls]", "reduce_scatter", "[between calls]",
                                 "all_reduce", "[between calls]", "reduce_scatter"));
  // Rank 1 begins 1 us after rank 0; its all-reduce ends 99 us later; its next call comes 211 - 1 us after
  // the begin.
  EXPECT_EQ(g.start[3], Time::Micros(1));
  EXPECT_EQ(g.duration[3], Time::Micros(99));
  EXPECT_EQ(g.duration[4], Time::Micros(110));
  EXPECT_EQ(g.comm[0].bytes, 1u << 20);
  EXPECT_EQ(g.comm[1].bytes, 8192u);  // a member's part times the members
  // From the last arrival, rank 3's at 3 us, to the end at 100 us.
  EXPECT_EQ(g.transfer[0], Time::Micros(97));
  EXPECT_EQ(g.transfer[1], Time::Micros(50));
  EXPECT_TRUE(set->ranks[1].repairs.empty());
}

TEST(Inspector, FindsRepeatingSteps) {
  const auto set = FourRanks("steps").Read();
  ASSERT_TRUE(set.ok());
  const auto info = ReadCaptureInfo(set->ranks[0]);
  ASSERT_TRUE(info.ok() && info->has_value()) << info.status();
  ASSERT_EQ((*info)->steps.size(), 3u);
  EXPECT_EQ((*info)->steps[0].name, "step#0");
  EXPECT_EQ((*info)->window_end, Time::Micros(2000 + 200 + 60));
}

TEST(Inspector, KeepsRecordedTimeOfCallsWithoutPartners) {
  LogFolder folder("lost");
  for (int r = 0; r < 2; ++r) {
    std::string log;
    for (uint64_t k = 0; k < 4; ++k) {
      if (r == 1 && k == 1) continue;
      log += Print(
          {.rank = r, .ranks = 2, .pid = r, .sequence = k, .start_us = static_cast<int64_t>(1000 * (k + 1))});
    }
    folder.Add(absl::StrCat("h-pid", r, ".log"), log);
  }
  const auto set = folder.Read();
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->ranks[0].graph->comm.size(), 3u);
  ASSERT_EQ(set->ranks[0].repairs.size(), 1u);
  EXPECT_EQ(set->ranks[0].repairs[0].kind, "calls_without_partners");
  ASSERT_EQ(set->ranks[1].repairs.size(), 1u);
  EXPECT_EQ(set->ranks[1].repairs[0].kind, "calls_missing");
  EXPECT_EQ(set->ranks[1].repairs[0].count, 1u);
  uint32_t kept = 0;
  for (uint32_t row = 0; row < set->ranks[0].graph->size(); ++row)
    kept += set->ranks[0].graph->is_kept_comm(row);
  EXPECT_EQ(kept, 1u);
  ReadOptions strict;
  strict.strict = true;
  EXPECT_THAT(std::string(folder.Read(strict).status().message()),
              HasSubstr("calls_without_partners, 1 times"));
}

TEST(Inspector, ChainsCallsWithoutStartTimes) {
  LogFolder folder("untimed");
  for (int r = 0; r < 2; ++r) {
    folder.Add(absl::StrCat("h-pid", r, ".log"),
               Print({.rank = r, .ranks = 2, .pid = r, .sequence = 0, .micros = 70}) +
                   Print({.rank = r, .ranks = 2, .pid = r, .sequence = 1, .micros = 30}));
  }
  const auto set = folder.Read();
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->ranks[0].graph->size(), 4u);
  EXPECT_EQ(set->ranks[0].graph->start[3], Time::Micros(70));
  ASSERT_FALSE(set->warnings.empty());
  EXPECT_THAT(set->warnings.back(), HasSubstr("NCCL_INSPECTOR_DUMP_VERBOSE=1"));
}

TEST(Inspector, MatchesSendsWithReceives) {
  LogFolder folder("p2p");
  folder.Add("h-pid0.log",
             Print({.rank = 0, .ranks = 2, .pid = 0, .call = "Send", .start_us = 100, .peer = 1}) +
                 Print({.rank = 0, .ranks = 2, .pid = 0, .call = "Recv", .start_us = 100, .peer = 1}));
  folder.Add("h-pid1.log",
             Print({.rank = 1, .ranks = 2, .pid = 1, .call = "Recv", .start_us = 130, .peer = 0}) +
                 Print({.rank = 1, .ranks = 2, .pid = 1, .call = "Send", .start_us = 130, .peer = 0}));
  const auto set = folder.Read();
  ASSERT_TRUE(set.ok()) << set.status();
  const Graph& g = *set->ranks[0].graph;
  EXPECT_EQ(g.type[2], NodeType::kSend);
  EXPECT_EQ(g.type[3], NodeType::kRecv);
  EXPECT_EQ(set->ranks[0].peers[0].dst, 1);
  EXPECT_EQ(set->ranks[0].peers[1].src, 1);
  EXPECT_EQ(g.transfer[0], Time::Micros(70));  // the other came 30 us later
}

TEST(Inspector, AlignsClocksOfHosts) {
  LogFolder folder("clocks");
  for (int r = 0; r < 2; ++r) {
    std::string log;
    for (uint64_t k = 0; k < 5; ++k)
      log += Print({.rank = r,
                    .ranks = 2,
                    .host = absl::StrCat("node", r),
                    .pid = 7,
                    .sequence = k,
                    .start_us = static_cast<int64_t>(1000000 + 1000 * k) + 250000 * r});
    folder.Add(absl::StrCat("node", r, "-pid7.log"), log);
  }
  const auto set = folder.Read();
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->ranks[1].graph->start[2], Time::Zero());
  ASSERT_EQ(set->ranks[1].repairs.size(), 1u);
  EXPECT_EQ(set->ranks[1].repairs[0].kind, "clock_aligned");
}

TEST(Inspector, ReadsSeveralRanksOfOneProcess) {
  LogFolder folder("threads");
  std::string log;
  for (int r = 0; r < 2; ++r) log += Print({.rank = r, .ranks = 2, .start_us = 500});
  folder.Add("node0-pid100.log", log);
  const auto set = folder.Read();
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->ranks.size(), 2u);
}

TEST(Inspector, WarnsOfRanksWithoutLogs) {
  LogFolder folder("part");
  for (const int r : {2, 5})
    folder.Add(absl::StrCat("h-pid", r, ".log"), Print({.rank = r, .ranks = 8, .pid = r, .start_us = 10}));
  const auto set = folder.Read();
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->ranks.size(), 2u);
  EXPECT_EQ(set->ranks[1].recorded_rank, 5);
  EXPECT_THAT(set->groups.at("0x7f01"), ElementsAre(2, 3, 0, 4, 5, 1, 6, 7));
  EXPECT_THAT(set->warnings.back(), HasSubstr("8 ranks, 2 of them logged"));
  ReadOptions one;
  one.capture.ranks = {5};
  EXPECT_EQ(folder.Read(one)->ranks.size(), 1u);
  one.capture.ranks = {4};
  EXPECT_THAT(std::string(folder.Read(one).status().message()), HasSubstr("rank 4 was asked for"));
}

TEST(Inspector, RefusesBadFiles) {
  const std::string good = Print({.start_us = 77});
  const auto with = [&good](absl::string_view from, absl::string_view to) {
    EXPECT_TRUE(absl::StrContains(good, from)) << from;
    return absl::StrReplaceAll(good, {{from, to}});
  };
  const std::pair<std::string, const char*> kBad[] = {
      {with("v4.0", "v3.1"), "line 1, field inspector_output_format_version: \"v3.1\", expected v4.x"},
      {with("v4.0", ""), "expected v4.x"},
      {with("\"header\"", "\"Header\""), "field header: missing"},
      {with("\"metadata\"", "\"meta\""), "field metadata: missing"},
      {with("\"hostname\"", "\"host\""), "field hostname: missing"},
      {with("\"pid\":100", "\"pid\":-1"), "field pid: -1, expected 0"},
      {with("\"pid\":100", "\"pid\":\"100\""), "field pid: expected an integer"},
      {with("\"id\":\"0x7f01\"", "\"id\":7"), "field id: missing; expected text"},
      {with("\"n_ranks\":4", "\"n_ranks\":0"), "field n_ranks: 0, expected 1"},
      {with("\"n_ranks\":4", "\"n_ranks\":99999999"), "field n_ranks: 99999999, expected 1 to 4194304"},
      {with("\"rank\":0", "\"rank\":4"), "field rank: 4, expected 0 to 3"},
      {with("\"rank\":0", "\"rank\":-1"), "field rank: -1"},
      {with("\"rank\":0", "\"rank\":0.5"), "field rank: expected an integer"},
      {with("\"AllReduce\"", "\"AllReduceV9\""), "\"AllReduceV9\" is not a call of the Inspector"},
      {with("\"coll\":\"AllReduce\",", ""), "field coll: missing"},
      {with("\"coll_sn\":0", "\"coll_sn\":-3"), "field coll_sn: -3"},
      {with("\"coll_sn\":0,", ""), "field coll_sn: missing"},
      {with("\"coll_msg_size_bytes\":1048576", "\"coll_msg_size_bytes\":-1"),
       "field coll_msg_size_bytes: -1"},
      {with("\"coll_msg_size_bytes\":1048576", "\"coll_msg_size_bytes\":99999999999999999"), "expected 0 to"},
      {with("\"coll_exec_time_us\":100", "\"coll_exec_time_us\":9999999999999"),
       "field coll_exec_time_us: 9999999999999"},
      {with("\"coll_exec_time_us\":100", "\"coll_exec_time_us\":-1"), "field coll_exec_time_us: -1"},
      {with("\"coll_exec_time_us\":100,", ""), "field coll_exec_time_us: missing"},
      {with("\"kernel_start_ts\":77", "\"kernel_start_ts\":99999999999999999"),
       "field kernel_start_ts: 99999999999999999"},
      {with("\"kernel_stop_ts\":177,", ""), "field kernel_stop_ts: missing"},
      {with("\"kernel_events\":[{", "\"kernel_events\":[1,{"), "field kernel_events: expected objects"},
      {good.substr(0, good.size() / 2), "line 1: invalid JSON"},
      {good + "[\"inspector_output_format_version\"]\n" + good, "line 2: expected an object"},
      {good + "{broken}\n" + good, "line 2: invalid JSON"},
      {good + Print({.pid = 101}), "line 2, field pid: process 101 of node0, but the file begins with 100"},
      {good + Print({.ranks = 5}), "line 2, field n_ranks: 5, but an earlier line says"},
      {good + Print({.call = "Send", .peer = 4}), "line 2, field p2p_peer: 4, expected 0 to 3"},
      {Print({.rank = 0}) + Print({.rank = 1}) + Print({.id = "0x9", .rank = 0}),
       "expected one device for each process"},
  };
  for (const auto& [text, says] : kBad) EXPECT_THAT(ErrorOf(text, "bad.log"), HasSubstr(says));
  // A killed process leaves a last line that is cut short.
  std::vector<RankLog> logs;
  ASSERT_TRUE(ReadLog(good + good.substr(0, 200), "cut.log", &logs).ok());
  EXPECT_EQ(logs[0].calls.size(), 1u);
  EXPECT_EQ(logs[0].repairs[0].kind, "truncated_line");
}

// Objects over several lines, as `jq` writes them and as NCCL's documentation shows them.
TEST(Inspector, ReadsObjectsThatSpanLines) {
  const std::string plain = absl::StrCat(Print({.sequence = 0, .start_us = 77}),
                                         Print({.name = "a {\\\"b\\\"", .sequence = 1, .start_us = 99}),
                                         Print({.sequence = 2, .bytes = 64, .start_us = 200}));
  const auto over_lines = [](const std::string& text) {
    return absl::StrReplaceAll(text, {{"{\"", "{\n  \""}, {",\"", ",\n  \""}, {"}}", "}\n}"}});
  };
  const std::string laid = over_lines(plain);
  ASSERT_GT(std::count(laid.begin(), laid.end(), '\n'), 30);
  std::vector<RankLog> one, other;
  ASSERT_TRUE(ReadLog(plain, "plain.log", &one).ok());
  const absl::Status read = ReadLog(laid, "laid.log", &other);
  ASSERT_TRUE(read.ok()) << read;
  ASSERT_EQ(one.size(), other.size());
  ASSERT_EQ(one[0].calls.size(), 3u);
  ASSERT_EQ(other[0].calls.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const LogCall a = one[0].calls[i], b = other[0].calls[i];
    EXPECT_EQ(std::tie(a.sequence, a.bytes, a.start_ns, a.duration_ns),
              std::tie(b.sequence, b.bytes, b.start_ns, b.duration_ns));
  }
  const std::string first = over_lines(Print({.start_us = 77}));
  const auto lines = std::count(first.begin(), first.end(), '\n');
  EXPECT_THAT(ErrorOf(absl::StrCat(first, over_lines(Print({.rank = 9, .sequence = 1}))), "laid.log"),
              HasSubstr(absl::StrCat("laid.log: line ", lines + 1, ", field rank: 9")));
}

// The reader compares lines with earlier ones; here each line is also read as if it were the first.
TEST(Inspector, ReadsLinesByTemplatesOfEarlierLines) {
  std::vector<std::string> lines;
  for (int k = 0; k < 40; ++k) {
    const auto n = static_cast<uint64_t>(k);
    lines.push_back(Print({.sequence = n, .bytes = n << (n % 50), .micros = n * 7, .start_us = 1000 + k}));
    lines.push_back(Print({.call = "ReduceScatter", .sequence = n, .bytes = n % 3, .start_us = 2000 + k}));
    if (k % 5 == 0)
      lines.push_back(Print({.call = "Send", .sequence = n, .start_us = 10 * k + 10, .peer = 1 + k % 3}));
    if (k % 7 == 0) lines.push_back(Print({.sequence = n, .source = "kernel_cpu"}));
    if (k % 9 == 0)  // its channel was not seen
      lines.push_back(absl::StrReplaceAll(Print({.sequence = n, .start_us = 50}),
                                          {{"\"kernel_start_ts\":50", "\"kernel_start_ts\":0"}}));
  }
  const auto other = [&](absl::string_view from, absl::string_view to) {
    const std::string plain = Print({.sequence = 3, .start_us = 77});
    ASSERT_TRUE(absl::StrContains(plain, from)) << from;
    lines.push_back(absl::StrReplaceAll(plain, {{from, to}}));
  };
  other("1.5", "-2.5e-3");
  other("1.5", "\"no number\"");
  other("\"kernel_events\":[{\"channel_id\":0",
        "\"kernel_events\":[{\"kernel_start_ts\":70,\"kernel_stop_ts\":999},{\"channel_id\":0");
  other("\"kernel_start_ts\":77", "\"kernel_start_ts\":0");
  other("\"coll_sn\":3", "\"coll_sn\": 4");
  other("\"coll_sn\":3", "\"coll_sn\":5,\"coll_sn\":6");
  other("\"coll_sn\":3", "\"coll\\u005fsn\":7,\"coll_sn\":8");
  std::string all;
  for (const std::string& line : lines) all += line;
  std::vector<RankLog> together;
  const absl::Status read = ReadLog(all, "all.log", &together);
  ASSERT_TRUE(read.ok()) << read;
  ASSERT_EQ(together.size(), 1u);
  ASSERT_EQ(together[0].calls.size(), lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<RankLog> alone;
    ASSERT_TRUE(ReadLog(lines[i], "one.log", &alone).ok());
    const LogCall a = together[0].calls[i], b = alone[0].calls[0];
    EXPECT_EQ(a.line, i + 1);
    EXPECT_EQ(std::tie(a.start_ns, a.duration_ns, a.bytes, a.sequence, a.peer, a.op, a.timing, a.timed),
              std::tie(b.start_ns, b.duration_ns, b.bytes, b.sequence, b.peer, b.op, b.timing, b.timed))
        << lines[i];
  }
  // An error in a line that is nearly like an earlier line is reported as usual.
  const std::pair<absl::string_view, absl::string_view> kBad[] = {
      {"\"coll_sn\":39", "\"coll_sn\":039"},
      {"\"coll_sn\":39", "\"coll_sn\":-39"},
      {"\"coll_exec_time_us\":273", "\"coll_exec_time_us\":9999999999999"},
      {"\"coll_exec_time_us\":273", "\"coll_exec_time_us\":27.3"},
      {"\"kernel_start_ts\":1039", "\"kernel_start_ts\":99999999999999999"}};
  for (const auto& [from, to] : kBad) {
    const std::string line = absl::StrReplaceAll(
        Print({.sequence = 39, .bytes = 8, .micros = 273, .start_us = 1039}), {{from, to}});
    EXPECT_THAT(ErrorOf(absl::StrCat(lines[0], line, lines[1]), "bad.log"), HasSubstr("line 2")) << to;
  }
}

// Columns are built without frames, unless the options ask for frames.
TEST(CallLogs, ColumnsEqualThoseOfTheFrames) {
  LogFolder folder("columns");
  for (int r = 0; r < 4; ++r) {
    std::string log;
    for (uint64_t k = 0; k < 30; ++k) {
      if (r == 1 && k == 7) continue;  // rank 1 has no record of this call
      const auto at = static_cast<int64_t>(1000 + 400 * k + (k % 3) * static_cast<uint64_t>(r));
      log += Print({.name = "World",
                    .rank = r,
                    .pid = r,
                    .call = k % 4 == 0 ? "Broadcast" : "AllReduce",
                    .sequence = k,
                    .micros = k == 9 ? 700u : 200u,
                    .start_us = at});
      log += Print({.id = absl::StrCat("0xb", r / 2),
                    .rank = r % 2,
                    .ranks = 2,
                    .pid = r,
                    .call = "AllGather",
                    .sequence = k,
                    .bytes = k % 5 * 64,
                    .micros = 90,
                    .start_us = at + 150});
      log += Print({.id = absl::StrCat("0xb", r / 2),
                    .rank = r % 2,
                    .ranks = 2,
                    .pid = r,
                    .call = r % 2 == 0 ? "Send" : "Recv",
                    .sequence = k,
                    .micros = 20,
                    .start_us = at + 155,
                    .peer = 1 - r % 2});
    }
    folder.Add(absl::StrCat("h-pid", r, ".log"), log);
  }
  ReadOptions framed;
  framed.keep_raw = true;
  const auto direct = folder.Read(), frames = folder.Read(framed);
  ASSERT_TRUE(direct.ok() && frames.ok()) << direct.status() << frames.status();
  for (size_t r = 0; r < 4; ++r) {
    std::string bytes;
    EtWriter writer(&bytes, Compression::kNone);
    ASSERT_TRUE(WriteTrace(frames->ranks[r], &writer).ok());
    const auto decoded = DecodeTrace(bytes, "w.et", static_cast<int>(r), {});
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    const RankTrace &a = direct->ranks[r], &b = *decoded;
    EXPECT_TRUE(SameContent(*a.graph, *b.graph)) << r;
    EXPECT_EQ(a.graph->order, b.graph->order);
    EXPECT_EQ(a.graph->child, b.graph->child);
    EXPECT_EQ(a.group_names, b.group_names);
    EXPECT_EQ(a.metadata, b.metadata);
    EXPECT_EQ(a.repairs.size(), frames->ranks[r].repairs.size());
    ASSERT_EQ(a.peers.size(), b.peers.size());
    for (size_t i = 0; i < a.peers.size(); ++i) {
      const Peer &x = a.peers[i], &y = b.peers[i];
      EXPECT_EQ(std::tie(x.src, x.dst, x.tag, x.root, x.group),
                std::tie(y.src, y.dst, y.tag, y.root, y.group));
    }
  }
}

// Ranks that make the same calls at different times share all columns except the times.
TEST(CallLogs, RanksShareAllColumnsExceptTimes) {
  const auto set = FourRanks("shared").Read();
  ASSERT_TRUE(set.ok()) << set.status();
  const Graph &a = *set->ranks[1].graph, &b = *set->ranks[3].graph;
  EXPECT_NE(&a, &b);
  EXPECT_FALSE(a.start == b.start);
  EXPECT_TRUE(a.type.Shares(b.type) && a.dep.Shares(b.dep) && a.comm.Shares(b.comm) &&
              a.order.Shares(b.order));
  EXPECT_TRUE(set->ranks[1].peers.Shares(set->ranks[3].peers));
}

TEST(ProfilerPlugin, AlignsClocksOfProcesses) {
  LogFolder folder("plugin");
  for (int r = 0; r < 2; ++r) {
    std::vector<PluginCall> calls;
    const double shift = 123456.5 * r;
    for (uint64_t k = 0; k < 3; ++k) {
      const double at = 1000.0 * static_cast<double>(k) + shift;
      calls.push_back({.sequence = k,
                       .rank = r,
                       .start_us = at,
                       .stop_us = at + 100,
                       .kernel_start_us = at + 10 + 5 * r,
                       .kernel_stop_us = at + 90});
    }
    folder.Add(absl::StrCat("x_12345_", r, ".json"), PrintPlugin(calls, 4242 + r));
  }
  const auto set = folder.Read();
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->ranks.size(), 2u);
  const Graph &a = *set->ranks[0].graph, &b = *set->ranks[1].graph;
  EXPECT_EQ(a.comm[0].bytes, 4000u);
  EXPECT_EQ(a.duration[2], Time::Micros(80));
  EXPECT_EQ(b.start[3], Time::Micros(5));  // the ends of calls align the clocks
  EXPECT_EQ(a.transfer[0], Time::Micros(75));
}

TEST(ProfilerPlugin, JoinsFilesOfAProcessIntoOneRank) {
  LogFolder folder("plugin_files");
  for (int r = 0; r < 2; ++r) {
    folder.Add(absl::StrCat("x_1_", r, ".json"),
               PrintPlugin({{.hash = 1, .rank = r, .start_us = 10, .stop_us = 20}}, r + 1));
    folder.Add(absl::StrCat("x_2_", r, ".json"), PrintPlugin({{.call = r == 0 ? "Send" : "Recv",
                                                               .hash = 2,
                                                               .rank = 1 - r,
                                                               .peer = r,
                                                               .start_us = 40,
                                                               .stop_us = 50}},
                                                             r + 1));
  }
  const auto set = folder.Read();
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->ranks.size(), 2u);
  EXPECT_EQ(set->groups.size(), 2u);
  EXPECT_EQ(set->ranks[0].graph->comm.size(), 2u);
  EXPECT_EQ(set->ranks[0].repairs[0].kind, "calls_timed_by_host");
}

TEST(ProfilerPlugin, RefusesBadFiles) {
  const PluginCall call = {
      .rank = 1, .start_us = 10, .stop_us = 20, .kernel_start_us = 12, .kernel_stop_us = 18};
  const std::string good = PrintPlugin({call}, 7);
  const auto with = [&good](absl::string_view from, absl::string_view to) {
    EXPECT_TRUE(absl::StrContains(good, from)) << from;
    return absl::StrReplaceAll(good, {{from, to}});
  };
  const std::pair<std::string, const char*> kBad[] = {
      {with("\"CommHash\": 12345, ", ""), "field CommHash: missing"},
      {with("\"CommHash\": 12345", "\"CommHash\": -1"), "field CommHash"},
      {with("\"Rank\": 1", "\"Rank\": -1"), "field Rank: expected an integer of 0"},
      {with("\"Rank\": 1", "\"Rank\": 99999999"), "field Rank: expected an integer of 0"},
      {with("\"Rank\": 1, ", ""), "field Rank: missing"},
      {with("\"Count\": 1000", "\"Count\": -1"), "field Count"},
      {with("\"Count\": 1000", "\"Count\": 9999999999999999"), "field Count"},
      {with("\"Datatype\": \"ncclFloat32\"", "\"Datatype\": \"ncclQuark\""),
       "\"Quark\" is not a type of NCCL"},
      {with("\"Datatype\": \"ncclFloat32\"", "\"Datatype\": 4"), "field Datatype: missing"},
      {with("\"SeqNum\": 0", "\"SeqNum\": -2"), "field SeqNum"},
      {with("\"SeqNum\": 0, ", ""), "field SeqNum: missing"},
      {with("\"AllReduce\"", "\"Frobnicate\""), "\"Frobnicate\"; expected AllReduce"},
      {with("\"ts\": 12.000000", "\"ts\": -5"), "field ts: -5 us"},
      {with("\"ts\": 12.000000", "\"ts\": 1e300"), "field ts"},
      {with("\"ts\": 12.000000", "\"ts\": \"x\""), "field ts: missing"},
      {with("\"pid\": 7", "\"pid\": -7"), "field pid"},
      {with("\"ts\": 18.000000", "\"ts\": 99999999999999"), "a call of more than 10 days"},
      {with("\"cat\": \"COLL\", \"ph\": \"b\"", "\"cat\": \"COLL\", \"ph\": \"e\""),
       "a call ends that did not begin"},
      {with("\"cat\": \"COLL\", \"ph\": \"e\", \"id\": 0", "\"cat\": \"COLL\", \"ph\": \"e\", \"id\": 5"),
       "5 ends inside call 0"},
      {with("\"cat\": \"COLL\", \"ph\": \"e\"", "\"cat\": \"COLL\", \"ph\": \"b\""),
       "a call begins inside a call"},
      {with("\"cat\": \"COLL\", \"ph\": \"b\", \"id\": 0", "\"cat\": \"COLL\", \"ph\": \"b\", \"id\": -4"),
       "field id"},
      {with("\"ph\": \"b\", ", ""), "field ph"},
      {with("\"args\": {\"SeqNum\"", "\"brgs\": {\"SeqNum\""), "field args: missing"},
      {with("{\"name\": \"AllReduce\", \"cat\": \"COLL\"", "{\"nome\": \"AllReduce\", \"cat\": \"COLL\""),
       "field name"},
      {"[\n 3, {\"cat\": \"COLL\"}]", "byte 3: expected an object"},
      {"[{\"cat\": \"COLL\", }]", "byte 1"},
      {"[{}] \"cat\" \"COLL\"", "no event"},
      {"[\n] \"cat\" \"COLL\"", "no event"},
      {absl::StrCat("[\n", Print({.rank = 1, .stop_us = 1}, 0, 7), Print({.rank = 0, .stop_us = 1}, 1, 7),
                    "{}]"),
       "expected one rank for each file"},
  };
  for (const auto& [text, says] : kBad) {
    EXPECT_THAT(ErrorOf(text, "x_1_1.json"), HasSubstr(says));
  }
  std::vector<RankLog> logs;
  ASSERT_TRUE(ReadLog(good.substr(0, good.size() - 300), "cut.json", &logs).ok());
  EXPECT_EQ(logs[0].repairs[0].kind, "truncated_log");
}

TEST(CallLogs, RefusesLogsThatDoNotBelongTogether) {
  LogFolder twice("twice");
  twice.Add("a-pid1.log", Print({.rank = 0, .ranks = 2, .pid = 1}));
  twice.Add("b-pid2.log", Print({.rank = 0, .ranks = 2, .pid = 2}));
  EXPECT_THAT(std::string(twice.Read().status().message()),
              HasSubstr("are both logs of member 0 of group 0x7f01"));
  LogFolder sizes("sizes");
  sizes.Add("a-pid1.log", Print({.rank = 0, .ranks = 2, .pid = 1}));
  sizes.Add("b-pid2.log", Print({.rank = 1, .ranks = 3, .pid = 2}));
  EXPECT_THAT(std::string(sizes.Read().status().message()), HasSubstr("expected logs of one run"));
  LogFolder mixed("mixed");
  mixed.Add("a-pid1.log", Print({.rank = 0, .ranks = 2, .pid = 1}));
  mixed.Add("nccl_trace_rank_1", PrintPickle(FlightDump()));
  EXPECT_THAT(std::string(mixed.Read().status().message()), HasSubstr("expected the logs of one recorder"));
}

TEST(CallLogs, ShortestRepeatingPatternIsAStep) {
  const auto steps = [](const std::string& kinds) {
    LogCalls calls;
    for (const char k : kinds) {
      LogCall call;
      call.bytes = static_cast<uint64_t>(k);
      calls.push_back(call);
    }
    return FindSteps(calls);
  };
  EXPECT_THAT(steps("abcabcabc"), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(steps("xyabcabcabc"), ElementsAre(2, 5, 8, 11));
  EXPECT_THAT(steps("aaaa"), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_TRUE(steps("abcdefgh").empty());
  EXPECT_TRUE(steps("").empty());
  EXPECT_TRUE(steps("pqrstuvab").empty());
}

}  // namespace
}  // namespace chakra::collective_logs::CHAKRA_FILE
