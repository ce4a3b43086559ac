// The binary as scripts see it: exit status, stdout, stderr.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "proto/report.pb.h"
#include "test/folders.h"
#include "test/replay/run_binary.h"
#include "trace/io/proto_io.h"

namespace CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;

const std::string kStep = std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step";

std::string Content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

using Result = chakra::CommandResult;

class Cli : public testing::Test {
 protected:
  Cli() {
    std::string pattern = (fs::temp_directory_path() / "cli_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Cli() override { fs::remove_all(folder_); }

  Result Run(const std::string& arguments) const { return chakra::RunCommand(arguments); }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }

  // Expects a status, nothing on stdout, and `text` in one message on stderr.
  void ExpectRefused(const std::string& arguments, int status, const std::string& text) const {
    const Result r = Run(arguments);
    EXPECT_EQ(r.status, status) << arguments << "\n" << r.err;
    EXPECT_EQ(r.out, "") << arguments;
    EXPECT_EQ(r.err.rfind("chakra-replay: ", 0), 0u) << arguments << "\n" << r.err;
    EXPECT_NE(r.err.find(text), std::string::npos) << arguments << "\n" << r.err;
  }

  fs::path folder_;
};

TEST_F(Cli, VersionAndHelpGoToStdout) {
  const Result version = Run("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("chakra-replay ", 0), 0u);
  for (const char* command : {"", "replay", "inspect", "convert", "convert astra-sim"}) {
    const Result help = Run(std::string(command) + " --help");
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_NE(help.out.find("--help"), std::string::npos) << command;
    EXPECT_EQ(help.err, "") << command;
  }
}

TEST_F(Cli, CommandLineFaultsGiveStatus2) {
  ExpectRefused("", 2, "expected a command");
  ExpectRefused("repaly " + kStep, 2, "replay");
  ExpectRefused("--verison", 2, "--version");
  ExpectRefused("replay " + kStep + " --clustr dgx-h100", 2, "--cluster");
  ExpectRefused("replay --clus dgx-h100 " + kStep, 2, "there is no option --clus");
  ExpectRefused("collective all_reduce --lanes single", 2,
                "there is no option --lanes; it is an option of replay; see");
  ExpectRefused("replay", 2, "at least one TRACE");
  ExpectRefused("replay " + kStep + " --fabric analitical", 2, "analytical");
  ExpectRefused("replay " + kStep + " --compute guess", 2, "--compute");
  ExpectRefused("replay " + kStep + " --lanes many", 2, "--lanes");
  ExpectRefused("replay " + kStep + " --ranks 0", 2, "--ranks");
  ExpectRefused("replay " + kStep + " --format xml", 2, "--format");
  ExpectRefused("replay " + kStep + " --seed -1", 2,
                "it is -1; expected a whole number from 1 to 18446744073709551615");
  ExpectRefused("replay " + kStep + " --seed 0", 2, "--seed");
  ExpectRefused("topology show ring --devices 4 --seed -1", 2, "it is -1; expected a whole number from 0");
  ExpectRefused("convert " + kStep, 2, "-o OUT");
  ExpectRefused("convert astra-sim -o x", 2, "--network");
}

TEST_F(Cli, InputFaultsGiveStatus1) {
  ExpectRefused("replay " + At("absent"), 1, "absent");
  ExpectRefused("replay " + kStep + " --cluster dgx-h1000", 1, "dgx-h100");
  ExpectRefused("replay " + kStep + " --ranks 4", 1, "expected one");
  ExpectRefused("replay " + kStep + " --report " + At("no/report.json"), 1, "no folder");
  ExpectRefused("replay " + kStep + "/workload.0.et.zst", 1, "--ranks");
}

TEST_F(Cli, FullDiskGivesStatus1) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  ExpectRefused("replay " + kStep + " --report /dev/full", 1, "cannot");
}

TEST_F(Cli, WritesReportsInThreeFormats) {
  const Result text = Run("replay " + kStep);
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("dgx-h100 is assumed"), std::string::npos) << text.out;

  const Result json = Run("replay " + kStep + " --format json --cluster dgx-a100");
  chakra::proto::Report report;
  ASSERT_TRUE(chakra::ParseMessage(json.out, "report", &report).ok()) << json.out;
  EXPECT_EQ(report.rank_size(), 8);
  EXPECT_EQ(report.cluster(), "dgx-a100");
  EXPECT_GT(report.makespan_ps(), 0);
  ASSERT_EQ(report.input_size(), 9);
  EXPECT_EQ(report.input(0).sha256().size(), 64u);

  const Result csv = Run("replay " + kStep + " --cluster dgx-a100 --report " + At("r.csv"));
  EXPECT_EQ(csv.out, "");
  std::istringstream lines(Content(folder_ / "r.csv"));
  std::string header, row;
  std::getline(lines, header);
  std::getline(lines, row);
  EXPECT_EQ(header, "rank,end_ps,compute_busy_ps,comm_busy_ps,exposed_comm_ps,idle_ps");
  EXPECT_EQ(row.rfind("0," + std::to_string(report.rank(0).end_ps()) + ",", 0), 0u) << row;
}

TEST_F(Cli, ThreadsAndFastPathsGiveEqualResults) {
  const std::string common = "replay " + kStep + " --format csv --threads ";
  const std::string one = Run(common + "1").out;
  EXPECT_NE(one, "");
  EXPECT_EQ(Run(common + "4").out, one);
  EXPECT_EQ(Run(common + "1 --no-fast-path").out, one);
}

TEST_F(Cli, ConvertsToJsonAndBack) {
  ASSERT_EQ(Run("convert " + kStep + " -o " + At("json") + " --to json").status, 0);
  ASSERT_EQ(Run("convert " + At("json") + "/workload.?.json -o " + At("et") + " --compression zstd").status,
            0);
  EXPECT_EQ(Content(At("et") + "/workload.3.et.zst"), Content(kStep + "/workload.3.et.zst"));
  EXPECT_EQ(Content(At("et") + "/workload.json"), Content(kStep + "/workload.json"));
  EXPECT_EQ(Run("replay " + At("et") + " --format csv").out, Run("replay " + kStep + " --format csv").out);
}

TEST_F(Cli, InspectsAsTextAndJson) {
  EXPECT_NE(Run("inspect " + kStep).out.find("COMM_COLL_NODE"), std::string::npos);
  EXPECT_NE(Run("inspect " + kStep + " --format json").out.find("\"distinct_graphs\": \"2\""),
            std::string::npos);
}

}  // namespace
}  // namespace CHAKRA_FILE
