// Composed XSpaces of GPUs and TPUs: collectives by the programs in the file, ends that wait, steps, bad
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/trace/xspace_builder.h"
#include "trace/import/reader.h"
#include "trace/import/xplane/importer.h"
#include "trace/import/xplane/ranks.h"
#include "trace/import/xplane/xspace.h"

namespace chakra::xplane::CHAKRA_FILE {
namespace {

using namespace chakra::testing_xplane;  // NOLINT: a builder of messages
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

constexpr int64_t kUs = 1'000'000;  // picoseconds

absl::StatusOr<pytorch::Capture> ReadBytes(const std::string& bytes,
                                           const std::string& name = "host.xplane.pb",
                                           const ReadOptions& options = {}) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return ReadProfiles({path}, options);
}

// A program of two devices: a fusion, an all-reduce that runs beside a GEMM, its end, and a permute.
std::string Program() {
  const HloShape f32{11, {256, 256}};
  std::string groups, permute, dot, list;
  wire::AppendNumber(26, 1, &groups);
  wire::AppendNumber(71, 1, &groups);
  std::string ids;
  wire::AppendNumber(1, 0, &ids);
  wire::AppendNumber(1, 1, &ids);
  wire::AppendText(49, ids, &groups);
  for (const auto& [source, target] : {std::pair<int, int>{0, 1}, {1, 0}}) {
    std::string pair;
    wire::AppendNumber(1, static_cast<uint64_t>(source), &pair);
    wire::AppendNumber(2, static_cast<uint64_t>(target), &pair);
    wire::AppendText(52, pair, &permute);
  }
  wire::AppendNumber(26, 2, &permute);
  std::string dims;
  wire::AppendNumber(1, 1, &dims);
  wire::AppendNumber(2, 0, &dims);
  wire::AppendText(30, dims, &dot);
  const HloComputation entry{"main",
                             1,
                             16,
                             {{"p", "parameter", f32, 10, {}, {}, ""},
                              {"mul.1", "multiply", f32, 11, {10, 10}, {}, ""},
                              {"all-reduce-start.1", "all-reduce-start", f32, 12, {11}, {}, groups},
                              {"dot.1", "dot", f32, 13, {10, 10}, {}, dot},
                              {"all-reduce-done.1", "all-reduce-done", f32, 14, {12}, {}, ""},
                              {"add.1", "add", f32, 15, {13, 14}, {}, ""},
                              {"collective-permute.1", "collective-permute", f32, 16, {15}, {}, permute}}};
  return EncodeHlo("jit_step", {entry}, 2);
}

PlaneBuilder Metadata() {
  PlaneBuilder plane("/host:metadata");
  plane.Metadata("jit_step(7)", {"Hlo Proto", Program()});
  return plane;
}

std::vector<StatValue> Op(const std::string& name, int64_t correlation = -1) {
  std::vector<StatValue> stats = {
      {"hlo_op", name}, {"hlo_module", std::string("jit_step")}, {"program_id", int64_t{7}}};
  if (correlation >= 0) stats.emplace_back("correlation_id", correlation);
  return stats;
}

// A GPU: the main stream and that of collectives, and the thread that launches.
std::string GpuProfile() {
  std::vector<PlaneBuilder> planes = {Metadata()};
  PlaneBuilder host("/host:CPU");
  for (int device = 0; device < 2; ++device) {
    PlaneBuilder gpu(absl::StrCat("/device:GPU:", device));
    gpu.Stat({"device_vendor", std::string("Nvidia")});
    gpu.Stat({"core_count", int64_t{132}});
    gpu.Stat({"compute_cap_major", int64_t{9}});
    gpu.Stat({"memory_size", int64_t{80} << 30});
    const int64_t c = 100 * device;
    gpu.Line(1, "Stream #1(Kernel)", 5000);
    gpu.Event("loop_multiply_fusion", 10 * kUs, 4 * kUs, Op("mul.1", c + 1));
    gpu.Event("nvjet_hsh_128x64", 16 * kUs, 10 * kUs, Op("dot.1", c + 3));
    gpu.Event("loop_add_fusion", 41 * kUs, 5 * kUs, Op("add.1", c + 4));
    gpu.Line(2, "Stream #2(Kernel)", 5000);
    gpu.Event("ncclDevKernel_AllReduce_Sum_f32_RING_LL", (15 + device) * kUs, (25 - device) * kUs,
              Op("all-reduce-start.1", c + 2));
    gpu.Event("ncclDevKernel_SendRecv", 47 * kUs, 3 * kUs, Op("collective-permute.1", c + 5));
    gpu.Line(3, "XLA Ops", 5000);  // XProf's own line of the same operations
    gpu.Event("mul.1", 10 * kUs, 4 * kUs);
    planes.push_back(gpu);
    host.Line(10 + device, absl::StrCat("launcher ", device), 5000);
    for (int k = 1; k <= 5; ++k)
      host.Event("cuLaunchKernelEx", (2 * k - 1) * kUs / 2, kUs / 2, {{"correlation_id", c + k}});
  }
  planes.push_back(host);
  PlaneBuilder environment("Task Environment");
  environment.Stat({"profile_start_time", int64_t{1'757'516'928'109'201'518}});
  planes.push_back(environment);
  return SpaceOf(planes);
}

TEST(XPlane, CollectivesOfGpusHaveGroupsAndSizes) {
  const auto capture = ReadBytes(GpuProfile());
  ASSERT_TRUE(capture.ok()) << capture.status();
  ASSERT_THAT(capture->ranks, SizeIs(2));
  EXPECT_EQ(capture->report.world_size(), 2);
  for (const proto::RankConversion& r : capture->report.ranks()) {
    EXPECT_EQ(r.device_events(), 5u);
    EXPECT_EQ(r.launched(), 5u);
    EXPECT_EQ(r.comm_nodes(), 3u);  // the all-reduce, a send and a receive
    EXPECT_EQ(r.comm_node_bytes(), 3u * 256 * 256 * 4);
  }
  EXPECT_EQ(capture->joined.groups.at("world"), (std::vector<int>{0, 1}));
  EXPECT_EQ(capture->ranks[0].device->devices[0], "NVIDIA H100 80GB HBM3");
  EXPECT_GT(capture->ranks[0].device->base_ns, 1'757'516'928'000'000'000);
}

TEST(XPlane, OperationsHaveTheirShapesAndWork) {
  const auto capture = ReadBytes(GpuProfile());
  ASSERT_TRUE(capture.ok()) << capture.status();
  const pytorch::DeviceTrace& d = *capture->ranks[0].device;
  for (const pytorch::Event& e : d.events) {
    if (d.name_of(e) != "nvjet_hsh_128x64") continue;
    const pytorch::DeviceExtra& x = d.device[e.extra];
    EXPECT_EQ(d.strings.Get(x.op), "xla::dot");
    EXPECT_EQ(d.strings.Get(x.shapes), "[[1, 256, 256], [1, 256, 256]]");
    EXPECT_EQ(x.operations, int64_t{2} * 256 * 256 * 256);
  }
}

// The profiler takes seconds to start, while Python collects garbage. The launches have a line of their own,
// inside the events of the thread that makes them.
TEST(XPlane, SkipsProfilerStartAndPlacesLaunches) {
  PlaneBuilder host("/host:CPU"), gpu("/device:GPU:0");
  host.Line(1, "python3", 0);
  host.Event("$profiler.py:101 start_trace", 0, 5000 * kUs);
  host.Event("PythonRefManager::CollectGarbage", 100 * kUs, 2 * kUs);
  host.Event("ExecuteThunks", 5100 * kUs, 60 * kUs);
  host.Event("$api.py:3105 block_until_ready", 5165 * kUs, 30 * kUs);
  host.Event("$array.py:600 ArrayImpl.block_until_ready", 5166 * kUs, 28 * kUs);
  host.Event("ExecuteThunks", 5200 * kUs, 60 * kUs);
  host.Line(2, "other", 0);
  host.Event("wait", 5000 * kUs, 120 * kUs);
  host.Line(7, "Host Threads/7", 0);
  gpu.Line(1, "Stream #1(Kernel)", 0);
  for (int64_t k = 0; k < 4; ++k) {
    const int64_t at = (5100 + 100 * (k / 2) + 20 * (k % 2) + 5) * kUs;
    host.Event("hipModuleLaunchKernel", at, 3 * kUs, {{"correlation_id", k + 1}});
    gpu.Event("fusion", at + 6 * kUs, (k == 1 ? 55 : 4) * kUs, {{"correlation_id", k + 1}});
  }
  const auto capture = ReadBytes(SpaceOf({host, gpu}));
  ASSERT_TRUE(capture.ok()) << capture.status();
  const pytorch::CaptureRank& rank = capture->ranks[0];
  EXPECT_THAT(rank.device->threads, SizeIs(2));
  uint32_t launches = 0;
  for (uint32_t row = 0; row < rank.device->events.size(); ++row) {
    const pytorch::Event& e = rank.device->events[row];
    EXPECT_NE(rank.device->name_of(e), "PythonRefManager::CollectGarbage");
    EXPECT_GE(e.ts, 0);
    if (rank.device->name_of(e) != "hipModuleLaunchKernel") continue;
    ++launches;
    ASSERT_NE(rank.timeline.caller[row], kNoRow);
    EXPECT_EQ(rank.device->name_of(rank.device->events[rank.timeline.caller[row]]), "ExecuteThunks");
  }
  EXPECT_EQ(launches, 4u);
  EXPECT_LT(rank.timeline.window_end - rank.timeline.window_begin, 300'000);
  // There is one wait, and it ends as the kernel does.
  uint64_t waits = 0, on_kernel = 0, left_out = 0;
  for (uint32_t n = 0; n < rank.timeline.nodes.size(); ++n) {
    const pytorch::TimelineNode& node = rank.timeline.nodes[n];
    if (node.event == kNoRow || rank.device->name_of(rank.device->events[node.event]) != "block_until_ready")
      continue;
    ++waits;
    for (uint64_t e = rank.timeline.edge_begin[n]; e < rank.timeline.edge_begin[n + 1]; ++e)
      on_kernel += rank.timeline.edges[e].kind == pytorch::EdgeKind::kSync ? 1 : 0;
  }
  EXPECT_GE(waits, 1u);
  EXPECT_EQ(on_kernel, 1u);
  for (const auto& n : capture->report.notes())
    left_out += n.kind() == "xplane_profiler_start" ? n.count() : 0;
  EXPECT_EQ(left_out, 1u);
}

// add.1 is on the main stream and needs the result of the all-reduce on the other stream: a longer all-reduce
// delays add.1.
TEST(XPlane, StreamsWaitForDataOfOtherStreams) {
  const auto capture = ReadBytes(GpuProfile());
  ASSERT_TRUE(capture.ok()) << capture.status();
  const pytorch::Timeline& t = capture->ranks[0].timeline;
  const pytorch::DeviceTrace& d = *capture->ranks[0].device;
  bool found = false;
  for (uint32_t n = 0; n < t.nodes.size(); ++n) {
    if (t.nodes[n].event == kNoRow || d.name_of(d.events[t.nodes[n].event]) != "loop_add_fusion") continue;
    for (uint64_t e = t.edge_begin[n]; e < t.edge_begin[n + 1]; ++e) {
      const pytorch::TimelineNode& from = t.nodes[t.edges[e].from];
      found = found || (t.edges[e].kind == pytorch::EdgeKind::kEventWait && from.event != kNoRow &&
                        absl::StartsWith(d.name_of(d.events[from.event]), "ncclDevKernel_AllReduce"));
    }
  }
  EXPECT_TRUE(found);
}

// A TPU's core: a loop around the operations that it runs, a collective between its start and its end, steps
// (lines and stats as in openxla/xla xla/tsl/profiler/utils/xplane_schema.cc). `async`: the profile has a
// line of asynchronous operations.
std::string TpuProfile(bool async) {
  std::vector<PlaneBuilder> planes = {Metadata()};
  for (int device = 0; device < 2; ++device) {
    PlaneBuilder tpu(absl::StrCat("/device:TPU:", device));
    tpu.Stat({"device_type_string", std::string("TPU v5 lite")});
    tpu.Line(1, "Steps", 2000);
    tpu.Event("4", 0, 60 * kUs);
    tpu.Event("5", 60 * kUs, 60 * kUs);
    tpu.Line(2, "XLA Modules", 2000);
    tpu.Event("jit_step(7)", 0, 60 * kUs);
    tpu.Line(3, "XLA Ops", 2000);
    for (int step = 0; step < 2; ++step) {
      const int64_t at = 60 * kUs * step;
      tpu.Event("%while.1 = (f32[256,256]) while(...)", at, 8 * kUs, Op("while.1"));
      tpu.Event("%mul.1 = f32[256,256]{1,0} multiply(...)", at, 4 * kUs, Op("mul.1"));
      tpu.Event("%mul.2 = f32[256,256]{1,0} multiply(...)", at + 4 * kUs, 4 * kUs, Op("mul.2"));
      tpu.Event("%all-reduce-start.1 = f32[256,256]{1,0} all-reduce-start(...)", at + 8 * kUs, kUs,
                Op("all-reduce-start.1"));
      tpu.Event("%dot.1 = f32[256,256]{1,0} dot(...)", at + 9 * kUs, 11 * kUs, Op("dot.1"));
      tpu.Event("%all-reduce-done.1 = f32[256,256]{1,0} all-reduce-done(...)", at + 20 * kUs, 20 * kUs,
                Op("all-reduce-done.1"));
      tpu.Event("%add.1 = f32[256,256]{1,0} add(...)", at + 40 * kUs, 20 * kUs, Op("add.1"));
    }
    if (async) {
      tpu.Line(4, "Async XLA Ops", 2000);
      for (int step = 0; step < 2; ++step)
        tpu.Event("%all-reduce-start.1 = f32[256,256]{1,0} all-reduce-start(...)", 60 * kUs * step + 8 * kUs,
                  31 * kUs, Op("all-reduce-start.1"));
    }
    planes.push_back(tpu);
  }
  return SpaceOf(planes);
}

TEST(XPlane, EndsOfATpuWaitForTheirCollectives) {
  for (const bool async : {false, true}) {
    const auto capture = ReadBytes(TpuProfile(async));
    ASSERT_TRUE(capture.ok()) << capture.status();
    const pytorch::CaptureRank& rank = capture->ranks[0];
    EXPECT_EQ(rank.device->devices[0], "TPU v5 lite");
    EXPECT_EQ(capture->report.ranks(0).comm_nodes(), 2u);
    EXPECT_EQ(capture->report.ranks(0).device_events(), 2u * 7);  // without the loop, with the transfer
    // The end begins when the transfer ends: the end takes no time, or the microsecond after the transfer.
    const pytorch::Timeline& t = rank.timeline;
    int ends = 0;
    for (const pytorch::TimelineNode& n : t.nodes) {
      if (n.event == kNoRow || rank.device->name_of(rank.device->events[n.event]) != "all-reduce-done.1")
        continue;
      ++ends;
      EXPECT_EQ(n.dur, async ? 1000 : 0);
    }
    EXPECT_EQ(ends, 2);
    // XProf's steps: from the first operation to the end of the last.
    ASSERT_THAT(t.steps, SizeIs(2));
    EXPECT_EQ(t.steps[0].name, "ProfilerStep#4");
    for (const pytorch::TimelineStep& s : t.steps)
      EXPECT_EQ(t.nodes[s.last].start + t.nodes[s.last].dur - t.nodes[s.first].start, 60'000);
  }
}

// JAX also writes the profile as Chrome's JSON, cut at a million events.
TEST(XPlane, ReadsTheProfileOfAFolder) {
  const std::string folder = testing::TempDir() + "/jax_folder";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/host.trace.json")
      << R"({"displayTimeUnit":"ns","traceEvents":[{"ph":"X","pid":1,"tid":1,)"
         R"("ts":1,"dur":2,"name":"k","cat":"kernel"}]})";
  std::ofstream(folder + "/host.xplane.pb", std::ios::binary) << GpuProfile();
  const auto set = ReadTraceSet({folder}, {});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(set->ranks, SizeIs(2));
}

TEST(XPlane, StepsCanBeSelected) {
  ReadOptions options;
  options.capture.steps = "5";
  const auto capture = ReadBytes(TpuProfile(true), "host.xplane.pb", options);
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_THAT(capture->ranks[0].timeline.steps, SizeIs(1));
  options.capture.steps = "9";
  EXPECT_THAT(std::string(ReadBytes(TpuProfile(true), "host.xplane.pb", options).status().message()),
              HasSubstr("steps 4 to 5"));
}

std::string Gpu(const std::function<void(PlaneBuilder*)>& fill, const std::string& name = "/device:GPU:0") {
  PlaneBuilder plane(name);
  fill(&plane);
  return SpaceOf({plane});
}

TEST(XPlane, BadFilesAreRefused) {
  const std::string good = GpuProfile();
  int bad = 0;
  const auto refused = [&](const std::string& bytes, const char* says) {
    ++bad;
    const auto capture = ReadBytes(bytes, "bad.xplane.pb");
    EXPECT_FALSE(capture.ok()) << says;
    EXPECT_THAT(std::string(capture.status().message()), AllOf(HasSubstr("bad.xplane.pb"), HasSubstr(says)));
  };
  refused("", "no JAX profile");
  refused("HloModule m", "no JAX profile");
  refused("\x0a", "no JAX profile");
  refused(SpaceOf({}), "no JAX profile");
  refused(SpaceOf({PlaneBuilder("/host:CPU")}), "no operation");
  refused(SpaceOf({PlaneBuilder("/device:GPU:0")}), "no operation");
  refused(SpaceOf({Metadata()}), "no operation");
  for (int part = 1; part <= 16; ++part)  // cut short
    refused(good.substr(0, good.size() * static_cast<size_t>(part) / 17), "expected a whole XSpace");
  const auto run = [](PlaneBuilder* p) {
    p->Line(1, "Stream #1", 0);
    p->Event("k", 0, kUs);
  };
  PlaneBuilder twice("/device:GPU:0");
  run(&twice);
  refused(SpaceOf({twice, twice}), "two planes /device:GPU:0");
  refused(Gpu(run, "/device:GPU:99999999"), "a device number");
  refused(Gpu([](PlaneBuilder* p) {
            p->Line(1, "Stream #1", 0);
            p->Event("k", -5, kUs);
            p->Event("k", 0, -1);
            p->Event("k", INT64_MAX, INT64_MAX);
          }),
          "no operation");
  refused(Gpu([](PlaneBuilder* p) {
            p->Line(1, "Framework Ops", 0);
            p->Event("k", 0, kUs);
          }),
          "no operation");
  refused(Gpu(run, "/device:TPU:0 SparseCore 1"), "no operation");
  refused(Gpu(run, "/device:CUSTOM:Megascale Trace"), "no operation");
  refused(good + std::string("\x0a\xff\xff\xff\xff\x0f", 6), "expected a whole XSpace");
  EXPECT_EQ(bad, 30);
  // Repaired, and counted: impossible times next to possible ones; a program that cannot be read.
  const auto counted = ReadBytes(Gpu([&](PlaneBuilder* p) {
    run(p);
    p->Event("k", -5, kUs);
  }));
  ASSERT_TRUE(counted.ok()) << counted.status();
  EXPECT_EQ(counted->report.notes(0).kind(), "xplane_bad_times");
  PlaneBuilder broken("/host:metadata"), gpu("/device:GPU:0");
  broken.Metadata("jit_step(7)", {"Hlo Proto", Program().substr(0, 200)});
  gpu.Line(1, "Stream #1", 0);
  gpu.Event("k", 0, kUs, Op("dot.1"));
  const auto unread = ReadBytes(SpaceOf({broken, gpu}));
  ASSERT_TRUE(unread.ok()) << unread.status();
  EXPECT_THAT(unread->report.warnings(0), HasSubstr("1 programs cannot be read"));
}

}  // namespace
}  // namespace chakra::xplane::CHAKRA_FILE
