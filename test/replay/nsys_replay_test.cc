// Exports of Nsight Systems on the command line. An unchanged export replays in its measured time; all
// commands for captures work.
#include <gmock/gmock.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "acceptance_testing.h"
#include "bench/nsys_generator.h"
#include "test/folders.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

class NsysReplay : public Bench {
 protected:
  std::string Make(const NsysOptions& options, const std::string& name) const {
    fs::create_directories(fs::path(At(name)).parent_path());
    EXPECT_TRUE(GenerateNsys(options, At(name)).ok());
    return name;
  }
  // Each step and window is within 0.1 % of the measured time, and the starts of kernels are within 1 % of
  // it.
  static void ExpectIdentity(const proto::Report& report, int rows) {
    EXPECT_EQ(report.step_size(), rows);
    for (const proto::StepReport& step : report.step()) {
      SCOPED_TRACE(absl::StrCat("rank ", step.rank(), " ", step.step()));
      EXPECT_GT(step.measured_ps(), 0);
      EXPECT_NEAR(static_cast<double>(step.replayed_ps()), static_cast<double>(step.measured_ps()),
                  static_cast<double>(step.measured_ps()) * 1e-3);
      EXPECT_LE(static_cast<double>(step.kernel_start_error_ps()),
                static_cast<double>(step.measured_ps()) * 1e-2);
    }
  }
};

TEST_F(NsysReplay, UnchangedExportReplaysMeasuredTime) {
  Make({.gpus = 4, .pipeline = true}, "a.sqlite");
  ExpectIdentity(Replayed("a.sqlite"), 4 * 4);
  ExpectIdentity(Replayed("a.sqlite --steps 1"), 4 * 2);
  Make({.blobs = false, .operators = false, .event_records = false}, "bare.sqlite");
  ExpectIdentity(Replayed("bare.sqlite"), 2 * 4);
  Make({.graph_of_forward = true}, "nodes.sqlite");
  ExpectIdentity(Replayed("nodes.sqlite"), 2 * 4);
  Make({.graph_traced_whole = true}, "graph.sqlite");
  ExpectIdentity(Replayed("graph.sqlite"), 2 * 4);
  Make({.hosts = 2, .host = 0}, "two/a.sqlite");
  Make({.hosts = 2, .host = 1}, "two/b.sqlite");
  ExpectIdentity(Replayed("two"), 4 * 4);
}

TEST_F(NsysReplay, RealExportsReplayMeasuredTime) {
  for (const auto& [name, rows] :
       std::initializer_list<std::pair<const char*, int>>{{"h100_2gpu_1s", 2}, {"mock", 1}}) {
    const std::string file = absl::StrCat(CHAKRA_SHARED_DATA, "/nsys/", name, ".sqlite");
    if (!fs::exists(file)) GTEST_SKIP() << file;
    ExpectIdentity(Replayed(file), rows);
  }
}

// Sizes, groups and peers of calls come from the payloads.
TEST_F(NsysReplay, ClusterCarriesBytesOfPayloads) {
  Make({.hosts = 2, .host = 0, .pipeline = true}, "two/a.sqlite");
  Make({.hosts = 2, .host = 1, .pipeline = true}, "two/b.sqlite");
  const proto::Report fast = Replayed("two --cluster dgx-h100:nodes=4 --placement stride:8");
  uint64_t reduced = 0, sent = 0;
  for (const proto::CollectiveReport& comm : fast.collective()) {
    if (comm.kind() == "all_reduce") {
      EXPECT_EQ(comm.ranks(), 4);
      reduced += comm.bytes();
    } else if (comm.kind() == "send_recv") {
      sent += comm.bytes();
    }
  }
  EXPECT_EQ(reduced, uint64_t{3 * 4} * (4 << 20));
  EXPECT_EQ(sent, uint64_t{3 * 2} * (5 << 20));
}

TEST_F(NsysReplay, ConvertedTracesReplayEqually) {
  Make({.pipeline = true}, "a.sqlite");
  ASSERT_EQ(Run("convert a.sqlite -o out").status, 0);
  EXPECT_EQ(Replayed("out").makespan_ps(), Replayed("a.sqlite").makespan_ps());
}

TEST_F(NsysReplay, CompareNamesChangedKernels) {
  Make({}, "before.sqlite");
  Make({.kernel_percent = 80}, "after.sqlite");
  const Outcome compared = Run("compare before.sqlite after.sqlite");
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_THAT(compared.out, testing::HasSubstr("sm90_xmma_gemm_f32f32_nt_n_tilesize128x128"));
}

TEST_F(NsysReplay, EditsScaleKernels) {
  Make({}, "a.sqlite");
  const int64_t before = Replayed("a.sqlite").makespan_ps();
  EXPECT_LT(Replayed("a.sqlite --scale tn_n_tilesize=0.5").makespan_ps(), before);
}

TEST_F(NsysReplay, RecordHelpNamesProfilerSwitches) {
  for (const auto& [tool, text] :
       std::initializer_list<std::pair<const char*, const char*>>{{"torch", "ExecutionTraceObserver"},
                                                                  {"nsys", "--include-blobs=true"},
                                                                  {"jax", "--xla_dump_to"},
                                                                  {"rocprof", "--rccl-trace"},
                                                                  {"nccl", "NCCL_INSPECTOR_ENABLE"}}) {
    const Outcome help = Run(absl::StrCat("record-help ", tool));
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, testing::HasSubstr(text));
  }
  EXPECT_EQ(Run("record-help nothing").status, 2);
  EXPECT_EQ(Run("record-help").status, 2);
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
