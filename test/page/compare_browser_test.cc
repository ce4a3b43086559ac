// The page of a comparison in a browser: the drawing of both sides. Skipped if no Chromium is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "replay/compare/page.h"
#include "replay/compare/reports.h"
#include "test/page/browser.h"

namespace chakra::CHAKRA_FILE {
namespace {

// A report of ranks whose host is busy for a part of the time, and with `copies` also copies.
proto::Report HostBound(int ranks, bool copies) {
  proto::Report r;
  r.set_version("1");
  r.set_makespan_ps(87'410'000'000);
  r.set_activity_bucket_ps(1'000'000'000);
  for (int i = 0; i < ranks; ++i) {
    proto::RankReport& rank = *r.add_rank();
    rank.set_rank(i);
    rank.set_end_ps(87'410'000'000 - i);
    rank.set_compute_busy_ps(9'000'000'000);
    rank.set_host_busy_ps(80'000'000'000);
    if (copies) rank.set_memory_busy_ps(1'000'000'000);
    proto::ActivityRow& row = *r.add_activity();
    row.set_rank(i);
    row.set_lane("stream 1000000001");
    row.set_kind("compute");
    row.set_busy(std::string(87, '9'));
  }
  return r;
}

class CompareBrowser : public Browser {
 protected:
  // The page on a narrow screen.
  std::string Narrow(const proto::Report& a, const proto::Report& b) const {
    proto::Comparison compared = CompareReports(a, b);
    compared.mutable_a()->set_path("/somewhere/of/long/names/before_the_change.json");
    compared.mutable_b()->set_path("/somewhere/of/long/names/after_the_change.json");
    const auto page = MakeComparisonPage(compared, a, b);
    EXPECT_TRUE(page.ok()) << page.status();
    return Played(page.value_or(""), R"(
      const say = (name, value) => document.body.setAttribute("data-" + name, value);
      const drawn = Chart.getChart(document.querySelector("#spent canvas"));
      say("labels", drawn.data.labels.join("|"));
      say("parts", drawn.data.datasets.map((d) => d.label).join("|"));
      say("apart", drawn.legend.bottom <= drawn.chartArea.top);
      say("bar", drawn.chartArea.height / drawn.data.labels.length >= 15);
      say("page", document.documentElement.scrollWidth <= innerWidth);
      const ticks = [...document.querySelectorAll(".timeline .scale")].map((scale) =>
        [...scale.children].map((t) => t.getBoundingClientRect()).filter((box) => box.width > 0));
      say("ticks", ticks.every((row) => row.length > 1 &&
        row.every((box, i) => box.height < 24 && (i === 0 || box.left > row[i - 1].right))));
      const path = document.querySelector("#facts dd");
      const range = document.createRange();
      say("words", [...path.childNodes].filter((n) => n.nodeType === 3).every((n) => {
        range.selectNode(n);
        return range.getClientRects().length === 1;
      }));
    )",
                  "--window-size=500,800");
  }
};

TEST_F(CompareBrowser, EachRankOfBothSidesHasABar) {
  const std::string body = Narrow(HostBound(1, true), HostBound(3, true));
  EXPECT_EQ(Between(body, "data-labels=\"", "\""), "A rank 0|B rank 0|B rank 1|B rank 2");
  EXPECT_EQ(Between(body, "data-parts=\"", "\""),
            "compute|exposed communication|host and memory operations|idle|ended");
  for (const char* holds : {"apart", "bar", "page", "ticks", "words"}) {
    EXPECT_EQ(Between(body, absl::StrCat("data-", holds, "=\""), "\""), "true") << holds;
  }
}

TEST_F(CompareBrowser, SingleKindsKeepTheirName) {
  const std::string body = Narrow(HostBound(1, false), HostBound(1, false));
  EXPECT_EQ(Between(body, "data-parts=\"", "\""), "compute|exposed communication|host operations|idle|ended");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
