// The page of a plan in a browser: its tables match the plan. Skipped if no Chromium is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/plan/print.h"
#include "test/page/browser.h"

namespace chakra::planning::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

class PlanBrowser : public Browser {
 protected:
  static proto::PlanReport Report(int rows) {
    proto::PlanReport r;
    r.set_version("1");
    r.set_model("a <b>model</b>");
    r.set_cluster("dgx-h100");
    r.set_ranks(16);
    r.set_tokens(131072);
    r.set_limit_bytes(uint64_t{70} << 30);
    r.set_device_memory_bytes(uint64_t{80} << 30);
    r.set_splits(20);
    r.set_not_valid(5);
    r.set_too_large(3);
    r.set_fitting(12);
    r.set_replayed(rows);
    auto* axis = r.add_axis();
    axis->set_field("parallel.tp");
    axis->set_values("1, 2");
    axis->set_from("default");
    auto* reason = r.add_reason();
    reason->set_reason("parallel.tp: expected a divisor of model.heads");
    reason->set_splits(5);
    reason->set_example("parallel.tp is 3; expected ...");
    for (int i = 0; i < rows; ++i) {
      proto::PlanRow& row = *r.add_row();
      row.set_place(i + 1);
      row.set_tp(2);
      row.set_pp(i + 1);
      row.set_dp(8);
      row.set_micro_batch(1);
      row.set_recompute("none");
      row.set_schedule("1f1b");
      row.set_time_ps(int64_t{1'234'500'000} * (i + 1));
      row.set_estimate_ps(int64_t{1'230'000'000} * (i + 1));
      row.set_off(-0.0036);
      row.set_mfu(0.4567);
      row.set_tokens_per_s_per_device(1234.5);
      row.set_peak_memory_bytes(uint64_t{50} << 30);
      for (const char* name : {"forward", "backward", "tensor", "bubble"}) {
        auto* part = row.add_part();
        part->set_name(name);
        part->set_mean_ps(row.time_ps() / 4);
      }
      if (i > 0) row.set_why("100.0 % slower (+1.23 ms)");
      row.set_options("--parallel tp=2");
    }
    return r;
  }
};

TEST_F(PlanBrowser, TablesMatchThePlan) {
  proto::PlanReport report = Report(3);
  proto::PlanRow& priced = *report.add_row() = report.row(0);
  priced.set_place(4);
  priced.clear_time_ps();
  priced.clear_off();
  const auto page = MakePlanPage(report);
  ASSERT_TRUE(page.ok()) << page.status();
  const std::string document = Document(*page);
  const std::vector<Cell> cells = Cells(document, "table-best");
  std::string all;
  for (const Cell& c : cells) absl::StrAppend(&all, c.text, "|");
  EXPECT_THAT(all, HasSubstr("1.234 ms|1.23 ms|-0.36 %|45.7 %|"));
  EXPECT_THAT(all, HasSubstr("50 GiB|"));
  EXPECT_THAT(all, HasSubstr("-|1.23 ms|-|45.7 %|")) << "of a split that was not replayed";
  EXPECT_EQ(Cells(document, "table-parts").size(), 3u * 6);
  EXPECT_THAT(document, HasSubstr("100.0 % slower (+1.23 ms)"));
  EXPECT_THAT(document, HasSubstr("20 splits: 5 are not valid, 3 do not fit, 12 fit."));
  EXPECT_EQ(Cells(document, "table-reasons").size(), 3u);
}

// The table of memory, dollars and kilograms fits a narrow page, and no two parts have the same colour.
TEST_F(PlanBrowser, ChoiceTableFitsANarrowPage) {
  proto::PlanReport report = Report(3);
  for (proto::PlanRow& row : *report.mutable_row()) {
    row.set_joules(1234.5);
    row.set_dollars(0.0123456);
    row.set_kg_co2e(0.00654321);
    row.set_options(
        "--parallel tp=2,pp=1,dp=128,cp=2,zero=3 --training seq=8192,micro_batch=1,global_batch=512");
  }
  const auto page = MakePlanPage(report);
  ASSERT_TRUE(page.ok()) << page.status();
  const std::string body = Played(*page, R"(
    const frame = document.getElementById("table-choice").parentElement;
    const say = (name, value) => document.body.setAttribute("data-" + name, value);
    say("hidden", frame.scrollWidth - frame.clientWidth);
    say("page", document.documentElement.scrollWidth <= innerWidth);
    const words = document.querySelector("#answer-options pre");
    say("words", words.scrollWidth <= words.clientWidth);
    say("row", [...frame.querySelectorAll("tbody tr")][0].innerText.replace(/\s+/g, " "));
  )",
                                  "--window-size=500,800");
  EXPECT_EQ(Between(body, "data-hidden=\"", "\""), "0");
  EXPECT_EQ(Between(body, "data-page=\"", "\""), "true");
  EXPECT_EQ(Between(body, "data-words=\"", "\""), "true");
  EXPECT_THAT(Between(body, "data-row=\"", "\""), HasSubstr("1.234 ms 50 GiB 1.234 kJ 0.01235 0.006543"));
}

TEST_F(PlanBrowser, NamesTheMissingMemoryWhenNothingFits) {
  proto::PlanReport r = Report(0);
  r.mutable_closest()->set_peak_memory_bytes(uint64_t{90} << 30);
  r.mutable_closest()->set_options("--parallel tp=8");
  r.set_lacks_bytes(uint64_t{20} << 30);
  auto* help = r.add_help();
  help->set_change("--training recompute=full");
  help->set_peak_memory_bytes(uint64_t{60} << 30);
  help->set_fits(true);
  const auto page = MakePlanPage(r);
  ASSERT_TRUE(page.ok()) << page.status();
  const std::string document = Document(*page);
  EXPECT_THAT(document, HasSubstr("No split fits. The closest lacks 20 GiB on rank 0, which holds 90 GiB."));
  EXPECT_THAT(document, HasSubstr("60 GiB, which fits"));
}

}  // namespace
}  // namespace chakra::planning::CHAKRA_FILE
