// `convert pytorch` and `replay`, end to end: a converted capture replays like the capture itself.
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "acceptance_testing.h"
#include "capture_testing.h"
#include "test/trace/pytorch/capture_builder.h"
#include "test/trace/pytorch/capture_files.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using pytorch::Shared;

class CaptureCommand : public Bench {
 protected:
  static pytorch::KinetoBuilder Sample(int rank) {
    return pytorch::KinetoBuilder()
        .Rank(rank, 2)
        .Op(1, "aten::mm", 0, 40000)
        .Launch(1, 2000, 3000, 7, "gemm", 9001, 10002)
        .Launch(1, 12000, 1000, 20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 20000 + rank * 1000,
                20000 - rank * 1000, pytorch::CommArgs("allreduce", 1000, 1000, "0", "[0, 1]", 2));
  }
  // Expects the same makespan, spans and steps.
  static void ExpectSame(const acceptance::Replayed& a, const acceptance::Replayed& b) {
    EXPECT_EQ(a.metrics.makespan.picos(), b.metrics.makespan.picos());
    ASSERT_EQ(a.spans.size(), b.spans.size());
    for (size_t rank = 0; rank < a.spans.size(); ++rank) {
      ASSERT_EQ(a.spans[rank].size(), b.spans[rank].size());
      for (size_t i = 0; i < a.spans[rank].size(); ++i) {
        ASSERT_EQ(a.spans[rank][i].begin.picos(), b.spans[rank][i].begin.picos()) << rank << " " << i;
        ASSERT_EQ(a.spans[rank][i].end.picos(), b.spans[rank][i].end.picos()) << rank << " " << i;
      }
    }
    ASSERT_EQ(a.steps.size(), b.steps.size());
    for (size_t i = 0; i < a.steps.size(); ++i) {
      EXPECT_EQ(a.steps[i].name, b.steps[i].name);
      EXPECT_EQ(a.steps[i].measured.picos(), b.steps[i].measured.picos());
      EXPECT_EQ(a.steps[i].replayed.picos(), b.steps[i].replayed.picos());
    }
  }
  void Converted(const std::string& arguments) const {
    const Outcome r = Run("convert pytorch " + arguments);
    EXPECT_EQ(r.status, 0) << r.err;
  }
};

TEST_F(CaptureCommand, AcceptsRelativePaths) {
  for (const int rank : {0, 1}) Write(absl::StrCat("sub/dir/k.", rank, ".json"), Sample(rank).Json());
  EXPECT_EQ(Replayed("sub/dir").makespan_ps(), 40000000);
  EXPECT_EQ(Replayed("./sub/../sub/dir/k.0.json sub/dir/k.1.json").makespan_ps(), 40000000);
  Converted("sub/dir -o sub/out/");
  EXPECT_EQ(Replayed("sub/out").makespan_ps(), 40000000);
}

TEST_F(CaptureCommand, WritesFilesWithAPrefix) {
  Write("kineto.0.json", Sample(0).Json());
  Write("kineto.1.json", Sample(1).Json());
  for (const char* out : {"step", "new/folder/step"}) {
    const Outcome r = Run(absl::StrCat("convert pytorch kineto.0.json kineto.1.json -o ", out));
    ASSERT_EQ(r.status, 0) << r.err;
    const Outcome read = Run(absl::StrCat("inspect ", out));
    EXPECT_EQ(read.status, 0) << read.err;
  }
}

TEST_F(CaptureCommand, ConvertedCaptureReplaysTheSame) {
  for (const int rank : {0, 1}) Write(absl::StrCat("c/k.", rank, ".json"), Sample(rank).Json());
  Converted("c -o out/");
  ExpectSame(ReplayOf({At("c")}), ReplayOf({At("out")}));
}

TEST_F(CaptureCommand, ConvertedDlrmReplaysTheSame) {
  SKIP_WITHOUT_SHARED_DATA();
  const std::string dlrm = Shared("param/dlrm");
  Converted(dlrm + " -o out/ --threads 1");
  ExpectSame(ReplayOf({dlrm}), ReplayOf({At("out")}));
  EXPECT_EQ(Replayed("out").makespan_ps(), Replayed(dlrm).makespan_ps());
  // Four threads write the same bytes; protobuf reads them as whole messages.
  Converted(dlrm + " -o four/ --threads 4");
  uint64_t nodes = 0;
  for (int rank = 0; rank < 8; ++rank) {
    const std::string name = absl::StrCat("/capture.", rank, ".et");
    const std::string bytes = Content(At("out" + name));
    EXPECT_EQ(bytes, Content(At("four" + name)));
    const pytorch::Written w = pytorch::Parse(bytes);
    nodes += w.nodes.size();
    EXPECT_EQ(w.metadata.version(), "0.0.4");
  }
  EXPECT_EQ(nodes, Replayed("out").nodes());
}

TEST_F(CaptureCommand, ConvertsSelectedSteps) {
  SKIP_WITHOUT_SHARED_DATA();
  const std::string file = Shared("hta/a100_resnet50_ddp_rank-0_of_2.json.gz");
  Converted(file + " --steps 5 -o out/");
  const acceptance::Replayed one = ReplayOf({At("out")});
  ASSERT_EQ(one.steps.size(), 2u);
  EXPECT_EQ(one.steps[1].name, "ProfilerStep#5");
  EXPECT_NEAR(static_cast<double>(one.steps[1].measured.picos()) / 1e6, 219727, 1);
  EXPECT_NEAR(static_cast<double>(one.steps[1].replayed.picos()) / 1e6, 219727, 219);
  EXPECT_LE(one.steps[1].kernel_start_error.picos(), 219727000);
  Converted(file + " --steps skip-first -o later/");
  const acceptance::Replayed later = ReplayOf({At("later")});
  ASSERT_EQ(later.steps.size(), 3u);
  EXPECT_NEAR(static_cast<double>(later.steps[2].replayed.picos()) / 1e6, 224936, 224);
}

TEST_F(CaptureCommand, ConvertsSelectedRanksOfDlrm) {
  SKIP_WITHOUT_SHARED_DATA();
  Converted(Shared("param/dlrm") + " --select-ranks 1,3 -o out/");
  const acceptance::Replayed r = ReplayOf({At("out")});
  ASSERT_EQ(r.traces.ranks.size(), 2u);
  std::set<int> recorded;
  for (const StepMetrics& s : r.steps) {
    recorded.insert(s.recorded_rank);
    EXPECT_NEAR(static_cast<double>(s.replayed.picos()) / static_cast<double>(s.measured.picos()), 1, 0.01)
        << s.recorded_rank << s.name;
  }
  EXPECT_EQ(recorded, (std::set<int>{1, 3}));
}

TEST_F(CaptureCommand, ConvertsOneHostAndDevicePair) {
  SKIP_WITHOUT_SHARED_DATA();
  Converted("--host " + Shared("param/linear_et.json.gz") + " --device " +
            Shared("param/linear_kineto.json.gz") + " -o out/");
  ExpectSame(ReplayOf({Shared("param/linear_et.json.gz"), Shared("param/linear_kineto.json.gz")}),
             ReplayOf({At("out")}));
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
