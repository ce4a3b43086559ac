// --flow-log, --link-log and --link-totals, as a user's scripts run them.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>

#include <map>
#include <numeric>
#include <sstream>

#include "absl/strings/str_split.h"
#include "proto/report.pb.h"
#include "test/folders.h"
#include "test/replay/switch_bench.h"
#include "test/sanitized.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Logs : public SwitchBench {
 protected:
  // The rows of a file that a run wrote.
  std::vector<std::string> Lines(const std::string& name) const {
    std::vector<std::string> lines;
    std::stringstream in(Content(folder_ / name));
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  // The names of the files in the folder, without the inputs.
  std::vector<std::string> Made() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      if (name[0] != '.' && name != "t" && name.find(".txtpb") == std::string::npos) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Logs, EqualForAnyThreadsAndRepeats) {
  const std::string run = run_ + "--fabric packet --packet transport=dcqcn,buffer=60KB,ecn_low=10KB ";
  std::vector<std::string> first;
  for (const char* threads : {"1", "2", "2"}) {
    Runs(run + "--flow-log f.csv --link-log l.csv --link-totals t.csv --log-links 3 --threads " + threads);
    const std::vector<std::string> files = {Content(folder_ / "f.csv"), Content(folder_ / "l.csv"),
                                            Content(folder_ / "t.csv"), Content(folder_ / "report.txt")};
    if (first.empty()) first = files;
    EXPECT_EQ(files, first);
  }
  EXPECT_EQ(Lines("f.csv").size(), 1u + 12);
  EXPECT_THAT(first[3], AllOf(HasSubstr("Flows by size"), HasSubstr("<= 1e+04     12")));
  EXPECT_EQ(Lines("t.csv").size(), 1u + 3);
  EXPECT_GE(Lines("l.csv").size(), 1u + 3);
  EXPECT_THAT(Lines("f.csv")[1], AllOf(HasSubstr(",all_to_all,,0,"), HasSubstr(",3000000,")));
}

// Links that lose packets. With a probability of 0, no output changes. Else the log's buckets sum to the
// losses of the report, for any number of threads.
TEST_F(Logs, LogsCountRandomLosses) {
  const std::string run = run_ +
                          "--network leaf_spine:hosts_per_leaf=2,leaves=2,spines=2 --fabric "
                          "packet --packet series=1us,timeout=20us --format json --link-log "
                          "l.csv --link-totals t.csv ";
  const auto files = [&](const std::string& more) {
    Runs(run + more);
    return std::vector<std::string>{Content(folder_ / "report.txt"), Content(folder_ / "l.csv"),
                                    Content(folder_ / "t.csv")};
  };
  const auto plain = files("");
  if (!kSanitized) {
    EXPECT_EQ(files("--fault lossy:share=1,loss=0"), plain);
  }
  const auto lossy = files("--fault lossy:share=1,loss=0.1");
  EXPECT_NE(lossy[0], plain[0]);
  if (!kSanitized) {
    EXPECT_EQ(files("--fault lossy:share=1,loss=0.1 --threads 3"), lossy);
  }
  proto::Report report;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(lossy[0], &report).ok());
  EXPECT_GT(report.packet().lost(), 10u);
  EXPECT_EQ(report.packet().drops(), 0u);
  for (const proto::LinkReport& l : report.link()) {
    EXPECT_EQ(std::accumulate(l.lost_series().begin(), l.lost_series().end(), uint64_t{0}), l.lost())
        << l.name();
  }
  std::map<std::string, uint64_t> lost, total;
  const auto log = Lines("l.csv"), totals = Lines("t.csv");
  for (size_t i = 1; i < log.size(); ++i) {
    const std::vector<std::string> cells = absl::StrSplit(log[i], ',');
    lost[cells[1]] += std::stoull(cells[9]);
  }
  for (size_t i = 1; i < totals.size(); ++i) {
    const std::vector<std::string> cells = absl::StrSplit(totals[i], ',');
    total[cells[1]] += std::stoull(cells[15]);
  }
  EXPECT_EQ(lost, total);
  uint64_t all = 0;
  for (const auto& [link, n] : total) all += n;
  EXPECT_EQ(all, report.packet().lost());
  // Fabric fluid takes loss as less bandwidth, as documented.
  Runs(run_ + "--fabric fluid --format csv --fault lossy:share=1,loss=0.5");
  const std::string half = Content(folder_ / "report.txt");
  Runs(run_ + "--fabric fluid --format csv --fault slow:share=1,bandwidth=0.5");
  EXPECT_EQ(Content(folder_ / "report.txt"), half);
  Refused(run_ + "--fabric packet --packet skip=steady --fault lossy:share=1,loss=0.1",
          {"random losses", "expected skip=off"}, 1);
}

// A flow log does not change the report.
TEST_F(Logs, LogsDoNotChangeTheReport) {
  for (const char* fabric : {"analytical", "analytical-fifo", "fluid", "packet"}) {
    const std::string run = run_ + "--format csv --fabric " + fabric;
    Runs(run);
    const std::string report = Content(folder_ / "report.txt");
    Runs(run + " --flow-log f.csv");
    EXPECT_EQ(Content(folder_ / "report.txt"), report) << fabric;
    EXPECT_EQ(Lines("f.csv").size(), 1u + 12) << fabric;
  }
}

