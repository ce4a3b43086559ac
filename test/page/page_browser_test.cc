// The page of a report in a browser without a window: its script, its tables and its controls. Skipped if no
// Chromium is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "replay/page/page.h"
#include "test/page/browser.h"
#include "trace/base/units.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Page(const proto::Report& report) {
  const absl::StatusOr<std::string> page = MakePage(report);
  EXPECT_TRUE(page.ok()) << page.status();
  return page.value_or("");
}

// Expects that the table shows each field of `message` except `left_out`, with times as in the text report.
void ExpectShown(const google::protobuf::Message& message, const std::set<std::string>& left_out,
                 const std::string& document, const std::string& id) {
  std::map<std::string, std::string> shown;
  for (const Cell& cell : Cells(document, id)) shown[cell.value] = cell.text;
  const google::protobuf::Reflection* reflection = message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const google::protobuf::FieldDescriptor* f = message.GetDescriptor()->field(i);
    if (f->is_repeated() || f->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_BOOL) continue;
    if (left_out.count(f->name()) > 0) continue;
    const bool number = f->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE;
    std::string value;
    google::protobuf::TextFormat::PrintFieldValueToString(message, f, -1, &value);
    if (!value.empty() && value[0] == '"') value = value.substr(1, value.size() - 2);
    if (number) value = absl::StrCat(std::stod(value));
    bool found = shown.count(value) > 0;
    if (number && !found) {
      for (const auto& [v, text] : shown) found |= absl::StrCat(std::atof(v.c_str())) == value;
    }
    EXPECT_TRUE(found) << id << " lacks " << f->full_name() << " = " << value;
    if (found && f->name().size() > 3 && f->name().substr(f->name().size() - 3) == "_ps") {
      EXPECT_EQ(shown[value], FormatTime(Time::Picos(reflection->GetInt64(message, f)))) << f->full_name();
    }
  }
}

TEST_F(Browser, TablesShowEveryNumberOfTheReport) {
  const proto::Report report = FullReport();
  const std::string document = Document(Page(report));
  for (const proto::RankReport& r : report.rank()) ExpectShown(r, {}, document, "table-ranks");
  for (const proto::CollectiveReport& c : report.collective()) {
    ExpectShown(c, {"algorithm", "recorded_count"}, document, "table-collectives");
    for (const proto::ChosenAlgorithm& a : c.chosen()) {
      EXPECT_THAT(document, HasSubstr(absl::StrCat(a.algorithm(), " x ")));
    }
  }
  for (const auto& x : report.operator_()) ExpectShown(x, {}, document, "table-operators");
  for (const auto& x : report.lane()) ExpectShown(x, {}, document, "table-lanes");
  for (const auto& x : report.kernel()) ExpectShown(x, {}, document, "table-kernels");
  for (const auto& x : report.link()) ExpectShown(x, {}, document, "table-links");
  for (const auto& x : report.dimension()) ExpectShown(x, {}, document, "table-dimensions");
  for (const auto& x : report.time_source()) ExpectShown(x, {}, document, "table-compute");
  for (const auto& x : report.repriced()) ExpectShown(x, {}, document, "table-repriced");
  for (const auto& x : report.unanswered()) ExpectShown(x, {}, document, "table-unanswered");
  for (const auto& x : report.repair()) ExpectShown(x, {}, document, "table-repairs");
  for (const auto& x : report.input()) ExpectShown(x, {}, document, "table-inputs");
  for (const auto& x : report.job()) ExpectShown(x, {}, document, "table-jobs");
  for (const auto& x : report.flow_time()) ExpectShown(x, {"most_bytes"}, document, "table-flows");
  for (const auto& x : report.step()) ExpectShown(x, {"recorded_rank"}, document, "table-steps");
  for (const auto& x : report.edits().outcome()) ExpectShown(x, {"operation"}, document, "table-edits");
  ExpectShown(report.packet(), {"transport"}, document, "table-packets");
  const proto::CriticalPathReport& path = report.critical_path();
  for (const auto& x : path.cause()) ExpectShown(x, {}, document, "table-path-cause");
  for (const auto& x : path.rank()) ExpectShown(x, {}, document, "table-path-rank");
  for (const auto& x : path.lane()) ExpectShown(x, {}, document, "table-path-lane");
  for (const auto& x : path.operator_()) ExpectShown(x, {}, document, "table-path-operator");
  for (const auto& x : path.collective()) ExpectShown(x, {}, document, "table-path-collective");
  for (const auto& x : path.link()) ExpectShown(x, {}, document, "table-path-link");
  for (const auto& x : path.sensitivity()) ExpectShown(x, {}, document, "table-path-sensitivity");
  for (const auto& x : path.longest()) {
    ExpectShown(x, {"end_ps", "collective", "group"}, document, "table-path-longest");
  }
  for (const std::string& w : report.warning()) EXPECT_THAT(document, HasSubstr("<li>" + w + "</li>"));
  EXPECT_THAT(document, HasSubstr(report.bound()));
}

