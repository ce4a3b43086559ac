// --html, as a user's scripts run it.
#include <gmock/gmock.h>

#include "google/protobuf/util/message_differencer.h"
#include "test/replay/acceptance_testing.h"
#include "test/replay/page_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::google::protobuf::util::MessageDifferencer;

constexpr char kRun[] = "replay -q t --cluster ring4.txtpb --compute recorded ";

class Pages : public Bench {
 protected:
  Pages() {
    for (int r = 0; r < 4; ++r) Rank("t", r, {Comp(0, 3 + r), Coll(1, 0, 40000, {0})});
  }
  std::string Runs(const std::string& arguments) const {
    const Outcome r = Run(kRun + arguments);
    EXPECT_EQ(r.status, 0) << arguments << "\n" << r.err;
    EXPECT_EQ(r.err, "") << arguments;
    return r.out;
  }
};

TEST_F(Pages, ContainTheReportWithCriticalPath) {
  const std::string alone = Runs("--report alone.json");
  Runs("--report beside.json --html run.html --threads 1");
  EXPECT_EQ(Content(folder_ / "beside.json"), Content(folder_ / "alone.json"));
  Runs("--report path.json --critical-path");
  proto::Report expected;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(Content(folder_ / "path.json"), &expected).ok());
  const std::string page = Content(folder_ / "run.html");
  EXPECT_TRUE(MessageDifferencer::Equals(ReportOfPage(page), expected));
  EXPECT_GT(expected.critical_path().cause_size(), 0);
  EXPECT_EQ(Runs("--report other.txt --html -"), page);
}

TEST_F(Pages, FluidPagesHaveLinksOverTime) {
  for (const char* fabric : {"fluid", "packet", "analytical"}) {
    Runs(std::string("--report r.txt --html run.html --fabric ") + fabric);
    const proto::Report report = ReportOfPage(Content(folder_ / "run.html"));
    EXPECT_EQ(report.fabric(), fabric);
    EXPECT_EQ(report.link_size() > 0 && report.link(0).series_size() > 0, fabric == std::string("fluid"));
  }
}

TEST_F(Pages, RefuseBadOptionsBeforeTheRun) {
  const std::string run(kRun);
  Refused(run + "--html ''", {"--html names no file"}, 2);
  Refused(run + "--html -", {"--html and the report both go to standard output"}, 2);
  Refused(run + "--report a.html --html ./a.html", {"--html and the report both go to ./a.html"}, 2);
  Refused(run + "--report r --flow-log a --html a", {"--html and --flow-log both go to a"}, 2);
  Refused(run + "--report r --timeline a.json --html a.json", {"--timeline and --html both go to a.json"}, 2);
  Refused(run + "--report r --html nowhere/a.html", {"nowhere/a.html", "no folder"});
  EXPECT_FALSE(fs::exists(At("a.html")));
  EXPECT_FALSE(fs::exists(At("r")));
}

TEST_F(Pages, FullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  Refused(std::string(kRun) + "--report r --html /dev/full", {"/dev/full"});
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
