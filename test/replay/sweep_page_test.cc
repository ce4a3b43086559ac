// The content of the page of a sweep. test/page/ tests the page in a browser.
#include <gmock/gmock.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "page_testing.h"
#include "replay/sweep/page.h"
#include "replay/sweep/query.h"
#include "simdjson.h"
#include "sweep_testing.h"
#include "trace/base/json_text.h"
#include "trace/io/csv.h"

namespace chakra::sweep::CHAKRA_FILE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Every kind of axis and value. Points with b=3 may fail; not all points have all metrics.
constexpr char kMixed[] =
    "name: 'mixed' description: 'all kinds' replay: 't b={b}' repeats: 2"
    " axis { name: 'a' option: '--lanes' value: '0400' value: '1e3' value: '-7' }"
    " axis { name: 'b' range { from: 1 to: 3 step: 1 integer: true } }"
    " axis { name: 'c' choice { label: 'x, \"y\"' words: 'c=1 --seedless' } choice { label: 'z' words: 'c=2' "
    "} }"
    " metric { name: 'ratio' expression: 'makespan_ps / (b - 1)' } objective { metric: 'makespan_ps * 2 - b' "
    "}";

class SweepPage : public SweepTesting {
 protected:
  Results Make(const std::string& spec, const RunPoint& run) {
    auto results = Swept(spec, At(absl::StrCat("d", made_++)), run);
    EXPECT_TRUE(results.ok()) << results.status();
    return *std::move(results);
  }
  Results Mixed() {
    return Make(kMixed, [](const std::vector<std::string>& words) -> Outcome {
      double sum = 0.1;
      for (const std::string& w : words) {
        for (const char c : w) sum = sum * 1.37 + c;
      }
      Outcome out{absl::OkStatus(), {{"makespan_ps", sum}, {"devices", 8}, {"flows", 0}}, ""};
      const auto has = [&](const char* w) { return std::find(words.begin(), words.end(), w) != words.end(); };
      const bool second = words.back() == "2";  // --seed 2
      if (!second) out.metrics["idle_max_ps"] = 1e21 / sum;
      if (has("b=3") && (second || has("c=1")))
        out = {absl::InvalidArgumentError("no \"such\"\nthing, </script>"), {}, ""};
      return out;
    });
  }
  static std::string Data(const Results& results, const PageOptions& options = {}) {
    auto data = PageData(results, options);
    EXPECT_TRUE(data.ok()) << data.status();
    return data.value_or("{}");
  }
  static std::string Page(const Results& results, const PageOptions& options = {}) {
    auto page = MakePage(results, options);
    EXPECT_TRUE(page.ok()) << page.status();
    return page.value_or("");
  }
  // The CSV of the page's data. `commands` gets the commands of the points.
  std::string CsvOf(const std::string& data, std::vector<std::string>* commands) {
    simdjson::dom::element root;
    if (parser_.parse(data).get(root) != simdjson::SUCCESS) return "no JSON: " + data.substr(0, 200);
    std::string out = "point,id";
    std::vector<std::vector<std::string>> values;
    for (const auto axis : root["axes"].get_array()) {
      absl::StrAppend(&out, ",", Text(axis["name"]));
      values.emplace_back();
      for (const auto v : axis["values"].get_array()) values.back().push_back(CsvField(Text(v)));
    }
    for (const auto m : root["metrics"].get_array()) absl::StrAppend(&out, ",", Text(m));
    out += ",error\n";
    for (const auto row : root["rows"].get_array()) {
      absl::StrAppend(&out, row.at(0).get_uint64().value(), ",", Text(row.at(1)));
      size_t a = 0;
      for (const auto at : row.at(2).get_array()) {
        absl::StrAppend(&out, ",", values[a++].at(at.get_uint64().value()));
      }
      for (const auto m : row.at(3).get_array()) {
        absl::StrAppend(&out, ",", m.is_null() ? "" : ToText(m.get_double().value()));
      }
      std::string command = "chakra-replay replay";
      for (const auto w : row.at(4).get_array()) {
        absl::StrAppend(&command, " ", Text(root["words"].at(w.get_uint64().value())));
      }
      commands->push_back(command);
      const auto error = row.at(5);
      absl::StrAppend(&out, ",", error.error() ? "" : CsvField(Text(error)), "\n");
    }
    return out;
  }
  template <typename Element>
  static std::string Text(const Element& e) {
    return std::string(e.get_string().value());
  }

  simdjson::dom::parser parser_;
  int made_ = 0;
};

