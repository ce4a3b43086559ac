#include "trace/import/pytorch/read_capture.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"
#include "test/trace/tar_member.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"
#include "trace/io/compressed_file.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Rf(int64_t id) { return absl::StrCat(",\"Record function id\":", id); }

// Three steps of 30 us on a rank; in each a call that launches a kernel and an
// all-reduce of 1,000 floats.
KinetoBuilder Steps(int rank, int world = 2) {
  KinetoBuilder k;
  k.Rank(rank, world);
  for (int s = 0; s < 3; ++s) {
    const int64_t t = 30000 * s;
    k.Annotation(1, absl::StrCat("ProfilerStep#", 4 + s), t, 30000);
    k.Op(1, absl::StrCat("aten::step", s), t + 1000, 9000, Rf(10 * s + 5));
    k.Launch(1, t + 2000, 1000, 7, absl::StrCat("kernel", s), t + 6000, 3000 + 100 * rank);
    k.Op(1, "record_param_comms", t + 11000, 8000, Rf(10 * s + 6));
    k.Launch(1, t + 12000, 1000, 20, absl::StrCat("ncclDevKernel_AllReduce_", s, "(x)"),
             t + 15000 + 500 * rank, 9000 - 500 * rank, CommArgs("allreduce", 1000, 1000, "0", "[0, 1]", 2));
  }
  return k;
}
HostBuilder Host(int rank) {
  HostBuilder h;
  for (int s = 0; s < 3; ++s) {
    h.Node(static_cast<uint64_t>(10 * s + 10), absl::StrCat("aten::step", s), 2,
           static_cast<uint64_t>(10 * s + 5));
    h.Comm(static_cast<uint64_t>(10 * s + 11), 2, static_cast<uint64_t>(10 * s + 6), "allreduce", 1000, "0",
           rank, 0, 1, 2);
  }
  return h;
}

// Both ranks, host and device.
void WriteTwo(const CaptureFolder& folder) {
  for (const int rank : {0, 1}) {
    const HostBuilder h = Host(rank);
    folder.Rank(rank, Steps(rank), &h);
  }
}

ReadOptions Selecting(const std::string& steps, std::vector<int> ranks = {}) {
  ReadOptions o;
  o.capture.steps = steps;
  o.capture.ranks = std::move(ranks);
  return o;
}

