// The page of a sweep in a browser: its tables match the tables and answers of the command line, and its
// controls work. Skipped if no Chromium is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "replay/sweep/page.h"
#include "replay/sweep/query.h"
#include "test/page/browser.h"
#include "test/replay/sweep_testing.h"

namespace chakra::sweep::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Numbers that are hard to print: rounded to the next power, halfway between, tiny, vast, not whole.
constexpr double kHard[] = {0,      1,    999.95,      999.949, 9999.5,   1000.5,  1001.5,    12125,
                            12135,  1e-5, 0.000123456, 0.1,     2.0 / 3,  123456,  1234567.8, 999999.5,
                            1e14,   1e15, 123e15,      -3,      -0.00625, 0.00625, 1e12,      9.9995e14,
                            1.2e16, 8e18, 1e19,        40.0005, 1e-300,   12345.5, 999950,    26274837201};

constexpr char kShapes[] =
    "name: 'shapes' replay: 'a={a} b={b} d={d}' axis { name: 'd' value: 'ring' value: 'fat tree' value: "
    "'mesh' }"
    " axis { name: 'a' value: '8' value: '16' value: '032' value: '64' } axis { name: 'b' range { from: 1 "
    "to: 3 step: 1 } }"
    " metric { name: 'price' expression: '(70 - a) * (4 - b)' }";

Outcome Shape(const std::vector<std::string>& words) {
  double v = 1;
  for (const std::string& w : words) {
    if (w == "b=3" && words[0] == "a=64") return {absl::InternalError("a fault <b>& 'more'"), {}, ""};
    for (const char c : w) v = v * 1.31 + c;
  }
  Outcome out{absl::OkStatus(), {{"makespan_ps", std::floor(v * 1e6)}, {"busbw_gbytes_per_s", v / 7}}, ""};
  if (words[1] == "b=1") out.metrics["packets"] = std::floor(v);
  return out;
}

class SweepBrowser : public Browser {
 protected:
  Results Make(const std::string& spec, const RunPoint& run) const {
    auto results = Swept(spec, (folder_ / absl::StrCat("d", ++made_)).string(), run);
    EXPECT_TRUE(results.ok()) << results.status();
    return *std::move(results);
  }
  static std::string Page(const Results& results) {
    auto page = MakePage(results, {});
    EXPECT_TRUE(page.ok()) << page.status();
    return page.value_or("");
  }
  // The attribute data-NAME of <body> after Played(), as text.
  static std::string Said(const std::string& body, const std::string& name) {
    return Plain(Between(body, absl::StrCat("data-", name, "=\""), "\""));
  }
  static std::string Plain(const std::string& html) {
    return absl::StrReplaceAll(
        html, {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}, {"&nbsp;", " "}});
  }
  mutable int made_ = 0;
};

// Script that puts a table on <body>: cells "value~text", joined by "|"; a line for each row.
constexpr char kTake[] = R"js(
  const say = (name, value) => document.body.setAttribute("data-" + name, value);
  const take = (id, name) => say(name, [...document.querySelectorAll("#" + id + " tbody tr")].map((row) =>
    [...row.cells].map((cell) => cell.dataset.v + "~" + cell.textContent).join("|")).join("\n"));
  const heads = (id) => [...document.querySelectorAll("#" + id + " th")].map((h) => h.textContent).join("|");
  const find = (what) => document.querySelector(what);
  const set = (what, value, event) => { const e = find(what); e.value = value; e.dispatchEvent(new Event(event)); };
  const more = (section) => { let b; while ((b = find("#" + section + " .cut button"))) b.click(); };
  const numbers = (id) => [...document.querySelectorAll("#" + id + " tbody tr")].map((r) => r.cells[0].dataset.v).join(" ");
  const key = (name) => find("#chart canvas").dispatchEvent(new KeyboardEvent("keydown", { key: name }));
)js";

using Table = std::vector<std::vector<std::pair<std::string, std::string>>>;

Table Taken(const std::string& text) {
  Table out;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    out.emplace_back();
    for (const absl::string_view cell : absl::StrSplit(line, '|')) {
      const std::pair<std::string, std::string> parts = absl::StrSplit(cell, absl::MaxSplits('~', 1));
      out.back().push_back(parts);
    }
  }
  return out;
}