TEST_F(SweepPage, DataEqualsTheExport) {
  const Results results = Mixed();
  ASSERT_EQ(results.rows.size(), 36u);
  ASSERT_GT(results.failed, 0u);
  ASSERT_LT(results.failed, 36u);
  std::vector<std::string> commands, expected;
  EXPECT_EQ(CsvOf(Data(results), &commands), ToCsv(results, false));
  for (const ResultRow& row : results.rows) expected.push_back(*CommandOf(*results.space, row.place));
  EXPECT_EQ(commands, expected);
  const std::string page = Page(results);
  EXPECT_EQ(CsvOf(Between(page, "id=\"sweep\">", "</script>"), &commands), ToCsv(results, false));
}

TEST_F(SweepPage, ScriptDeclaresEachNameOnce) {
  std::set<std::string> all;
  EXPECT_THAT(DeclaredTwice(Page(Mixed()), &all), testing::ElementsAre());
  EXPECT_THAT(all, testing::IsSupersetOf({"kShown", "columnsOf", "Table", "Scatter"}));
}

TEST_F(SweepPage, PointsAreMeansLikeInQueries) {
  const Results results = Mixed();
  auto query = Query::Make(results, "", true);
  ASSERT_TRUE(query.ok());
  const std::string data = Data(results);
  simdjson::dom::element root;
  ASSERT_EQ(parser_.parse(data).get(root), simdjson::SUCCESS);
  const auto values = *query->Values("makespan_ps * 2 - b");
  size_t n = 0;
  for (const auto point : root["points"].get_array()) {
    const Candidate& c = query->candidates().at(n);
    EXPECT_EQ(point.at(0).get_double().value(), *values[n]);
    std::vector<uint64_t> numbers, expected;
    for (const auto at : point.at(1).get_array())
      numbers.push_back(root["rows"].at(at.get_uint64().value()).at(0).get_uint64().value());
    for (const ResultRow* row : c.repeats) expected.push_back(row->number);
    EXPECT_EQ(numbers, expected);
    ++n;
  }
  EXPECT_EQ(n, query->candidates().size());
}

TEST_F(SweepPage, WhereAndByChoosePoints) {
  const Results results = Mixed();
  const std::string data = Data(results, {"b > 1 and makespan_ps > 0", "max:ratio", false});
  std::vector<std::string> commands;
  const std::string csv = CsvOf(data, &commands);
  EXPECT_THAT(data, HasSubstr("\"objective\":{\"expression\":\"ratio\",\"maximize\":true}"));
  simdjson::dom::element root;
  ASSERT_EQ(parser_.parse(data).get(root), simdjson::SUCCESS);
  size_t failed = 0;
  for (const auto row : root["rows"].get_array()) {
    failed += row.at(5).error() ? 0 : 1;
    // Points with b = 1 are left out, failed points too.
    EXPECT_NE(row.at(2).at(1).get_uint64().value(), 0u);
  }
  EXPECT_GT(failed, 0u);
  EXPECT_THAT(std::string(PageData(results, {"b >", "", false}).status().message()), HasSubstr("--where"));
  EXPECT_THAT(std::string(MakePage(results, {"", "makspan_ps", false}).status().message()),
              HasSubstr("did you mean 'makespan_ps'?"));
  EXPECT_THAT(Data(results, {"", "", true}), HasSubstr("\"wall\":true"));
}

TEST_F(SweepPage, EscapesTextOfTheSweep) {
  const auto run = [](const std::vector<std::string>&) -> Outcome {
    return {absl::OkStatus(), {{"makespan_ps", 5}}, ""};
  };
  const std::string hostile = absl::CEscape(kHostile);
  const Results plain = Make("name: 'n' replay: 't' axis { name: 'a' value: 'v' }", run);
  const Results results =
      Make(absl::StrCat("name: \"", hostile, "\" description: \"", hostile,
                        "\" replay: 't' axis { name: 'a' value: \"", hostile,
                        "\" value: 'w' } axis { name: 'b' choice { label: \"", hostile, "\" words: 'x' } }"),
           run);
  const std::string page = Page(results), other = Page(plain);
  const auto count = [](const std::string& text, const std::string& what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count(page, "<script"), count(other, "<script"));
  EXPECT_EQ(count(page, "</script"), count(other, "</script"));
  EXPECT_EQ(count(page, "<!--"), 0u);
  const std::string data = Between(page, "id=\"sweep\">", "</script>");
  EXPECT_THAT(data, Not(HasSubstr("<")));
  EXPECT_THAT(data, Not(HasSubstr("\xe2\x80\xa8")));
  std::vector<std::string> commands;
  EXPECT_EQ(CsvOf(data, &commands), ToCsv(results, false));
  EXPECT_THAT(Between(page, "<title>", "</title>"), StartsWith("&lt;/script&gt;&lt;script&gt;alert(1)//"));
}

