// Generated and real exports of Nsight Systems: each row of an export is in the capture.
#include <gmock/gmock.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "bench/nsys_generator.h"
#include "test/folders.h"
#include "test/trace/nsys_sql.h"
#include "test/trace/tar_member.h"
#include "trace/import/nsys/importer.h"
#include "trace/import/reader.h"
#include "trace/model/graph_builder.h"

namespace chakra::nsys::CHAKRA_FILE {
namespace {

using pytorch::Capture;
using pytorch::CommPlan;
using pytorch::EdgeKind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class NsysRead : public testing::Test {
 protected:
  std::string Make(const NsysOptions& options, const std::string& name = "e.sqlite") {
    const std::string path = folder_.At(name);
    EXPECT_TRUE(GenerateNsys(options, path).ok());
    return path;
  }
  static Capture Read(const std::vector<std::string>& paths, const std::string& steps = "",
                      const std::string& range = "") {
    ReadOptions options;
    options.capture.steps = steps;
    options.capture.step_range = range;
    absl::StatusOr<Capture> capture = ReadExports(paths, options);
    EXPECT_TRUE(capture.ok()) << capture.status();
    return capture.ok() ? *std::move(capture) : Capture();
  }
  static uint64_t Edges(const Capture& capture, EdgeKind kind) {
    uint64_t n = 0;
    for (const pytorch::CaptureRank& rank : capture.ranks) {
      for (const pytorch::TimelineEdge& e : rank.timeline.edges) n += e.kind == kind ? 1 : 0;
    }
    return n;
  }
  static std::vector<std::string> Warnings(const Capture& capture) {
    return {capture.report.warnings().begin(), capture.report.warnings().end()};
  }
  static uint64_t Notes(const Capture& capture, const std::string& kind) {
    uint64_t n = 0;
    for (const proto::ConversionNote& note : capture.report.notes())
      n += note.kind() == kind ? note.count() : 0;
    return n;
  }
  static uint64_t Count(const Capture& capture, pytorch::EventKind kind) {
    uint64_t n = 0;
    for (const pytorch::CaptureRank& rank : capture.ranks) {
      n += static_cast<uint64_t>(std::count_if(rank.device->events.begin(), rank.device->events.end(),
                                               [&](const pytorch::Event& e) { return e.kind == kind; }));
    }
    return n;
  }
  static uint64_t Bytes(const Capture& capture, pytorch::EventKind kind) {
    uint64_t n = 0;
    for (const pytorch::CaptureRank& rank : capture.ranks) {
      for (const pytorch::Event& e : rank.device->events) {
        if (e.kind == kind) n += static_cast<uint64_t>(rank.device->device[e.extra].bytes);
      }
    }
    return n;
  }
  // The plans of calls that are replayed as communication, of one rank.
  static std::vector<CommPlan> Plans(const Capture& capture, size_t rank) {
    std::vector<CommPlan> out;
    for (const CommPlan& plan : capture.joined.comms[rank]) {
      if (plan.type != NodeType::kComp) out.push_back(plan);
    }
    return out;
  }

  const ScratchFolder folder_;
};

// Each row of the file is in the capture: an independent count, by SQL.
void ExpectAllRows(const Capture& capture, const std::vector<std::string>& files) {
  uint64_t kernels = 0, time = 0, expected = 0, expected_time = 0;
  for (const pytorch::CaptureRank& rank : capture.ranks) {
    for (const pytorch::TimelineNode& node : rank.timeline.nodes) {
      if (node.host || node.event == kNoRow ||
          rank.device->events[node.event].kind != pytorch::EventKind::kKernel)
        continue;
      ++kernels;
      time += static_cast<uint64_t>(node.dur);
    }
  }
  for (const std::string& file : files) {
    expected += static_cast<uint64_t>(Query(file, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"));
    expected_time +=
        static_cast<uint64_t>(Query(file, "SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL"));
  }
  EXPECT_EQ(kernels, expected);
  EXPECT_EQ(time, expected_time);
}

TEST_F(NsysRead, ReadsEveryRowOfTheDevice) {
  const std::string file = Make({.gpus = 4, .steps = 4});
  const Capture capture = Read({file});
  ASSERT_EQ(capture.ranks.size(), 4u);
  ExpectAllRows(capture, {file});
  EXPECT_EQ(Bytes(capture, pytorch::EventKind::kMemcpy),
            static_cast<uint64_t>(Query(file, "SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY")));
  EXPECT_EQ(Count(capture, pytorch::EventKind::kRuntime),
            static_cast<uint64_t>(Query(file, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME")));
  EXPECT_EQ(Count(capture, pytorch::EventKind::kCpuOp),
            static_cast<uint64_t>(Query(file, "SELECT count(*) FROM NVTX_EVENTS WHERE text LIKE '%op_id%'")));
  EXPECT_THAT(Warnings(capture), IsEmpty());
  for (const pytorch::CaptureRank& rank : capture.ranks) {  // correlations are those of the process
    for (uint32_t row = 0; row < rank.device->events.size(); ++row) {
      if (pytorch::OnDevice(rank.device->events[row].kind)) {
        EXPECT_NE(rank.timeline.caller[row], kNoRow);
      }
    }
  }
}

TEST_F(NsysRead, PayloadsGiveGroupsAndSizesOfTwoHosts) {
  const std::string a = Make({.hosts = 2, .host = 0}, "a.sqlite"),
                    b = Make({.hosts = 2, .host = 1}, "b.sqlite");
  const Capture capture = Read({a, b});
  ASSERT_EQ(capture.ranks.size(), 4u);
  ExpectAllRows(capture, {a, b});
  EXPECT_THAT(capture.joined.groups.at("nccl 5ca1ab1e0fdecade"), ElementsAre(0, 1, 2, 3));
  for (size_t r = 0; r < 4; ++r) {
    const std::vector<CommPlan> plans = Plans(capture, r);
    ASSERT_EQ(plans.size(), 12u);  // 3 steps, 4 layers
    for (const CommPlan& plan : plans) {
      EXPECT_EQ(plan.type, NodeType::kCollective);
      EXPECT_EQ(plan.collective, CollectiveType::kAllReduce);
      EXPECT_EQ(plan.bytes, 4u << 20);
      EXPECT_EQ(plan.group, "nccl 5ca1ab1e0fdecade");
      EXPECT_GT(plan.transfer_ns, 0);
    }
  }
  EXPECT_EQ(Notes(capture, "comm_size_unknown"), 0u);
}

TEST_F(NsysRead, AlignsClocksOfHostsBySharedCalls) {
  const std::string a = Make({.hosts = 2, .host = 0}, "a.sqlite"),
                    b = Make({.hosts = 2, .host = 1, .clock_error_ns = 700'000}, "b.sqlite");
  const Capture capture = Read({a, b});
  EXPECT_THAT(capture.joined.clock_offset_ns, ElementsAre(0, 0, -700'000, -700'000));
}

TEST_F(NsysRead, SendsAndReceivesOfAGroupHavePeers) {
  const Capture capture = Read({Make({.pipeline = true})});
  for (size_t r = 0; r < 2; ++r) {
    std::vector<uint64_t> sent, received;
    for (const CommPlan& plan : Plans(capture, r)) {
      if (plan.type == NodeType::kSend) sent.push_back(plan.bytes);
      if (plan.type == NodeType::kRecv) received.push_back(plan.bytes);
      if (plan.type != NodeType::kCollective) {
        EXPECT_EQ(plan.peer, 1 - static_cast<int>(r));
      }
    }
    EXPECT_THAT(sent,
                ElementsAre((r == 0 ? 4u : 1u) << 20, (r == 0 ? 4u : 1u) << 20, (r == 0 ? 4u : 1u) << 20));
    EXPECT_THAT(received,
                ElementsAre((r == 0 ? 1u : 4u) << 20, (r == 0 ? 1u : 4u) << 20, (r == 0 ? 1u : 4u) << 20));
  }
}

TEST_F(NsysRead, WarnsOfExportsWithoutBlobs) {
  const Capture capture = Read({Make({.blobs = false, .pipeline = true})});
  EXPECT_THAT(Warnings(capture), Contains(HasSubstr("--include-blobs=true")));
  EXPECT_EQ(Notes(capture, "comm_size_unknown"), 36u);  // 2 ranks, 3 steps, 4 all-reduces, a send, a receive
  // Two ranks that exchange messages in both directions are peers of each other, and their calls are matched.
  EXPECT_EQ(capture.joined.peers_inferred, 12u);
  for (size_t r = 0; r < 2; ++r) {
    for (const CommPlan& plan : Plans(capture, r)) {
      EXPECT_FALSE(plan.has_bytes);
      if (plan.type != NodeType::kCollective) {
        EXPECT_EQ(plan.peer, 1 - static_cast<int>(r));
      }
    }
  }
}

TEST_F(NsysRead, StreamsWaitForRecordedEvents) {
  const Capture recorded_events = Read({Make({})}),
                guessed = Read({Make({.event_records = false}, "g.sqlite")});
  EXPECT_EQ(Notes(recorded_events, "nsys_event_guessed"), 0u);
  EXPECT_GT(Notes(guessed, "nsys_event_guessed"), 0u);
  // The record before a wait on its thread is its record here: the guesses are right.
  EXPECT_GT(Edges(recorded_events, EdgeKind::kEventWait), 0u);
  EXPECT_EQ(Edges(recorded_events, EdgeKind::kEventWait), Edges(guessed, EdgeKind::kEventWait));
  EXPECT_GT(Edges(recorded_events, EdgeKind::kSync), 0u);
}

TEST_F(NsysRead, GraphKernelsHaveTheOperatorsOfTheirCapture) {
  const Capture capture = Read({Make({.graph_of_forward = true})});
  uint64_t joined = 0;
  for (const pytorch::CaptureRank& rank : capture.ranks) {
    for (const pytorch::DeviceExtra& extra : rank.device->device) {
      if (extra.graph_op == kNoRow) continue;
      const pytorch::GraphOp& op = rank.device->graph_ops[extra.graph_op];
      EXPECT_EQ(rank.device->strings.Get(op.name), "aten::linear");
      EXPECT_EQ(rank.device->strings.Get(op.shapes), "[[64,1024],[1024,1024]]");
      ++joined;
    }
  }
  EXPECT_EQ(joined, 24u);  // 2 ranks, 3 launches, 4 kernels
  EXPECT_THAT(Warnings(capture), IsEmpty());
}

TEST_F(NsysRead, WarnsOfGraphsTracedAsWholes) {
  const std::string file = Make({.graph_traced_whole = true});
  const Capture capture = Read({file});
  EXPECT_THAT(Warnings(capture), Contains(HasSubstr("--cuda-graph-trace=node")));
  EXPECT_EQ(Count(capture, pytorch::EventKind::kKernel),
            static_cast<uint64_t>(Query(file,
                                        "SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL) + "
                                        "(SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE)")));
}

TEST_F(NsysRead, WarnsOfExportsWithoutOperators) {
  EXPECT_THAT(Warnings(Read({Make({.operators = false})})),
              Contains(HasSubstr("--pytorch=autograd-shapes-nvtx")));
}

std::vector<std::string> StepNames(const Capture& capture, size_t rank) {
  std::vector<std::string> names;
  for (const pytorch::TimelineStep& step : capture.ranks[rank].timeline.steps) names.push_back(step.name);
  return names;
}

TEST_F(NsysRead, FindsStepsByRangeNames) {
  const std::string file = Make({});
  for (const char* range : {"", "iteration*", "iter*n ?", "*ration*"}) {
    const bool none = std::string(range) == "iter*n ?";  // '?' stands for itself
    if (none) {
      ReadOptions options;
      options.capture.step_range = range;
      EXPECT_THAT(std::string(ReadExports({file}, options).status().message()), HasSubstr("no NVTX range"));
      continue;
    }
    const Capture capture = Read({file}, "", range);
    EXPECT_THAT(StepNames(capture, 1), ElementsAre("ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"))
        << range;
  }
}

// Tables are read in parallel; the result is the same, with names and rows in the same order.
TEST_F(NsysRead, ResultDoesNotDependOnThreads) {
  const std::vector<std::string> files = {Make({.gpus = 3, .steps = 4, .pipeline = true}, "a.sqlite"),
                                          Make({.steps = 2, .graph_of_forward = true}, "b.sqlite")};
  for (const std::string& file : files) {
    std::vector<TraceSet> sets;
    for (const int threads : {1, 2, 5}) {
      ReadOptions options;
      options.threads = threads;
      absl::StatusOr<TraceSet> set = ReadTraceSet({file}, options);
      ASSERT_TRUE(set.ok()) << set.status();
      sets.push_back(*std::move(set));
    }
    for (const TraceSet& set : sets) {
      ASSERT_EQ(set.ranks.size(), sets[0].ranks.size());
      EXPECT_EQ(set.inputs[0].sha256, sets[0].inputs[0].sha256);
      for (size_t r = 0; r < set.ranks.size(); ++r) {
        EXPECT_TRUE(SameContent(*set.ranks[r].graph, *sets[0].ranks[r].graph));
        EXPECT_EQ(set.ranks[r].metadata, sets[0].ranks[r].metadata);
      }
    }
  }
}

// Reading one step keeps only its rows, and gives the same step as the whole file.
TEST_F(NsysRead, OneStepReadsAsInTheWholeFile) {
  const std::string file = Make({.steps = 5});
  for (const char* steps : {"2", "1-3", "first", "last"}) {
    const Capture alone = Read({file}, steps);
    ReadOptions options;
    options.capture.steps = steps;
    options.capture.step_range = "iteration*";
    const absl::StatusOr<Capture> named = ReadExports({file}, options);
    ASSERT_TRUE(named.ok()) << named.status();
    // The linker's choice from all rows: ranges whose text names no step are read as a whole.
    const std::string whole = folder_.At(std::string("whole") + steps);
    WriteBytes(whole, BytesOf(file));
    const Capture all = Read({whole});
    EXPECT_LT(alone.ranks[0].device->events.size(), all.ranks[0].device->events.size()) << steps;
    EXPECT_EQ(StepNames(alone, 0), StepNames(*named, 0)) << steps;
    for (const pytorch::TimelineStep& step : alone.ranks[0].timeline.steps) {
      const auto& steps_of_all = all.ranks[0].timeline.steps;
      const auto same = std::find_if(steps_of_all.begin(), steps_of_all.end(),
                                     [&](const pytorch::TimelineStep& s) { return s.name == step.name; });
      ASSERT_NE(same, steps_of_all.end());
      const auto length = [](const Capture& c, const pytorch::TimelineStep& s) {
        const auto& nodes = c.ranks[0].timeline.nodes;
        return nodes[s.last].start + nodes[s.last].dur - nodes[s.first].start;
      };
      EXPECT_EQ(length(alone, step), length(all, *same)) << steps << " " << step.name;
    }
    // Kernels that the step launched are kept, whenever they ran.
    const int64_t kernels_a_step = 4 * 3 + 1;
    EXPECT_EQ(Count(alone, pytorch::EventKind::kKernel),
              static_cast<uint64_t>(2 * kernels_a_step) * alone.ranks[0].timeline.steps.size())
        << steps;
    EXPECT_EQ(alone.joined.groups, all.joined.groups);  // groups are made before the steps
  }
  EXPECT_THAT(StepNames(Read({file}, "2"), 1), ElementsAre("ProfilerStep#2"));
  EXPECT_EQ(StepNames(Read({file}, "skip-first"), 0).size(), 4u);
}

TEST_F(NsysRead, FindsStepsInRepeatingKernels) {
  const std::string file = Make({.steps = 5});
  RunSql(file, "DELETE FROM NVTX_EVENTS WHERE text LIKE 'iteration%'");
  EXPECT_THAT(StepNames(Read({file}), 0), IsEmpty());
  EXPECT_THAT(StepNames(Read({file}, "", "pattern"), 0),
              ElementsAre("ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"));
}

TEST_F(NsysRead, TakesRanksFromMpiThenNcclThenOrder) {
  const auto ranks_of_pids = [](const Capture& capture) {
    std::map<int64_t, int> out;
    for (const pytorch::CaptureRank& rank : capture.ranks) out[rank.device->threads[0].pid] = rank.rank;
    return out;
  };
  const std::string file = Make({});
  EXPECT_EQ(ranks_of_pids(Read({file})), (std::map<int64_t, int>{{1000, 0}, {1001, 1}}));
  RunSql(file,
         "CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER); INSERT INTO MPI_RANKS VALUES "
         "(((1<<48) + (1000<<24) + 1000), 1), (((1<<48) + (1001<<24) + 1001), 0)");
  EXPECT_EQ(ranks_of_pids(Read({file})), (std::map<int64_t, int>{{1000, 1}, {1001, 0}}));
  RunSql(file,
         "DROP TABLE MPI_RANKS; DELETE FROM NVTX_EVENTS WHERE binaryData IS NOT NULL; "
         "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1 - deviceId; "
         "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET deviceId = 1 - deviceId");
  EXPECT_EQ(ranks_of_pids(Read({file})), (std::map<int64_t, int>{{1000, 1}, {1001, 0}}));
}

// A process with a thread for each GPU, like nccl-tests with -t: each GPU is a rank.
TEST_F(NsysRead, EachGpuOfAProcessIsARank) {
  const std::string file = Make({});
  const std::string merge = " SET globalTid = (1<<48) + (1000<<24) + (globalTid & 16777215)";
  RunSql(file,
         "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = (1<<48) + (1000<<24), contextId = 1 + deviceId, "
         "correlationId = correlationId + 100000 * deviceId;"
         "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET globalPid = (1<<48) + (1000<<24), contextId = 1 + deviceId, "
         "correlationId = correlationId + 100000 * deviceId;"
         "DELETE FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION; DELETE FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT;"
         "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = correlationId + 100000 WHERE (globalTid & "
         "16777215) IN "
         "(1001, 51001);"
         "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME" +
             merge + "; UPDATE NVTX_EVENTS" + merge);
  const Capture capture = Read({file});
  ASSERT_EQ(capture.ranks.size(), 2u);
  ExpectAllRows(capture, {file});
  for (size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(Plans(capture, r).size(), 12u);
    EXPECT_EQ(capture.ranks[r].timeline.steps.size(), 3u);  // steps of one thread hold for all ranks
  }
}

// nsys 10.1 (2019) has no globalPid: an operation belongs to the process of its call.
TEST_F(NsysRead, OperationsTakeTheProcessOfTheirCalls) {
  const std::string file = Make({}), without = Make({}, "without.sqlite");
  RunSql(without,
         "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid; "
         "ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY DROP COLUMN globalPid");
  const Capture named = Read({file}), capture = Read({without});
  ASSERT_EQ(capture.ranks.size(), named.ranks.size());
  ExpectAllRows(capture, {without});
  for (size_t r = 0; r < named.ranks.size(); ++r) {
    EXPECT_EQ(capture.ranks[r].device->events.size(), named.ranks[r].device->events.size());
    EXPECT_EQ(capture.ranks[r].timeline.nodes.size(), named.ranks[r].timeline.nodes.size());
    EXPECT_EQ(capture.ranks[r].timeline.edges.size(), named.ranks[r].timeline.edges.size());
  }
}

std::string Real(const std::string& name) { return std::string(CHAKRA_SHARED_DATA) + "/nsys/" + name; }

TEST_F(NsysRead, ReadsArchivesAsFolders) {
  NsysOptions options;
  options.hosts = 2;
  std::string tar;
  std::vector<std::string> paths;
  for (options.host = 0; options.host < 2; ++options.host) {
    const std::string name = absl::StrCat("host", options.host, ".sqlite");
    paths.push_back(Make(options, name));
    tar += TarMember("run/" + name, BytesOf(paths.back()));
  }
  tar += TarMember("run/notes.txt", "on two hosts") + kTarEnd;
  WriteBytes(folder_.At("run.tar"), tar);
  const auto whole = ReadTraceSet(paths, ReadOptions()),
             packed = ReadTraceSet({folder_.At("run.tar")}, ReadOptions());
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_TRUE(packed.ok()) << packed.status();
  ASSERT_EQ(packed->ranks.size(), whole->ranks.size());
  for (size_t r = 0; r < whole->ranks.size(); ++r)
    EXPECT_TRUE(SameContent(*packed->ranks[r].graph, *whole->ranks[r].graph)) << r;
  ASSERT_EQ(packed->inputs.size(), 1u);
  EXPECT_EQ(packed->inputs[0].path, folder_.At("run.tar"));
  WriteBytes(folder_.At("cut.tar"), tar.substr(0, tar.size() / 2));
  EXPECT_THAT(std::string(ReadTraceSet({folder_.At("cut.tar")}, ReadOptions()).status().message()),
              HasSubstr("cut.tar"));
}

TEST_F(NsysRead, MpiCallsKeepTheirTimes) {
  const std::string path = folder_.At("mpi.sqlite");
  RunSql(path, kLeast);
  RunSql(
      path,
      "INSERT INTO StringIds VALUES (9,'MPI_Allreduce');"
      "CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, "
      "commHandle INTEGER, rootRank INTEGER, size INTEGER, recvSize INTEGER);"
      "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (5100300000,5100340000,117440519,9,1,NULL,64,64)");
  const Capture capture = Read({path});
  ASSERT_EQ(capture.ranks.size(), 1u);
  const pytorch::DeviceTrace& trace = *capture.ranks[0].device;
  EXPECT_EQ(trace.name_of(trace.events.back()), "MPI_Allreduce");
  EXPECT_EQ(trace.events.back().dur, 40000);
  EXPECT_THAT(Warnings(capture), Contains(HasSubstr("1 calls of MPI keep their recorded times")));
}

TEST_F(NsysRead, ReadsARealExportOfTwoGpus) {
  const std::string file = Real("h100_2gpu_1s.sqlite");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file;
  const Capture capture = Read({file});
  ASSERT_EQ(capture.ranks.size(), 2u);
  EXPECT_EQ(Count(capture, pytorch::EventKind::kKernel), 3442u);
  EXPECT_EQ(Count(capture, pytorch::EventKind::kMemcpy), 904u);
  EXPECT_EQ(Count(capture, pytorch::EventKind::kMemset), 22u);
  ExpectAllRows(capture, {file});
  EXPECT_EQ(Bytes(capture, pytorch::EventKind::kMemcpy),
            static_cast<uint64_t>(Query(file, "SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY")));
  EXPECT_EQ(Count(capture, pytorch::EventKind::kCpuOp), 16782u);
  const uint64_t launched =
      static_cast<uint64_t>(Query(file,
                                  "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
                                  "CUPTI_ACTIVITY_KIND_RUNTIME r ON k.correlationId = "
                                  "r.correlationId AND k.globalPid / 16777216 = r.globalTid / 16777216"));
  uint64_t linked = 0;
  for (const pytorch::CaptureRank& rank : capture.ranks) {
    for (uint32_t row = 0; row < rank.device->events.size(); ++row)
      linked +=
          rank.device->events[row].kind == pytorch::EventKind::kKernel && rank.timeline.caller[row] != kNoRow;
  }
  EXPECT_EQ(linked, launched);
  EXPECT_THAT(Warnings(capture), Contains(HasSubstr("shapes")));
}

TEST_F(NsysRead, ReadsARealExportWithTimesFromZero) {
  const std::string file = Real("mock.sqlite");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file;
  const Capture capture = Read({file});
  ASSERT_EQ(capture.ranks.size(), 1u);
  ExpectAllRows(capture, {file});
  EXPECT_THAT(capture.ranks[0].device->devices, ElementsAre("NVIDIA GeForce RTX 3080"));
  // The recording began at its UTC time, and the first call 1.30 s later.
  EXPECT_EQ(capture.ranks[0].device->base_ns, 1776781226557295056);
  EXPECT_EQ(capture.ranks[0].device->events[0].ts, 1304349703);
}

// A rank's columns are drafted before ranks are joined; they must have the clocks, groups and peers that
// joining adds.
TEST_F(NsysRead, ColumnsOfTwoHostsEqualThoseOfFrames) {
  std::vector<std::string> paths;
  for (const int host : {0, 1}) {
    paths.push_back(Make({.hosts = 2, .host = host, .pipeline = true, .clock_error_ns = host * 3'000'000},
                         absl::StrCat("host", host, ".sqlite")));
  }
  for (const char* steps : {"", "1"}) {
    ReadOptions options;
    options.capture.steps = steps;
    const auto columns = ReadTraceSet(paths, options);
    options.keep_raw = true;
    const auto frames = ReadTraceSet(paths, options);
    ASSERT_TRUE(columns.ok() && frames.ok()) << columns.status() << frames.status();
    ASSERT_EQ(columns->ranks.size(), 4u);
    ASSERT_EQ(frames->ranks.size(), 4u);
    EXPECT_EQ(columns->groups, frames->groups);
    for (size_t r = 0; r < 4; ++r) {
      const RankTrace &a = columns->ranks[r], &b = frames->ranks[r];
      EXPECT_TRUE(SameContent(*a.graph, *b.graph)) << r;
      EXPECT_EQ(a.metadata, b.metadata);
      EXPECT_EQ(a.group_names, b.group_names);
      EXPECT_EQ(a.repairs.size(), b.repairs.size());
    }
  }
}

}  // namespace
}  // namespace chakra::nsys::CHAKRA_FILE