// Compares number and text of every metric of every point.
TEST_F(SweepBrowser, PointTableMatchesTheExport) {
  const Results results = Make(
      "replay: 'a={a}' axis { name: 'a' range { from: 0 to: 31 step: 1 } } axis { name: 'n' value: "
      "\"x\\\"y\" value: 'z' }"
      " constraint: 'a % 2 == 0 or n == \"z\"'",
      [](const std::vector<std::string>& words) -> Outcome {
        const size_t a = static_cast<size_t>(std::atoi(words[0].c_str() + 2));
        Outcome out{absl::OkStatus(), {{"makespan_ps", std::fabs(kHard[a])}, {"plain", kHard[a]}}, ""};
        for (size_t i = 0; i < std::size(kHard); ++i) {
          out.metrics[absl::StrCat("m", i)] = kHard[(a + i) % std::size(kHard)];
          if (i % 5 != a % 5)
            out.metrics[absl::StrCat("t", i, "_ps")] = std::fabs(kHard[(a + i) % std::size(kHard)]);
        }
        return out;
      });
  const std::string body = Played(Page(results), absl::StrCat(kTake, R"js(
    find("#all-body input[type=checkbox]").click();
    more("all");
    say("heads", heads("table-all"));
    take("table-all", "all");)js"));
  auto query = Query::Make(results, "", false);
  ASSERT_TRUE(query.ok());
  const Table table = Taken(Said(body, "all"));
  ASSERT_EQ(table.size(), results.rows.size());
  for (size_t r = 0; r < table.size(); ++r) {
    const ResultRow& row = results.rows[r];
    ASSERT_EQ(table[r].size(), 3 + results.metrics.size());
    EXPECT_EQ(table[r][0].first, absl::StrCat(row.number));
    for (size_t a = 0; a < 2; ++a) EXPECT_EQ(table[r][1 + a].first, results.Axis(row, a));
    for (size_t m = 0; m < results.metrics.size(); ++m) {
      const auto& [value, text] = table[r][3 + m];
      const auto found = row.metrics.find(results.metrics[m]);
      if (found == row.metrics.end()) {
        EXPECT_EQ(value + text, "");
        continue;
      }
      EXPECT_EQ(std::strtod(value.c_str(), nullptr), found->second) << results.metrics[m];
      EXPECT_EQ(text, query->Cell(results.metrics[m], found->second)) << results.metrics[m] << " " << value;
    }
  }
  EXPECT_THAT(Said(body, "heads"), testing::StartsWith("Point|a|n|makespan|m0|m1|"));
}

// The page shows the means of repeats, as answers do; each repeat is a row of the export.
TEST_F(SweepBrowser, RepeatsShowMeansAsAnswersDo) {
  const Results results = Make(
      "replay: 'a={a}' repeats: 3 axis { name: 'a' value: '1' value: '2' } objective { metric: 'makespan_ps "
      "/ 3' goal: MAXIMIZE }",
      [](const std::vector<std::string>& words) -> Outcome {
        const double seed = std::atof(words.back().c_str()), a = words[0] == "a=1" ? 0.1 : 0.7;
        if (seed == 2 && a > 0.5) return {absl::InternalError("no"), {}, ""};
        return {absl::OkStatus(), {{"makespan_ps", 1e9 * a / seed}, {"x", a * seed / 7}}, ""};
      });
  const std::string body = Played(Page(results), absl::StrCat(kTake, R"js(
    take("table-best", "best");
    take("table-all", "means");
    document.querySelectorAll("#all-body input[type=checkbox]").forEach((box) => box.click());
    take("table-all", "apart");
    say("one", find("#one-body .note").textContent);)js"));
  auto query = Query::Make(results, "", false);
  ASSERT_TRUE(query.ok());
  const Answer best = *query->Best(std::nullopt, 10);
  const Table shown = Taken(Said(body, "best"));
  ASSERT_EQ(shown.size(), best.rows.size());
  for (size_t r = 0; r < shown.size(); ++r) {
    EXPECT_EQ(shown[r][0].first, best.rows[r][0]);
    EXPECT_EQ(shown[r][2].second, best.rows[r][2]);  // the objective
    EXPECT_EQ(shown[r][4].second, best.rows[r][3]);  // makespan_ps
  }
  const Table means = Taken(Said(body, "means"));
  ASSERT_EQ(means.size(), 3u);  // and the one that failed
  EXPECT_EQ(means[0][2].first, "1, 2, 3");
  EXPECT_EQ(means[1][2].first, "1, 3");
  EXPECT_EQ(std::strtod(means[1][4].first.c_str(), nullptr),
            query->candidates()[1].metrics.at("makespan_ps"));
  EXPECT_EQ(means[2].back().first, "no");
  const Table apart = Taken(Said(body, "apart"));
  ASSERT_EQ(apart.size(), 6u);
  for (size_t r = 0; r < 6; ++r) {
    if (!results.rows[r].error.empty()) continue;
    EXPECT_EQ(std::strtod(apart[r][3].first.c_str(), nullptr), results.rows[r].metrics.at("makespan_ps"));
    EXPECT_EQ(std::strtod(apart[r][4].first.c_str(), nullptr), results.rows[r].metrics.at("x"));
  }
  EXPECT_THAT(Said(body, "one"), HasSubstr("makespan_ps / 3"));
}

TEST_F(SweepBrowser, FrontEffectsAndBestMatchTheAnswers) {
  const Results results = Make(kShapes, Shape);
  const std::string body = Played(Page(results), absl::StrCat(kTake, R"js(
    more("effects");
    take("table-effects", "effects");
    more("answer");
    take("table-best", "best");
    take("table-front", "front");
    set("#chart-y", [...find("#chart-y").options].findIndex((o) => o.text === "busbw_gbytes_per_s"), "change");
    more("front");
    take("table-front", "wide");
    say("better", find("#chart-better-y").value);)js"));
  auto query = Query::Make(results, "", false);
  ASSERT_TRUE(query.ok());
  const auto numbers = [](const Table& table) {
    std::vector<std::string> out;
    for (const auto& row : table) out.push_back(row[0].first);
    return out;
  };
  const auto expected = [](const Answer& answer) {
    std::vector<std::string> out;
    for (const auto& row : answer.rows) out.push_back(row[0]);
    return out;
  };
  EXPECT_EQ(numbers(Taken(Said(body, "front"))),
            expected(*query->Pareto({ParseAim("price"), ParseAim("makespan_ps")})));
  EXPECT_EQ(numbers(Taken(Said(body, "wide"))),
            expected(*query->Pareto({ParseAim("price"), ParseAim("max:busbw_gbytes_per_s")})));
  EXPECT_EQ(Said(body, "better"), "1");
  const Answer best = *query->Best(std::nullopt, 100);
  const Table shown = Taken(Said(body, "best"));
  EXPECT_EQ(numbers(shown), expected(best));
  for (size_t r = 0; r < shown.size(); ++r) EXPECT_EQ(shown[r][4].second, best.rows[r][4]);
  std::map<std::string, std::vector<std::string>> effects;
  for (const auto& row : Taken(Said(body, "effects")))
    effects[absl::StrCat(row[0].first, "=", row[1].first)] = {row[2].second, row[3].second, row[4].second,
                                                              row[5].second};
  size_t checked = 0;
  for (const char* axis : {"d", "a", "b"}) {
    const Answer least = *query->Table(axis, "", ParseAim("makespan_ps"), false);
    const Answer most = *query->Table(axis, "", ParseAim("max:makespan_ps"), false);
    for (size_t r = 0; r < least.rows.size(); ++r, ++checked) {
      std::vector<double> values;
      const size_t at = *axis == 'd' ? 0 : *axis == 'a' ? 1 : 2;
      for (const Candidate& c : query->candidates()) {
        if (results.Axis(*c.row, at) == least.rows[r][0]) values.push_back(c.metrics.at("makespan_ps"));
      }
      std::sort(values.begin(), values.end());
      const double median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
      EXPECT_THAT(effects[absl::StrCat(axis, "=", least.rows[r][0])],
                  ElementsAre(absl::StrCat(values.size()), query->Cell("makespan_ps", median),
                              least.rows[r][1], most.rows[r][1]));
    }
  }
  EXPECT_EQ(effects.size(), checked);
}

TEST_F(SweepBrowser, ControlsFilterSortAndSelect) {
  const Results results = Make(kShapes, Shape);
  const std::string body = Played(Page(results), absl::StrCat(kTake, R"js(
    const said = () => find("#choose-said").textContent;
    say("all", said());
    set("[data-axis=d]", 2, "change");
    say("tree", said());
    say("treed", [...document.querySelectorAll("#table-all tbody td:nth-child(2)")].every((c) => c.textContent === "fat tree"));
    set(".where input", "a >= 16 and b != 2, makespan_ps > 0.001ns", "input");
    say("where", said());
    set(".where input", "a >= ", "input");
    say("broken", find(".where input").getAttribute("aria-invalid") + " " + said());
    set(".where input", "c = 3", "input");
    say("unknown", said());
    set(".where input", "d < ring", "input");
    say("text", said());
    set(".where input", "d == 'mesh'", "input");
    say("none", said() + " " + find("#answer-text").textContent + " " + find("#effects-text").textContent);
    find(".where button").click();
    say("reset", said());

    const head = [...document.querySelectorAll("#table-all th button")].find((b) => b.textContent === "price");
    head.click();
    more("all");
    say("down", numbers("table-all"));
    head.click();
    say("up", numbers("table-all"));
    say("error", find("#table-all tbody tr:last-child td:last-child").textContent);
    set("#all input[type=search]", "FAULT", "input");
    say("filtered", numbers("table-all"));

    key("Home");
    say("home", find("#chart-said").textContent);
    key("ArrowRight");
    key("Enter");
    say("one", find("#one-body h3").textContent);
    say("command", find("#one-command").textContent);
    const keys = () => [...document.querySelectorAll(".keys button")];
    keys()[0].click();
    say("hidden", keys()[0].getAttribute("aria-pressed") + " " + keys().length + " " + find("#chart-said").textContent);
    find("#chart-front").click();
    say("front", find("#front").hidden);
    find("#chart-log-y").click();
    set("#chart-x", 0, "change");
    set("#chart-by", 2, "change");
    find("#theme").click();
    say("theme", document.documentElement.dataset.theme + " " + document.documentElement.dataset.error);
    find("#table-failed button.link").click();
    say("failed", find("#one-body .warnings").textContent);)js"));
  EXPECT_EQ(Said(body, "all"), "33 of 33 points with a result, and 3 of 3 that failed.");
  EXPECT_EQ(Said(body, "tree"), "11 of 33 points with a result, and 1 of 3 that failed.");
  EXPECT_EQ(Said(body, "treed"), "true");
  EXPECT_EQ(Said(body, "where"), "5 of 33 points with a result, and 0 of 3 that failed.");
  EXPECT_THAT(Said(body, "broken"), HasSubstr("true Expected NAME OPERATOR VALUE"));
  EXPECT_THAT(Said(body, "unknown"), HasSubstr("neither an axis nor a metric \"c\""));
  EXPECT_THAT(Said(body, "text"), HasSubstr("d is a text"));
  EXPECT_EQ(Said(body, "none"),
            "0 of 33 points with a result, and 0 of 3 that failed. No point is chosen. There is nothing to "
            "compare.");
  EXPECT_EQ(Said(body, "reset"), Said(body, "all"));
  auto query = Query::Make(results, "", false);
  std::vector<const Candidate*> order;
  for (const Candidate& c : query->candidates()) order.push_back(&c);
  const auto expect = [&](const char* name, double sign) {
    std::stable_sort(order.begin(), order.end(), [&](const Candidate* a, const Candidate* b) {
      const double x = sign * a->metrics.at("price"), y = sign * b->metrics.at("price");
      return x != y ? x < y : a->row->number < b->row->number;
    });
    std::string numbers;
    for (const Candidate* c : order) absl::StrAppend(&numbers, c->row->number, " ");
    for (const ResultRow* row : query->failed()) absl::StrAppend(&numbers, row->number, " ");
    numbers.pop_back();
    EXPECT_EQ(Said(body, name), numbers);
  };
  expect("down", -1);
  expect("up", 1);
  EXPECT_EQ(Said(body, "error"), "a fault <b>& 'more'");
  EXPECT_EQ(Said(body, "filtered"), "11 23 35");
  EXPECT_THAT(Said(body, "home"),
              testing::MatchesRegex("Point [0-9]+\\. makespan: .*, price: 12, d: .*, a: 64, b: 2\\."));
  EXPECT_THAT(Said(body, "one"), testing::MatchesRegex("Point [0-9]+: d .*, a 64, b 2"));
  EXPECT_THAT(Said(body, "command"), HasSubstr("chakra-replay replay a=64 b=2 "));
  EXPECT_THAT(Said(body, "hidden"), HasSubstr("false 3 22 points shown"));
  EXPECT_EQ(Said(body, "front"), "true");
  EXPECT_EQ(Said(body, "theme"), "dark undefined");
  EXPECT_EQ(Said(body, "failed"), "a fault <b>& 'more'");
}

TEST_F(SweepBrowser, EscapesScriptsInText) {
  const std::string hostile = absl::CEscape(absl::StrCat(kHostile, "<img src=x onerror=alert(1)>"));
  const Results results = Make(
      absl::StrCat(
          "name: \"", hostile, "\" description: \"", hostile, "\" replay: 't' axis { name: 'a' value: \"",
          hostile,
          "\" value: \"\\342\\200\\256 unicode \\360\\237\\230\\200 \" value: '' } axis { name: 'b' choice { "
          "label: \"",
          hostile,
          "\" words: 'x' } choice { label: 'fails' words: 'y' } } axis { name: 'c' value: '1' value: '2' }"),
      [&](const std::vector<std::string>& words) -> Outcome {
        if (words[1] == "y") return {absl::InternalError(absl::StrCat(kHostile, "<img src=x>")), {}, ""};
        return {absl::OkStatus(), {{"makespan_ps", static_cast<double>(words.size())}}, ""};
      });
  const std::string document = Document(Page(results));
  EXPECT_THAT(document, Not(HasSubstr("<img")));
  EXPECT_THAT(document, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(document, HasSubstr("\xf0\x9f\x98\x80"));
}

TEST_F(SweepBrowser, ShowsSweepsOfManyShapes) {
  const auto fake = [](const std::vector<std::string>& words) -> Outcome {
    double v = 1;
    for (const std::string& w : words) {
      for (const char c : w) v = v * 1.01 + c;
    }
    return {absl::OkStatus(), {{"makespan_ps", v * 1e7}}, ""};
  };
  const std::string large =
      Document(Page(Make("replay: '{a} {b}' axis { name: 'a' range { from: 1 to: 50 step: 1 } } axis { name: "
                         "'b' range { from: 1 to: 40 step: 1 } }",
                         fake)));
  EXPECT_THAT(large, HasSubstr("2,000 of 2,000 points with a result."));
  EXPECT_THAT(large, HasSubstr("data-rows=\"2000\""));

  std::string ten = "combine: RANDOM points: 60 replay: 't'";
  for (int i = 0; i < 10; ++i)
    absl::StrAppend(&ten, " axis { name: 'axis", i, "' option: 'TRACE' ",
                    i % 2 == 0 ? "range { from: 0.5 to: 2 }" : "value: 'p' value: 'q' value: 'r'", " }");
  const std::string many = Document(Page(Make(ten, fake)));
  EXPECT_THAT(many, HasSubstr("60 of 60 points with a result."));
  EXPECT_THAT(many, HasSubstr("data-axis=\"axis9\""));

  const std::string one = Document(Page(Make("replay: 't'", fake)));
  EXPECT_THAT(one, HasSubstr("The chosen points have one value of each axis."));
  EXPECT_THAT(one, HasSubstr("None: it is one point."));
  const std::string two =
      Document(Page(Make("replay: '{a}' axis { name: 'a' value: 'p' value: 'q' }", fake)));
  EXPECT_THAT(two, HasSubstr("2 of 2 points with a result."));

  const std::string failed = Document(
      Page(Make("replay: '{a}' axis { name: 'a' value: 'p' value: 'q' }", [](const auto&) -> Outcome {
        return {absl::InternalError("nothing works"), {}, ""};
      })));
  EXPECT_THAT(failed, HasSubstr("No point has a result: all 2 failed."));
  EXPECT_THAT(failed, HasSubstr("nothing works"));

  const std::string searched =
      Document(Page(Make(absl::StrCat(kGrid, " search { evaluations: 9 starts: 2 }"), fake)));
  EXPECT_THAT(searched, HasSubstr("hill climb"));
  EXPECT_THAT(searched, HasSubstr("9 of 9 points with a result."));
}

}  // namespace
}  // namespace chakra::sweep::CHAKRA_FILE