TEST_F(Browser, ShowsAnEmptyReport) {
  const std::string document = Document(Page(proto::Report()), "--blink-settings=preferredColorScheme=0");
  EXPECT_THAT(Between(document, "<html", ">"), HasSubstr("data-theme=\"dark\""));
  for (const char* says :
       {"It was not asked for.", "No ranks.", "No communication.", "No rank kept others waiting.",
        "No operators.", "Nothing crossed a fabric.", "No computation.", "None are named."}) {
    EXPECT_THAT(document, HasSubstr(says));
  }
}

TEST_F(Browser, EscapesScriptsInText) {
  proto::Report report = LargeReport(1024);
  for (auto& x : *report.mutable_operator_())
    x.set_name(absl::StrCat(kHostile, "<img src=x onerror=alert(1)>"));
  report.mutable_link(0)->set_name(kHostile);
  report.add_warning(kHostile);
  report.set_cluster(kHostile);
  report.set_bound(kHostile);
  const std::string document = Document(Page(report));
  EXPECT_THAT(document, Not(HasSubstr("<img")));
  EXPECT_THAT(document, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(document, HasSubstr("data-rows=\"1024\""));
  EXPECT_THAT(document, HasSubstr("1,024 ranks, each bar the mean of 4;"));
}

TEST_F(Browser, SensitivityTableNeedsNoScrolling) {
  const std::string body = Played(Page(FullReport()), R"(
    const frame = document.getElementById("table-path-sensitivity").parentElement;
    document.body.setAttribute("data-columns", frame.querySelectorAll("th").length);
    document.body.setAttribute("data-hidden", frame.scrollWidth - frame.clientWidth);
  )",
                                  "--window-size=1000,800");
  EXPECT_EQ(Between(body, "data-columns=\"", "\""), "5");
  EXPECT_EQ(Between(body, "data-hidden=\"", "\""), "0");
}

// Numbers of any size are written out, in tables and at axes.
TEST_F(Browser, LargeNumbersAreWrittenOut) {
  proto::Report report = FullReport();
  report.mutable_training()->set_tokens(8388608);
  report.mutable_training()->set_tokens_per_s_per_device(12345.678);
  const std::string document = Document(Page(report));
  std::string all;
  for (const Cell& c : Cells(document, "table-training")) absl::StrAppend(&all, c.text, "|");
  EXPECT_THAT(all, HasSubstr("|8,388,608|"));
  EXPECT_THAT(all, HasSubstr("|12,346|"));
}

// 448 groups of tensor parallelism do not hide one of data parallelism.
TEST_F(Browser, CommunicationIsSummedByDimensionFirst) {
  proto::Report report = FullReport();
  report.clear_collective();
  for (int i = 0; i < 449; ++i) {
    proto::CollectiveReport& c = *report.add_collective();
    c.set_kind("all_reduce");
    c.set_group(absl::StrCat(i < 448 ? "tp" : "dp", i));
    c.set_dimension(i < 448 ? "tp" : "dp");
    c.set_count(2);
    c.set_time_ps(i < 448 ? 3'000'000 : 9'000'000);
  }
  const std::string document = Document(Page(report));
  std::string all;
  for (const Cell& c : Cells(document, "table-dimensions-of-split")) absl::StrAppend(&all, c.text, "|");
  EXPECT_EQ(all, "all_reduce|dp|1|2|0 B|9 us|0 s|all_reduce|tp|448|896|0 B|3 us|0 s|");
}