TEST_F(Logs, FlowLogHasRanksAndDevices) {
  Rank("two", 0, {Send(0, 1, 1000)});
  Rank("two", 1, {Recv(0, 0, 1000)});
  Write("places", "0 3\n1 2\n");
  Runs(
      "replay -q two --cluster switch.txtpb --placement places --report r.txt --fabric fluid --flow-log "
      "f.csv");
  EXPECT_THAT(Lines("f.csv"),
              ElementsAre(HasSubstr("flow,src_rank,dst_rank,src_device,dst_device,"),
                          "0,0,1,3,2,1000,1000,send_recv,,0,,,0,20000,1020000,1020000,1020000,1.000000"));
}

TEST_F(Logs, CompressesByFileName) {
  const std::string run = run_ + "--fabric fluid --flow-log ";
  Runs(run + "f.csv");
  const std::string plain = Content(folder_ / "f.csv");
  for (const char* name : {"f.csv.gz", "f.csv.zst"}) {
    Runs(run + name);
    const std::string packed = Content(folder_ / name);
    EXPECT_LT(packed.size(), plain.size());
    EXPECT_EQ(Unpacked(name), plain) << name;
  }
}

TEST_F(Logs, OneLogMayGoToStandardOutput) {
  const Outcome r = Run(run_ + "--fabric fluid --link-totals - --log-links 1");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("link,name,class,dimension,"), HasSubstr(",device 0 - switch of net,")));
  Refused("replay t --cluster switch.txtpb --flow-log -", {"--flow-log", "standard output"}, 2);
  Refused("collective all_reduce --flow-log -", {"--flow-log", "standard output"}, 2);
}

TEST_F(Logs, RefusesBadOptionsBeforeTheRun) {
  const std::string run = run_ + "--fabric fluid ";
  Refused(run + "--flow-log f.csv --link-log ./f.csv", {"--link-log and --flow-log both go to ./f.csv"}, 2);
  Refused(run + "--flow-log report.txt", {"--flow-log", "report.txt"}, 2);
  Refused(run + "--log-links 4", {"--log-links needs --link-log"}, 2);
  Refused(run + "--log-links 0 --link-log l.csv", {"--log-links"}, 2);
  Refused(run + "--flow-log ''", {"--flow-log names no file"}, 2);
  Refused(run_ + "--link-log l.csv", {"--link-log", "fluid and packet", "analytical"}, 2);
  Refused(run_ + "--link-totals l.csv --fabric analytical-fifo", {"--link-totals"}, 2);
  Refused(run + "--flow-log nowhere/f.csv", {"nowhere/f.csv", "no folder"});
  Refused(run + "--flow-log t", {"cannot write t", "folder"});
  Refused("replay -q " + std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2 --flow-log f.csv",
          {"--flow-log", "--comm simulated"});
  EXPECT_THAT(Made(), IsEmpty());
}

TEST_F(Logs, NamesFullDiskAndFailureLeavesNoFiles) {
  if (fs::exists("/dev/full")) {
    for (const char* option : {"--flow-log", "--link-log", "--link-totals"}) {
      Refused(run_ + "--fabric fluid " + option + " /dev/full", {"/dev/full"});
    }
    EXPECT_THAT(Made(), ElementsAre("report.txt"));  // the report does not depend on the logs
    fs::remove(At("report.txt"));
  }
  const std::string stuck =
      "collective all_to_all --bytes 256KiB --ranks 8 --cluster dgx-a100:gpus_per_node=1 "
      "--network ring --fabric packet --packet flow_control=credit,credit=9KB ";
  Refused(stuck + "--flow-log f.csv --link-log l.csv", {"deadlock"});
  EXPECT_THAT(Made(), IsEmpty());
}

// Sizes follow each other in time, and are calls 0, 1, ...
TEST_F(Logs, CollectiveCommandWritesLogs) {
  const std::string price =
      "collective all_gather --bytes 4000,8000 --ranks 4 --cluster switch.txtpb --algorithm ring "
      "--format csv -o ";
  Runs(price + "plain.csv");
  Runs(price + "table.csv --flow-log f.csv");
  EXPECT_EQ(Content(folder_ / "table.csv"), Content(folder_ / "plain.csv"));
  const auto rows = Lines("f.csv");
  ASSERT_EQ(rows.size(), 1u + 24);
  // A step: 1,000 bytes at 20 ps, and twice 500 ns.
  EXPECT_EQ(rows[1], "0,0,1,0,1,1000,1000,all_gather,,0,0,0,0,,1020000,1020000,1020000,1.000000");
  EXPECT_EQ(rows[24].substr(0, 3), "23,");
  EXPECT_THAT(rows[24], HasSubstr(",2000,2000,all_gather,,1,4,0,5140000,,6180000,1040000,1040000,1.000000"));
  Runs(price + "table.csv --fabric fluid --link-log l.csv --link-totals t.csv --log-links 2");
  EXPECT_THAT(Lines("t.csv")[1], HasSubstr("0,50000000000,9000,6,0.029126,1.000000,,,,,,"));
  EXPECT_THAT(Lines("l.csv")[1], Not(IsEmpty()));
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
