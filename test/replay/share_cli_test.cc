// Folders whose ranks share files. Every command gives the same result as for a folder with one file for each
// rank, and as for the workload.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

class ShareCli : public Bench {
 protected:
  void Generate(const std::string& step, const std::string& options, const std::string& to) const {
    const Outcome r = Run("generate " + step + " -o " + to + " " + options);
    ASSERT_EQ(r.status, 0) << r.err;
  }
  // The report without the paths of the traces.
  std::string ReportText(const std::string& arguments) const {
    proto::Report report = ReportOf(arguments);
    report.clear_input();
    report.clear_group_source();
    return report.DebugString();
  }
  std::map<std::string, std::string> Files(const std::string& folder) const {
    std::map<std::string, std::string> files;
    for (const auto& e : fs::directory_iterator(At(folder))) files[e.path().filename()] = Content(e.path());
    return files;
  }
};

constexpr char kStep[] =
    "--model llama3-8b:layers=4 --parallel tp=2,pp=2,dp=2,cp=2,zero=1 --training seq=1024,global_batch=8";
constexpr char kExperts[] =
    "--model qwen3-30b-a3b:layers=2 --parallel tp=2,dp=4,ep=4,pp=2,zero=1 --training seq=512,global_batch=16";

TEST_F(ShareCli, ReplaysEqualFilesAndWorkload) {
  for (const char* step : {kStep, kExperts}) {
    fs::remove_all(At("each"));
    fs::remove_all(At("shared"));
    Generate(step, "", "each");
    Generate(step, "--share", "shared");
    EXPECT_EQ(Files("shared").size(), 3u);
    const std::string files = ReportText("each --cluster dgx-h100");
    EXPECT_EQ(ReportText(std::string(step) + " --cluster dgx-h100"), files);
    for (const char* threads : {"1", "2", "8"}) {
      EXPECT_EQ(ReportText(std::string("shared --cluster dgx-h100 --threads ") + threads), files) << threads;
    }
    // Each rank by itself, and with flows that delay each other.
    EXPECT_EQ(ReportText("shared --cluster dgx-h100 --critical-path"),
              ReportText("each --cluster dgx-h100 --critical-path"));
    EXPECT_EQ(ReportText("shared --cluster dgx-h100 --fabric fluid"),
              ReportText("each --cluster dgx-h100 --fabric fluid"));
    EXPECT_EQ(ReportText("shared --cluster dgx-h100 --scale mm=0.5"),
              ReportText("each --cluster dgx-h100 --scale mm=0.5"));
  }
}

TEST_F(ShareCli, ConvertsToOneFileForEachRank) {
  Generate(kStep, "", "each");
  Generate(kStep, "--share", "shared");
  const Outcome packed = Run("convert shared -o packed --compression zstd");
  ASSERT_EQ(packed.status, 0) << packed.err;
  EXPECT_EQ(Files("packed"), Files("each"));
  for (const char* to : {"et", "json", "text"}) {
    fs::remove_all(At("a"));
    fs::remove_all(At("b"));
    const Outcome a = Run(std::string("convert shared -o a --to ") + to);
    ASSERT_EQ(a.status, 0) << a.err;
    ASSERT_EQ(Run(std::string("convert each -o b --to ") + to).status, 0);
    EXPECT_EQ(Files("a"), Files("b")) << to;
  }
  EXPECT_THAT(Run("convert shared -o shared").err, HasSubstr("expected another folder"));
  ASSERT_EQ(Run("convert each -o shared").status, 1);
  EXPECT_THAT(Run("convert each -o shared").err, HasSubstr("shared holds workload.ranks.json"));
}

TEST_F(ShareCli, EditsAndInspectsEqualFiles) {
  Generate(kStep, "", "each");
  Generate(kStep, "--share", "shared");
  for (const char* folder : {"shared", "each"}) {
    const Outcome r = Run(std::string("edit ") + folder + " --scale mm=0.5 -q -o edited_" + folder);
    ASSERT_EQ(r.status, 0) << r.err;
  }
  EXPECT_EQ(Files("edited_shared"), Files("edited_each"));
  const Outcome shared = Run("inspect shared"), each = Run("inspect each");
  ASSERT_EQ(shared.status, 0) << shared.err;
  // The outputs are equal except for the names of files.
  const auto without_names = [](std::string text) {
    for (size_t at = text.find("/workload."); at != text.npos; at = text.find("/workload.")) {
      const size_t begin = text.find_last_of(" \n", at) + 1;
      text.erase(begin, text.find('\n', at) - begin);
    }
    return text;
  };
  EXPECT_EQ(without_names(shared.out), without_names(each.out));
}

// A workload file has no folder with groups.
TEST_F(ShareCli, WorkloadGroupsComeWithTraces) {
  Write("step.txtpb",
        "model { preset: \"llama3-8b\" layers: 2 }\nparallel { tp: 2 dp: 2 }\n"
        "training { seq: 256 global_batch: 4 }\n");
  const std::string memory = ReportText("step.txtpb --cluster dgx-h100");
  ASSERT_EQ(Run("convert step.txtpb -o converted").status, 0);
  EXPECT_EQ(ReportText("converted --cluster dgx-h100"), memory);
  ASSERT_EQ(Run("edit step.txtpb --scale mm=0.5 -q -o edited").status, 0);
  EXPECT_EQ(ReportOf("edited --cluster dgx-h100").makespan_ps(),
            ReportOf("step.txtpb --cluster dgx-h100 --scale mm=0.5").makespan_ps());
}

TEST_F(ShareCli, DoctorReadsSharedFiles) {
  Generate(kStep, "--share", "shared");
  const Outcome r = Run("doctor shared");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("16 ranks"));
  EXPECT_THAT(r.out, HasSubstr("chakra-replay replay shared"));
  EXPECT_THAT(r.out, ::testing::Not(HasSubstr("unknown to this program")));
  fs::remove(At("shared/workload.0.et.zst"));
  EXPECT_THAT(Run("doctor shared").out, HasSubstr("workload.0.et.zst"));
}

TEST_F(ShareCli, RefusesBadOptions) {
  EXPECT_THAT(Run(std::string("generate ") + kStep + " --share").err, HasSubstr("--share expects -o DIR"));
  EXPECT_THAT(Run(std::string("generate ") + kStep + " --share -o x --ranks 1").err,
              HasSubstr("--share writes what all ranks share"));
  Generate(kStep, "--share", "shared");
  EXPECT_THAT(Run("replay shared --steps 1").err, HasSubstr("only captures allow selecting steps and ranks"));
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