std::string File(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The output of WriteCapture() for both ranks.
std::string Output(const Capture& capture) {
  const CaptureFolder out;
  EXPECT_TRUE(WriteCapture(capture, out.At("c"), "").ok());
  std::string all;
  for (size_t i = 0; i < capture.ranks.size(); ++i) all += File(out.At(absl::StrCat("c.", i, ".et")));
  return all;
}

TEST(ReadCapture, PairsFilesByRankAndReports) {
  const CaptureFolder folder;
  WriteTwo(folder);
  const Capture c = folder.Read();
  ASSERT_EQ(c.ranks.size(), 2u);
  EXPECT_EQ(c.report.world_size(), 2);
  const proto::RankConversion& r = c.report.ranks(1);
  EXPECT_EQ(r.rank(), 1);
  EXPECT_EQ(r.host_file(), folder.At("host.1.json"));
  EXPECT_EQ(r.device_file(), folder.At("kineto.1.json"));
  EXPECT_EQ(r.pairing(), "record_function_id");
  EXPECT_EQ(r.paired(), 6u);
  EXPECT_EQ(r.host_unpaired(), 0u);
  EXPECT_EQ(r.device_events(), 6u);
  EXPECT_EQ(r.launched(), 6u);
  EXPECT_EQ(r.comm_nodes(), 3u);
  EXPECT_EQ(r.comm_calls(), 3u);
  EXPECT_EQ(r.comm_node_bytes(), 12000u);
  EXPECT_EQ(r.comm_bytes(), 12000u);
  EXPECT_EQ(r.steps(), 3u);
  EXPECT_EQ(r.window_ns(), 90000);
  EXPECT_EQ(r.edges().at("launch"), 6u);
  EXPECT_EQ(c.inputs.size(), 4u);
  EXPECT_THAT(PrintConversion(c.report), HasSubstr("2 ranks of 2"));
}

TEST(ReadCapture, OutputIgnoresThreadsAndTheOrderOfFiles) {
  const CaptureFolder folder;
  WriteTwo(folder);
  const std::string expected = Output(folder.Read());
  EXPECT_GT(expected.size(), 1000u);
  ReadOptions four;
  four.threads = 4;
  EXPECT_EQ(Output(folder.Read(four)), expected);
  std::vector<std::string> files = {folder.At("host.0.json"), folder.At("host.1.json"),
                                    folder.At("kineto.0.json"), folder.At("kineto.1.json")};
  do {
    auto capture = ReadCapture(files, {});
    ASSERT_TRUE(capture.ok()) << capture.status();
    ASSERT_EQ(Output(*capture), expected) << absl::StrJoin(files, " ");
  } while (std::next_permutation(files.begin(), files.end()));
}

// A tar archive is read like the folder that it was made of, plain or compressed, for any number of threads.
TEST(ReadCapture, ReadsArchivesAsFolders) {
  const CaptureFolder folder, archives;
  WriteTwo(folder);
  const Capture expected = folder.Read();
  const std::vector<std::string> names = {"host.1.json", "kineto.0.json", "host.0.json", "kineto.1.json"};
  std::string tar = TarMember("run/README", "notes") + TarMember("run/._kineto.0.json", "a Mac was here");
  for (const std::string& name : names) tar += TarMember("run/" + name, File(folder.At(name)));
  tar += kTarEnd;
  archives.Write("rank7.tar", tar);
  for (const char* packed : {"a.tar.gz", "a.tar.zst"}) {
    CompressedFile file;
    ASSERT_TRUE(file.Open(archives.At(packed)).ok());
    ASSERT_TRUE(file.Finish(tar).ok());
  }
  for (const std::string name : {"rank7.tar", "a.tar.gz", "a.tar.zst"}) {
    for (const int threads : {1, 3}) {
      ReadOptions options;
      options.threads = threads;
      const auto capture = ReadCapture({archives.At(name)}, options);
      ASSERT_TRUE(capture.ok()) << capture.status();
      ASSERT_EQ(capture->ranks.size(), 2u);
      EXPECT_EQ(capture->ranks[1].device_file, archives.At(name) + "!run/kineto.1.json");
      ASSERT_EQ(capture->inputs.size(), 1u);
      EXPECT_EQ(capture->inputs[0].path, archives.At(name));
      EXPECT_THAT(capture->report.files_left_out(), ElementsAre(archives.At(name) + "!run/README"));
      const auto traces = CaptureTraces(*capture, options), plain = CaptureTraces(expected, options);
      ASSERT_TRUE(traces.ok() && plain.ok());
      for (int r = 0; r < 2; ++r) {
        const Graph &a = *traces->ranks[r].graph, &b = *plain->ranks[r].graph;
        EXPECT_EQ(a.id, b.id);
        EXPECT_EQ(a.start, b.start);
        EXPECT_EQ(a.duration, b.duration);
        EXPECT_EQ(a.dep, b.dep);
      }
      EXPECT_EQ(traces->groups, plain->groups);
    }
  }
  const std::string cut = archives.Write("cut.tar", tar.substr(0, tar.size() / 2));
  EXPECT_THAT(std::string(ReadCapture({cut}, {}).status().message()),
              HasSubstr("cut.tar: tar archive, byte"));
}

TEST(ReadCapture, WrittenCaptureReplaysTheSame) {
  const CaptureFolder folder, out;
  WriteTwo(folder);
  const Capture capture = folder.Read();
  for (const char* suffix : {"", ".gz", ".zst"}) {
    ASSERT_TRUE(WriteCapture(capture, out.At("c"), suffix).ok());
    auto direct = CaptureTraces(capture, {});
    auto read = ReadTraceSet({out.At("c")}, {});
    ASSERT_TRUE(direct.ok()) << direct.status();
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(direct->groups, read->groups);
    for (const size_t rank : {0u, 1u}) {
      const Graph &a = *direct->ranks[rank].graph, &b = *read->ranks[rank].graph;
      EXPECT_EQ(a.id, b.id);
      EXPECT_EQ(a.dep, b.dep);
      EXPECT_EQ(a.dep_delay, b.dep_delay);
      EXPECT_EQ(a.duration, b.duration);
      EXPECT_EQ(a.start, b.start);
      EXPECT_EQ(a.lane, b.lane);
      EXPECT_EQ(a.order, b.order);
      EXPECT_EQ(direct->ranks[rank].metadata, read->ranks[rank].metadata);
    }
    std::filesystem::remove(out.At(absl::StrCat("c.0.et", suffix)));
    std::filesystem::remove(out.At(absl::StrCat("c.1.et", suffix)));
  }
}

std::vector<std::string> Kernels(const Capture& c, size_t rank = 0) {
  std::vector<std::string> names;
  const CaptureRank& r = c.ranks[rank];
  for (const TimelineNode& n : r.timeline.nodes) {
    if (!n.host && n.event != kNoRow) names.emplace_back(r.device->name_of(r.device->events[n.event]));
  }
  return names;
}

TEST(ReadCapture, SelectsSteps) {
  const CaptureFolder folder;
  WriteTwo(folder);
  EXPECT_THAT(Kernels(folder.Read(Selecting("5"))), ElementsAre("kernel1", "ncclDevKernel_AllReduce_1(x)"));
  EXPECT_THAT(Kernels(folder.Read(Selecting("first"))),
              ElementsAre("kernel0", "ncclDevKernel_AllReduce_0(x)"));
  EXPECT_THAT(Kernels(folder.Read(Selecting("last"))),
              ElementsAre("kernel2", "ncclDevKernel_AllReduce_2(x)"));
  EXPECT_EQ(Kernels(folder.Read(Selecting("skip-first"))).front(), "kernel1");
  EXPECT_EQ(Kernels(folder.Read(Selecting("skip-first"))).size(), 4u);
  EXPECT_EQ(Kernels(folder.Read(Selecting("4-5"))).size(), 4u);
  EXPECT_EQ(Kernels(folder.Read(Selecting("all"))).size(), 6u);
  const Capture one = folder.Read(Selecting("5"));
  EXPECT_EQ(one.report.ranks(0).window_ns(), 30000);
  EXPECT_EQ(one.report.ranks(0).steps(), 1u);
  EXPECT_EQ(one.report.ranks(0).comm_nodes(), 1u);
  Linked l;
  l.device = std::move(*one.ranks[0].device);
  l.t = one.ranks[0].timeline;
  ExpectReplaysItself(l);
}

TEST(ReadCapture, SelectsRanks) {
  const CaptureFolder folder;
  WriteTwo(folder);
  const Capture c = folder.Read(Selecting("", {1}));
  ASSERT_EQ(c.ranks.size(), 1u);
  EXPECT_EQ(c.ranks[0].rank, 1);
  EXPECT_EQ(c.joined.world_size, 2) << "rank 0 is in the job, not in the replay";
  EXPECT_THAT(folder.Error(Selecting("", {1, 7})), HasSubstr("rank 7 was asked for, but not captured"));
}

TEST(ReadCapture, ReadsOnePairByItsFiles) {
  const CaptureFolder folder;
  WriteTwo(folder);
  ReadOptions pair;
  pair.capture.host = folder.At("host.1.json");
  pair.capture.device = folder.At("kineto.1.json");
  auto c = ReadCapture({}, pair);
  ASSERT_TRUE(c.ok()) << c.status();
  ASSERT_EQ(c->ranks.size(), 1u);
  EXPECT_EQ(c->ranks[0].rank, 1);
  EXPECT_EQ(c->report.ranks(0).paired(), 6u);
}

TEST(ReadCapture, WarnsWithoutAHostTrace) {
  const CaptureFolder folder;
  folder.Rank(0, Steps(0));
  const Capture c = folder.Read();
  EXPECT_EQ(c.report.ranks(0).host_file(), "");
  EXPECT_EQ(c.report.ranks(0).comm_node_bytes(), 12000u) << "the kernels say it themselves";
  EXPECT_THAT(absl::StrJoin(c.report.warnings(), "\n"),
              testing::AllOf(HasSubstr("there is no host trace"),
                             HasSubstr("the job has 2 ranks, 1 of them captured")));
}

TEST(ReadCapture, HostTraceAloneHasNoTimes) {
  const CaptureFolder folder;
  folder.Write("host.json", Host(0).Json());
  const Capture c = folder.Read();
  EXPECT_EQ(c.report.ranks(0).device_file(), "");
  EXPECT_THAT(absl::StrJoin(c.report.warnings(), "\n"), HasSubstr("there is no device trace"));
  std::vector<std::string> names;
  const CaptureRank& r = c.ranks[0];
  for (const TimelineNode& n : r.timeline.nodes) {
    if (n.event != kNoRow) names.emplace_back(r.device->name_of(r.device->events[n.event]));
  }
  EXPECT_THAT(names, ElementsAre("aten::step0", "record_param_comms", "aten::step1", "record_param_comms",
                                 "aten::step2", "record_param_comms"));
  EXPECT_EQ(c.report.ranks(0).comm_nodes() + c.report.ranks(0).comm_left_out(), 3u) << "none is forgotten";
}

TEST(ReadCapture, RankInTheFileWinsOverTheName) {
  const CaptureFolder folder;
  folder.Write("a_rank5.json", Steps(1).Json());
  const Capture c = folder.Read();
  EXPECT_EQ(c.ranks[0].rank, 1);
}

TEST(Convert, StepsNeedTimes) {
  const CaptureFolder folder;
  const HostBuilder h = HostBuilder().Node(3, "iteration 0", 2, 1).Node(4, "iteration 1", 2, 2);
  folder.Write("host.0.json", h.Json());
  ReadOptions range, last;
  range.capture.step_range = "iteration*";
  last.capture.steps = "last";
  for (const ReadOptions& options : {range, last})
    EXPECT_THAT(folder.Error(options), ::testing::AllOf(HasSubstr("host.0.json"), HasSubstr("has no times")));

  // chakra_trace_link took them from the device trace.
  const auto linked = [&](int64_t first, int64_t second) {
    std::string json = h.Json();
    for (const int i : {0, 1}) {
      const std::string name = absl::StrCat("\"name\":\"iteration ", i, "\",");
      json.replace(json.find(name), name.size(),
                   absl::StrCat(name, "\"ts\":", i == 0 ? first : second, ",\"inclusive_dur\":500,"));
    }
    return json;
  };
  folder.Write("host.0.json", linked(-9'000'000'000'000'000, 9'000'000'000'000'000));
  EXPECT_THAT(folder.Error(range), HasSubstr("has no times")) << "none that can be";
  folder.Write("host.0.json", linked(1000, 2000));
  range.capture.steps = "last";
  const Capture capture = folder.Read(range);
  ASSERT_EQ(capture.ranks.size(), 1u);
  ASSERT_EQ(capture.ranks[0].timeline.steps.size(), 1u);
  EXPECT_EQ(capture.ranks[0].timeline.steps[0].name, "ProfilerStep#1");
  range.capture.step_range = "epoch*";
  EXPECT_THAT(folder.Error(range), HasSubstr("no annotation or operator is named \"epoch*\""));
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
