// The rank of each file of a capture.
#include "trace/import/pytorch/place_files.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"
#include "trace/import/pytorch/read_capture.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A rank's trace with a call on each of `groups` ("[0, 1]").
KinetoBuilder Rank(const std::vector<std::string>& groups = {}) {
  KinetoBuilder k;
  k.Op(1, "aten::mm", 0, 100'000).Launch(1, 10'000, 5'000, 7, "gemm", 20'000, 50'000);
  int64_t at = 200'000;
  for (const std::string& ranks : groups) {
    k.Launch(1, at, 5'000, 20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", at + 10'000, 50'000,
             CommArgs("allreduce", 1024, 1024, absl::StrCat("g", ranks), ranks, 2));
    at += 100'000;
  }
  return k;
}

struct Read {
  std::string ranks;  // "0 2", or the error
  std::string warnings;
};

Read ReadFolder(const CaptureFolder& folder, std::vector<std::string> rank_of = {}) {
  ReadOptions options;
  options.capture.rank_of = std::move(rank_of);
  const auto capture = ReadCapture({folder.path()}, options);
  if (!capture.ok()) return {std::string(capture.status().message()), ""};
  return {absl::StrJoin(capture->ranks, " ",
                        [&](std::string* s, const CaptureRank& r) {
                          absl::StrAppend(s, r.rank, "=", r.device_file.substr(folder.path().size() + 1));
                        }),
          absl::StrJoin(capture->report.warnings(), "\n")};
}

TEST(PlaceFiles, IgnoresNumbersBeyondTheJob) {
  const CaptureFolder folder;
  folder.Write("node_1700.json", Rank({"[0, 1]"}).Json());
  folder.Write("node_1701.json", Rank({"[0, 1]"}).Json());
  EXPECT_THAT(ReadFolder(folder).ranks, AllOf(HasSubstr("its rank is unknown"), HasSubstr("--rank-of")));
  EXPECT_EQ(ReadFolder(folder, {"node_1700=1", "node_1701=0"}).ranks, "0=node_1701.json 1=node_1700.json");
  EXPECT_EQ(ReadFolder(folder, {"170(\\d)"}).ranks, "0=node_1700.json 1=node_1701.json");
  EXPECT_THAT(ReadFolder(folder, {"host(\\d)"}).ranks, HasSubstr("no file's path matches"));
}

TEST(PlaceFiles, FindsTheOnlyRankInAllGroups) {
  const CaptureFolder folder;
  folder.Write("a.json", Rank({"[2, 3]", "[1, 3]"}).Json());
  folder.Write("b.json", Rank({"[0, 1]", "[0, 2]"}).Json());
  EXPECT_EQ(ReadFolder(folder).ranks, "0=b.json 3=a.json");
}

TEST(PlaceFiles, StagesOfAServerAreSeparateRuns) {
  const CaptureFolder folder;
  for (const char* stage : {"DECODE", "EXTEND"}) {
    for (const int r : {0, 1})
      folder.Write(absl::StrCat(stage, "/1761.5-TP-", r, "-", stage, ".trace.json"), Rank().Json());
  }
  EXPECT_THAT(ReadFolder(folder).ranks,
              AllOf(HasSubstr("two device traces for rank 0"), HasSubstr("DECODE"), HasSubstr("EXTEND")));
  const CaptureFolder one;
  for (const int r : {0, 1}) one.Write(absl::StrCat("1761.5-TP-", r, "-DECODE.trace.json"), Rank().Json());
  EXPECT_EQ(ReadFolder(one).ranks, "0=1761.5-TP-0-DECODE.trace.json 1=1761.5-TP-1-DECODE.trace.json");
}

TEST(PlaceFiles, TakesRanksFromFoldersIfNamesHaveNone) {
  const std::string file = "/ASCEND_PROFILER_OUTPUT/trace_view.json";
  const CaptureFolder npus;
  npus.Write("rank1_ascend_pt" + file, Rank().Json());
  EXPECT_EQ(ReadFolder(npus).ranks, absl::StrCat("1=rank1_ascend_pt", file)) << "one alone";
  npus.Write("rank0_ascend_pt" + file, Rank().Json());
  EXPECT_EQ(ReadFolder(npus).ranks, absl::StrCat("0=rank0_ascend_pt", file, " 1=rank1_ascend_pt", file));

  const CaptureFolder places;
  for (const char* place : {"pp0/tp0", "pp0/tp1", "pp1/tp0", "pp1/tp1"})
    places.Write(absl::StrCat(place, "/kineto.json"), Rank().Json());
  EXPECT_EQ(ReadFolder(places).ranks,
            "0=pp0/tp0/kineto.json 1=pp0/tp1/kineto.json 2=pp1/tp0/kineto.json 3=pp1/tp1/kineto.json");

  const CaptureFolder numbers;  // "rank" counts more than a number at the end
  for (const char* name : {"rank0/step_10.json", "rank1/step_10.json"}) numbers.Write(name, Rank().Json());
  EXPECT_EQ(ReadFolder(numbers).ranks, "0=rank0/step_10.json 1=rank1/step_10.json");

  const CaptureFolder own;  // a name of its own counts more than a folder's
  for (const char* name : {"worker5/rank0.json", "worker6/rank1.json"}) own.Write(name, Rank().Json());
  EXPECT_EQ(ReadFolder(own).ranks, "0=worker5/rank0.json 1=worker6/rank1.json");
}

TEST(PlaceFiles, IgnoresAFolderOfAllFiles) {
  const CaptureFolder folder;
  for (const char* name : {"rank7/a.json", "rank7/b.json"}) folder.Write(name, Rank().Json());
  EXPECT_THAT(ReadFolder(folder).ranks, HasSubstr("its rank is unknown"));
}

TEST(PlaceFiles, IgnoresRanksThatRestartInEachReplica) {
  const CaptureFolder folder;
  for (const int dp : {0, 1}) {
    for (const int tp : {0, 1})
      folder.Write(absl::StrCat("dp", dp, "_pp0_tp", tp, "_ep0_rank", tp, ".pt.trace.json"), Rank().Json());
  }
  EXPECT_EQ(ReadFolder(folder).ranks,
            "0=dp0_pp0_tp0_ep0_rank0.pt.trace.json 1=dp0_pp0_tp1_ep0_rank1.pt.trace.json "
            "2=dp1_pp0_tp0_ep0_rank0.pt.trace.json 3=dp1_pp0_tp1_ep0_rank1.pt.trace.json");
}

TEST(PlaceFiles, LeavesOutFrontEndsOfRuns) {
  const CaptureFolder folder;
  const std::string front = KinetoBuilder().Op(1, "aten::zeros", 0, 10'000).Json();
  folder.Write("front_9.json", front);
  EXPECT_EQ(ReadFolder(folder).ranks, "0=front_9.json");
  folder.Write("rank0.json", Rank({"[0, 1]"}).Json());
  folder.Write("rank1.json", Rank({"[0, 1]"}).Json());
  const Read read = ReadFolder(folder);
  EXPECT_EQ(read.ranks, "0=rank0.json 1=rank1.json");
  EXPECT_THAT(read.warnings, AllOf(HasSubstr("front_9.json"), HasSubstr("left out")));
}

TEST(PlaceFiles, CaptureOfGraphsBelongsToTheOnlyRank) {
  KinetoBuilder capture;
  capture.Op(1, "aten::mm", 0, 100'000).Call(1, "cudaStreamBeginCapture", 1'000, 1'000, 1);
  capture.Call(1, "cudaLaunchKernel", 10'000, 5'000, 2).Call(1, "cudaStreamEndCapture", 20'000, 1'000, 3);
  const CaptureFolder folder;
  folder.Write("graphs.json", capture.Json());
  folder.Write("run.json", Rank().Json());
  EXPECT_EQ(ReadFolder(folder).ranks, "0=run.json");
  const CaptureFolder two;
  two.Write("graphs.json", capture.Json());
  two.Write("rank0.json", Rank().Json());
  two.Write("rank1.json", Rank().Json());
  const Read read = ReadFolder(two);
  EXPECT_EQ(read.ranks, "0=rank0.json 1=rank1.json");
  EXPECT_THAT(read.warnings, AllOf(HasSubstr("graphs.json"), HasSubstr("its rank is unknown")));
}

// Two ranks in one file. `label`: the text for process `pid` of rank `r`.
std::string Merged(std::string (*label)(int r, int pid)) {
  std::string events;
  for (const int r : {0, 1}) {
    std::string json = Rank({"[0, 1]"}).Json();
    json = absl::StrReplaceAll(json, {{"\"pid\":1,", absl::StrCat("\"pid\":", label(r, 10 + r), ",")},
                                      {"\"pid\":0,", absl::StrCat("\"pid\":", label(r, r), ",")},
                                      {"\"device\":0", absl::StrCat("\"device\":", r)}});
    const size_t begin = json.find('[') + 1, end = json.rfind(']');
    absl::StrAppend(&events, events.empty() ? "" : ",", json.substr(begin, end - begin));
  }
  return absl::StrCat("{\"baseTimeNanoseconds\":", KinetoBuilder::kBase, ",\"traceEvents\":[", events, "]}");
}

TEST(PlaceFiles, LabelledProcessesOfOneFileAreRanks) {
  const CaptureFolder folder;
  folder.Write("m.json",
               Merged([](int r, int pid) { return absl::StrCat("\"[TP0", r, "-PP00] ", pid, "\""); }));
  const Read read = ReadFolder(folder);
  EXPECT_EQ(read.ranks, "0=m.json 1=m.json");
  EXPECT_THAT(read.warnings, HasSubstr("has 2 ranks"));
  EXPECT_EQ(ReadFolder(folder, {"\\[TP0(\\d)"}).ranks, "0=m.json 1=m.json") << "labels count by hand, too";
  folder.Write("m.json", Merged([](int r, int pid) { return absl::StrCat("\"rank ", r, ": ", pid, "\""); }));
  EXPECT_EQ(ReadFolder(folder).ranks, "0=m.json 1=m.json");
}

TEST(PlaceFiles, LeavesOutUnlabelledAmongLabelledProcesses) {
  std::string json = Merged([](int r, int pid) { return absl::StrCat("\"[TP0", r, "] ", pid, "\""); });
  json = absl::StrReplaceAll(
      json, {{"\"traceEvents\":[",
              "\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":9,\"tid\":1,"
              "\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"name\":\"?\",\"pid\":9,\"tid\":1,\"ts\":2},"}});
  const CaptureFolder folder;
  folder.Write("m.json", json);
  const Read read = ReadFolder(folder);
  EXPECT_EQ(read.ranks, "0=m.json 1=m.json");
  EXPECT_THAT(read.warnings, HasSubstr("m.json: processes with no label: left out"));
  MemorySource source(json);
  std::vector<RankPart> parts;
  ASSERT_TRUE(ReadKineto(&source, "m.json", &parts).ok());
  ASSERT_EQ(parts.size(), 3u);
  uint64_t unknown = 0;
  for (const RankPart& part : parts) unknown += part.device->unknown_events;
  EXPECT_EQ(unknown, 1u) << "counted once";
}

TEST(PlaceFiles, RefusesUnlabelledProcessesOfSeveralRanks) {
  const CaptureFolder folder;
  folder.Write("m.json", Merged([](int, int pid) { return absl::StrCat(pid); }));
  EXPECT_THAT(ReadFolder(folder).ranks, AllOf(HasSubstr("several ranks in one file"),
                                              HasSubstr("processes 10, 11"), HasSubstr("devices 0, 1")));
}

// Two ranks of processes 10 and 11 in one file, which launch on devices 0 and 1. Processes of devices are
// `device_pid` + r; `names`: of processes ("10" is "rank0 x").
std::string MergedWithNames(const std::vector<std::pair<int, std::string>>& names,
                            int correlations_apart = 100, int device_pid = 0, int devices_apart = 1) {
  std::string json = Merged([](int r, int pid) { return absl::StrCat(pid < 10 ? 1000 + r : pid); });
  const size_t second = json.find("\"pid\":11,");
  std::string first = json.substr(0, second), rest = json.substr(second);
  for (int c = 9; c > 0; --c)
    rest = absl::StrReplaceAll(rest, {{absl::StrCat("\"correlation\":", c),
                                       absl::StrCat("\"correlation\":", c + correlations_apart)}});
  rest = absl::StrReplaceAll(rest, {{"\"device\":1", absl::StrCat("\"device\":", devices_apart)}});
  json = first + rest;
  for (const int r : {0, 1})
    json = absl::StrReplaceAll(
        json, {{absl::StrCat("\"pid\":", 1000 + r), absl::StrCat("\"pid\":", device_pid + r)}});
  std::string metadata;
  for (const auto& [pid, name] : names)
    absl::StrAppend(&metadata, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":", pid,
                    ",\"tid\":0,\"args\":{\"name\":\"", name, "\"}},");
  return absl::StrReplaceAll(json, {{"\"traceEvents\":[", absl::StrCat("\"traceEvents\":[", metadata)}});
}

TEST(PlaceFiles, NamesOfProcessesLabelTheirRanks) {
  using Names = std::vector<std::pair<int, std::string>>;
  for (const Names& names :
       {Names{{10, "[TP00] 1001"}, {11, "[TP01] 1002"}}, Names{{10, "[Rank 0] 10"}, {11, "[Rank 1] 11"}},
        Names{{10, "python"}, {10, "rank 0: python"}, {11, "rank 1: python"}},
        Names{{10, "rank0 python"}, {11, "rank1 python"}},
        Names{{10, "VLLM::Worker_TP0"}, {11, "VLLM::Worker_TP1"}},
        Names{{0, "[rank0] GPU 0"}, {1, "[rank1] GPU 1"}}}) {
    const CaptureFolder folder;
    folder.Write("m.json", MergedWithNames(names));
    const Read read = ReadFolder(folder);
    EXPECT_EQ(read.ranks, "0=m.json 1=m.json") << names[0].second;
    EXPECT_THAT(read.warnings, HasSubstr("distinguished by the labels of their processes"))
        << names[0].second;
  }
  // Ranks of two hosts, whose devices have the same number.
  const CaptureFolder hosts;
  hosts.Write("m.json", MergedWithNames({{10, "rank0 x"}, {11, "rank1 x"}}, 100, 100000, 0));
  EXPECT_EQ(ReadFolder(hosts).ranks, "0=m.json 1=m.json");
  // Names of devices give the ranks that correlations do not.
  const CaptureFolder same_device;
  same_device.Write(
      "m.json",
      MergedWithNames({{10, "rank0 x"}, {11, "rank1 x"}, {0, "rank0 GPU 0"}, {1, "rank1 GPU 1"}}, 0));
  EXPECT_EQ(ReadFolder(same_device).ranks, "0=m.json 1=m.json");
  same_device.Write("m.json", MergedWithNames({{10, "rank0 x"}, {11, "rank1 x"}}, 0));
  EXPECT_THAT(ReadFolder(same_device).ranks,
              AllOf(HasSubstr("several ranks in one file"), HasSubstr("device 0")));
}

TEST(PlaceFiles, UnlabelledProcessesWithOneDeviceAreRanks) {
  for (const int device_pid : {0, 100000}) {
    const CaptureFolder folder;
    folder.Write("m.json", MergedWithNames({{10, "python"}, {11, "python"}}, 100, device_pid));
    const Read read = ReadFolder(folder);
    EXPECT_EQ(read.ranks, "0=m.json 1=m.json");
    EXPECT_THAT(read.warnings,
                AllOf(HasSubstr("has 2 ranks"), HasSubstr("device 0, device 1"), HasSubstr("--rank-of")));
    EXPECT_EQ(ReadFolder(folder, {"device 0=1", "device 1=0"}).ranks, "0=m.json 1=m.json");
  }
  const CaptureFolder hosts;
  hosts.Write("m.json", MergedWithNames({}, 100, 100000, 0));
  EXPECT_THAT(ReadFolder(hosts).ranks,
              AllOf(HasSubstr("several ranks in one file: processes 10, 11 launch on several devices"),
                    HasSubstr("labels")));
}

TEST(PlaceFiles, JoinsAStreamOfTwoProcesses) {
  KinetoBuilder k = Rank();
  k.Raw(
      "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"x\",\"pid\":5,\"tid\":7,\"ts\":90,\"dur\":1,"
      "\"args\":{\"device\":0,\"stream\":7,\"correlation\":99}}");
  k.Kernel(8, "y", 95'000, 1'000, 98);
  const DeviceTrace trace = k.Trace();
  ASSERT_EQ(trace.streams.size(), 2u);
  EXPECT_EQ(trace.streams[1].stream, 8);
  for (const Event& e : trace.events) {
    if (trace.name_of(e) == "y") {
      EXPECT_EQ(e.lane, 1u);
    } else if (trace.name_of(e) == "x") {
      EXPECT_EQ(e.lane, 0u);
    }
  }
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
