// --timeline, as a user's scripts run it.
#include <gmock/gmock.h>

#include "test/folders.h"
#include "test/replay/switch_bench.h"
#include "test/replay/timeline_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

using Timelines = SwitchBench;

TEST_F(Timelines, WriteBothFormatsAndCompressed) {
  Runs(run_ + "--timeline a.pftrace");
  Runs(run_ + "--timeline a.perfetto-trace.gz");
  Runs(run_ + "--timeline b.json");
  Runs(run_ + "--timeline b.json.gz --threads 1");
  Runs(run_ + "--timeline b.txt --timeline-format json");
  const std::string protobuf = Content(folder_ / "a.pftrace"), json = Content(folder_ / "b.json");
  EXPECT_EQ(Unpacked("a.perfetto-trace.gz"), protobuf);
  EXPECT_EQ(Unpacked("b.json.gz"), json);
  EXPECT_EQ(Content(folder_ / "b.txt"), json);
  for (const SeenTimeline& seen : {PerfettoReader(protobuf).seen(), JsonReader(json).seen()}) {
    EXPECT_THAT(seen.faults, IsEmpty());
    EXPECT_EQ(seen.Nodes().size(), 8u);
    EXPECT_EQ(seen.processes.size(), 4u);
    EXPECT_THAT(seen.counters, IsEmpty());
  }
  const Outcome r = Run(run_ + "--timeline - --timeline-format json");
  EXPECT_EQ(r.out, json);
}

TEST_F(Timelines, KeepTheReportAndCountFluidLinks) {
  for (const char* fabric : {"analytical", "analytical-fifo", "fluid", "packet"}) {
    const std::string run = run_ + "--format csv --fabric " + fabric;
    Runs(run);
    const std::string report = Content(folder_ / "report.txt");
    Runs(run + " --timeline a.json");
    EXPECT_EQ(Content(folder_ / "report.txt"), report) << fabric;
    EXPECT_EQ(JsonReader(Content(folder_ / "a.json")).seen().counters.empty(),
              fabric != std::string("fluid"));
  }
  Runs(run_ + "--fabric packet --link-series --timeline a.pftrace");
  const SeenTimeline seen = PerfettoReader(Content(folder_ / "a.pftrace")).seen();
  EXPECT_EQ(seen.processes.at(4), "links");
  EXPECT_EQ(seen.counters.size(), 2u * 8);
}

TEST_F(Timelines, ShowChosenRanks) {
  Runs(run_ + "--timeline a.json --timeline-ranks 1,3");
  EXPECT_THAT(JsonReader(Content(folder_ / "a.json")).seen().processes,
              ElementsAre(Pair(1, "rank 1"), Pair(3, "rank 3")));
  Runs(run_ + "--timeline a.json --timeline-ranks 1 --critical-path");
  EXPECT_THAT(JsonReader(Content(folder_ / "a.json")).seen().processes,
              ElementsAre(Pair(1, "rank 1"), Pair(5, "critical path")));
  Runs(run_ + "--timeline a.json --timeline-nodes 5",
       "chakra-replay: the timeline has 4 of 8 nodes, those of ranks 0 to 1; for the others: "
       "--timeline-ranks 2-3; "
       "for all at once: --timeline-nodes 0\n");
  EXPECT_EQ(JsonReader(Content(folder_ / "a.json")).seen().Nodes().size(), 4u);
}

TEST_F(Timelines, ShowACapture) {
  Runs("replay -q " + std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2 --report r.txt --timeline a.pftrace");
  const SeenTimeline seen = PerfettoReader(Content(folder_ / "a.pftrace")).seen();
  EXPECT_THAT(seen.faults, IsEmpty());
  EXPECT_EQ(seen.processes.size(), 2u);
  EXPECT_THAT(seen.tracks[0].second, HasSubstr("thread "));
  EXPECT_THAT(seen.arrows, Not(IsEmpty()));
}

TEST_F(Timelines, RefuseBadOptionsBeforeTheRun) {
  Refused(run_ + "--timeline a.txt", {"--timeline a.txt", ".pftrace", "--timeline-format"}, 2);
  Refused(run_ + "--timeline a.json.zst", {".gz, not .zst"}, 2);
  Refused(run_ + "--timeline -", {"--timeline-format"}, 2);
  Refused(run_ + "--timeline ''", {"--timeline names no file"}, 2);
  Refused(run_ + "--timeline a.json --timeline-format svg",
          {"--timeline-format", "\"svg\"", "perfetto or json"}, 2);
  Refused(run_ + "--timeline a.json --timeline-ranks 3-1", {"--timeline-ranks", "\"3-1\"", "0-7"}, 2);
  Refused(run_ + "--timeline a.json --timeline-nodes -1", {"--timeline-nodes"}, 2);
  Refused(run_ + "--timeline-ranks 1", {"--timeline-ranks needs --timeline"}, 2);
  Refused(run_ + "--flow-log a.json --timeline ./a.json", {"--timeline and --flow-log both go to ./a.json"},
          2);
  Refused(run_ + "--timeline report.txt --timeline-format json", {"--timeline and the report", "report.txt"},
          2);
  Refused(run_ + "--timeline nowhere/a.json", {"nowhere/a.json", "no folder"});
  EXPECT_FALSE(fs::exists(At("a.json")));
  EXPECT_FALSE(fs::exists(At("report.txt")));
}

TEST_F(Timelines, FailedRunLeavesNoFile) {
  Refused(run_ + "--timeline a.json --timeline-ranks 2-4", {"cannot show rank 4", "ranks 0 to 3"});
  EXPECT_FALSE(fs::exists(At("a.json")));
  if (fs::exists("/dev/full")) {
    Refused(run_ + "--timeline /dev/full --timeline-format json", {"/dev/full"});
  }
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