TEST_F(SweepPage, IsDeterministicAndSmall) {
  const auto run = [](const std::vector<std::string>& words) -> Outcome {
    Outcome out{absl::OkStatus(), {}, ""};
    for (int i = 0; i < 40; ++i)
      out.metrics[absl::StrCat("metric_number_", i, "_ps")] =
          1e12 + 977 * i + static_cast<double>(words.size());
    return out;
  };
  const Results results = Make(
      "replay: '--cluster dgx-h100 --network leaf_spine:spines={a},link={b}Gb/s --fabric fluid'"
      " axis { name: 'a' range { from: 1 to: 50 step: 1 } } axis { name: 'b' range { from: 1 to: 40 step: 1 "
      "} }",
      run);
  const std::string page = Page(results);
  EXPECT_EQ(page, Page(results));
  EXPECT_LT(page.size(), 2'000'000u);
}

TEST_F(SweepPage, HandlesFailuresAndSearches) {
  const Results failed =
      Make("name: 'n' replay: 't' axis { name: 'a' value: '1' value: '2' }", [](const auto&) -> Outcome {
        return {absl::InternalError("no"), {}, ""};
      });
  EXPECT_THAT(Page(failed), HasSubstr("<h1>No result <span class=\"of\">for makespan of 2 points: n</span>"));
  const Results searched = Make(absl::StrCat(kGrid, " search { evaluations: 20 starts: 4 }"),
                                [this](const auto& words) { return Fake(words); });
  EXPECT_THAT(Page(searched), HasSubstr("<h1>1.001 ns <span class=\"of\">is the least makespan of "));
  EXPECT_THAT(Data(searched), HasSubstr("\"search\":\"HILL_CLIMB\""));
}

// The inputs of the points are in the journal once, and in the page.
TEST_F(SweepPage, NamesInputFiles) {
  const auto run = [](const std::vector<std::string>& words) -> Outcome {
    Outcome out{absl::OkStatus(), {{"makespan_ps", 1}}, words.back() == "a=1" ? "p1:c" : "p2:c"};
    for (const char* name : {"t.0.et", "t.1.et"}) {
      proto::InputFile* file = out.files.Add();
      file->set_path(name);
      file->set_sha256(absl::StrCat("sum of ", name));
      file->set_bytes(77);
      file->set_role("trace");
    }
    return out;
  };
  const std::string spec = "replay: 't a={a}' axis { name: 'a' value: '1' value: '2' value: '3' }";
  const Results results = Make(spec, run);
  const std::string journal = FileContent(At("d0/points.journal"));
  size_t times = 0;
  for (size_t at = journal.find("sum of t.1.et"); at != std::string::npos;
       at = journal.find("sum of t.1.et", at + 1))
    ++times;
  EXPECT_EQ(times, 2u);  // p1 and p2
  EXPECT_EQ(results.files.size(), 2u);
  const std::string expected =
      "\"inputs\":[{\"path\":\"t.0.et\",\"role\":\"trace\",\"bytes\":77,\"sha256\":\"sum of t.0.et\"},"
      "{\"path\":\"t.1.et\",\"role\":\"trace\",\"bytes\":77,\"sha256\":\"sum of t.1.et\"}]";
  EXPECT_THAT(Data(results), HasSubstr(expected));
  EXPECT_THAT(Data(results), HasSubstr(JsonText(spec)));
  // A continued sweep keeps the inputs. A damaged line loses only its own inputs.
  auto again = Swept(spec, At("d0"), run);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(FileContent(At("d0/points.journal")), journal);
  std::string torn = journal;
  torn[torn.find("sum of t.0.et")] = '?';
  WriteContent(At("d0/points.journal"), torn);
  auto damaged = LoadResults({At("d0")});
  ASSERT_TRUE(damaged.ok());
  EXPECT_EQ(damaged->damaged, 1u);
  EXPECT_EQ(damaged->rows.size(), 3u);
  EXPECT_EQ(damaged->files.size(), 1u);
}

}  // namespace
}  // namespace chakra::sweep::CHAKRA_FILE