// The strips of a timeline are drawn, and no table is wider than a narrow page.
TEST_F(Browser, TablesFitANarrowPage) {
  proto::Report report = FullReport();
  report.clear_activity();
  report.set_makespan_ps(600'000'000);
  report.set_activity_bucket_ps(1'000'000);
  proto::ActivityRow& row = *report.add_activity();
  row.set_lane("stream 7");
  row.set_kind("compute");
  row.set_busy(std::string(300, '9'));
  const std::string body = Played(Page(report), R"(
    const wide = [...document.querySelectorAll(".scroll")].filter((f) => f.scrollWidth > f.clientWidth);
    document.body.setAttribute("data-wide", wide.map((f) => f.firstChild.id).join(" "));
    document.body.setAttribute("data-page", document.documentElement.scrollWidth <= innerWidth);
    const strip = document.querySelector(".timeline canvas");
    const inked = (x) => strip.getContext("2d").getImageData(x * strip.width, 5, 1, 1).data[3];
    document.body.setAttribute("data-inked", inked(0.25) + " " + inked(0.75));
  )",
                                  "--window-size=500,800");
  EXPECT_EQ(Between(body, "data-wide=\"", "\""), "");
  EXPECT_EQ(Between(body, "data-page=\"", "\""), "true");
  EXPECT_EQ(Between(body, "data-inked=\"", "\""), "255 0");
}

TEST_F(Browser, ControlsSortFilterAndZoom) {
  const std::string body = Played(Page(LargeReport(300)), R"(
    const say = (name, value) => document.body.setAttribute("data-" + name, value);
    const table = document.getElementById("table-ranks");
    const ranks = () => [...table.querySelectorAll("tbody tr")].map((row) => row.cells[0].dataset.v);
    const head = table.querySelector("th button");
    head.click();
    say("down", ranks()[0] + " " + table.querySelector("th").getAttribute("aria-sort"));
    head.click();
    say("up", ranks()[0] + " " + table.querySelector("th").getAttribute("aria-sort"));
    table.parentElement.nextElementSibling.querySelector("button").click();
    say("more", ranks().length);
    const box = document.querySelector("#ranks-chart input");
    box.value = "7-9, 250";
    box.dispatchEvent(new Event("input"));
    say("chosen", ranks().join(" "));
    box.value = "7-";
    box.dispatchEvent(new Event("input"));
    say("refused", box.getAttribute("aria-invalid") + " " + document.getElementById("ranks-said").textContent);
    box.value = "";
    box.dispatchEvent(new Event("input"));
    const show = document.querySelectorAll("#ranks-chart select")[1];
    show.value = "2";
    show.dispatchEvent(new Event("change"));
    document.querySelectorAll("#ranks-chart button")[1].click();
    say("zoomed", document.getElementById("ranks-said").textContent);
    const words = document.querySelector("#collectives input");
    words.value = "STAGE 299";
    words.dispatchEvent(new Event("input"));
    say("filtered", document.querySelectorAll("#table-collectives tbody tr").length);
    const before = document.documentElement.dataset.theme;
    document.getElementById("theme").click();
    say("theme", before + " " + document.documentElement.dataset.theme);
  )");
  EXPECT_EQ(Between(body, "data-down=\"", "\""), "299 descending");
  EXPECT_EQ(Between(body, "data-up=\"", "\""), "0 ascending");
  EXPECT_EQ(Between(body, "data-more=\"", "\""), "100");
  EXPECT_EQ(Between(body, "data-chosen=\"", "\""), "7 8 9 250");
  EXPECT_EQ(Between(body, "data-refused=\"", "\""), "true Ranks are numbers and ranges: 0-7,16");
  EXPECT_EQ(Between(body, "data-zoomed=\"", "\""), "65 to 128 of 300 ranks, one bar each.");
  EXPECT_EQ(Between(body, "data-filtered=\"", "\""), "1");
  EXPECT_EQ(Between(body, "data-theme=\"", "\""), "light dark");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
