#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "replay/sweep/metrics.h"
#include "replay/sweep/space.h"
#include "replay/sweep/spec.h"
#include "replay/sweep/words.h"
#include "trace/io/proto_io.h"

namespace chakra::sweep::CHAKRA_FILE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SweepSpace : public testing::Test {
 protected:
  absl::StatusOr<Space> Make(const std::string& text) {
    const absl::Status s = ParseTextMessage(text, "spec", &spec_);
    EXPECT_TRUE(s.ok()) << s;
    return Space::Make(spec_);
  }
  // The commands of all points.
  std::vector<std::string> Commands(const std::string& text) {
    auto space = Make(text);
    EXPECT_TRUE(space.ok()) << space.status();
    std::vector<std::string> out;
    if (!space.ok()) return out;
    for (const Place& p : space->points()) {
      auto words = space->Words(p);
      EXPECT_TRUE(words.ok()) << words.status();
      out.push_back(words.ok() ? QuoteWords(*words) : "");
    }
    return out;
  }
  void Refuse(const std::string& text, const std::string& message) {
    auto space = Make(text);
    EXPECT_FALSE(space.ok()) << text;
    EXPECT_THAT(std::string(space.status().message()), HasSubstr(message)) << text;
  }

  proto::Sweep spec_;
};

TEST_F(SweepSpace, LastAxisChangesFastest) {
  EXPECT_THAT(
      Commands("trace: 't' replay: '--lanes single'"
               " axis { name: 'fabric' option: '--fabric' value: 'analytical' value: 'fluid' }"
               " axis { name: 'mem' field: 'device.memory_gbytes_per_s' value: '1000' value: '2e3' }"),
      ElementsAre("t --lanes single --fabric analytical --set device.memory_gbytes_per_s=1000",
                  "t --lanes single --fabric analytical --set device.memory_gbytes_per_s=2e3",
                  "t --lanes single --fabric fluid --set device.memory_gbytes_per_s=1000",
                  "t --lanes single --fabric fluid --set device.memory_gbytes_per_s=2e3"));
}

TEST_F(SweepSpace, GroupsZipAndNest) {
  EXPECT_THAT(Commands("replay: 't {a}{b}{c}' axis { name: 'a' value: '1' value: '2' }"
                       " group { combine: ZIP axis { name: 'b' value: 'x' value: 'y' }"
                       "   group { axis { name: 'c' value: 'p' value: 'q' } } }"),
              ElementsAre("t 1xp", "t 1yq", "t 2xp", "t 2yq"));
  EXPECT_THAT(Commands("combine: ZIP replay: 't {a}{b}' axis { name: 'a' value: '1' value: '2' }"
                       " axis { name: 'b' value: '3' value: '4' }"),
              ElementsAre("t 13", "t 24"));
  Refuse("combine: ZIP axis { name: 'a' value: '1' } axis { name: 'b' value: '1' value: '2' }",
         "combine: ZIP takes values together, but axis a has 1 and axis b has 2");
}

TEST_F(SweepSpace, ReadsChoicesTracesAndExpressions) {
  EXPECT_THAT(
      Commands(
          "axis { name: 'where' option: 'TRACE' value: 'a b' value: 'c' }"
          "axis { name: 'net' choice { label: 'torus' words: '--network torus:x={n * 2} --lanes single' }"
          "                   choice { label: 'none' } }"
          "axis { name: 'n' value: '4' } word: '--name={net}'"),
      ElementsAre("--name=torus 'a b' --network torus:x=8 --lanes single", "--name=none 'a b'",
                  "--name=torus c --network torus:x=8 --lanes single", "--name=none c"));
}

TEST_F(SweepSpace, ExpandsRanges) {
  EXPECT_THAT(Commands("replay: '{a}' axis { name: 'a' range { from: 1 to: 2 steps: 5 } }"),
              ElementsAre("1", "1.25", "1.5", "1.75", "2"));
  EXPECT_THAT(Commands("replay: '{a}' axis { name: 'a' range { from: 0.1 to: 0.3 step: 0.1 } }"),
              ElementsAre("0.1", "0.2", "0.3"));
  EXPECT_THAT(Commands("replay: '{a}' axis { name: 'a' range { from: 100 to: 800 step: 2 log: true } }"),
              ElementsAre("100", "200", "400", "800"));
  EXPECT_THAT(
      Commands("replay: '{a}' axis { name: 'a' range { from: 1 to: 4 steps: 7 log: true integer: true } }"),
      ElementsAre("1", "2", "3", "4"));
  Refuse("axis { name: 'a' range { from: 2 to: 1 steps: 2 } }", "axis[0].range: from 2 is above to 1");
  Refuse("axis { name: 'a' range { from: 0 to: 1 steps: 2 log: true } }",
         "axis[0].range.from: 0, expected above 0");
  Refuse("axis { name: 'a' range { from: 0 to: 1 steps: 1 } }",
         "axis[0].range.steps: 1, expected at least 2");
  Refuse("axis { name: 'a' range { from: 0 to: 1 step: -1 } }", "axis[0].range.step: -1, expected above 0");
  Refuse("axis { name: 'a' range { from: 0 to: 1 } }", "axis[0].range: it has neither steps nor step");
  Refuse("axis { name: 'a' range { from: 0 to: 1e9 step: 0.5 } }", "about 2e+09 values");
}

TEST_F(SweepSpace, ConstraintsExcludePoints) {
  auto space = Make(
      "replay: '{a}{b}' axis { name: 'a' range { from: 1 to: 4 step: 1 } } axis { name: 'b' range { from: 1 "
      "to: 4 step: 1 } }"
      "constraint: 'a * b == 4' constraint: 'a <= b'");
  ASSERT_TRUE(space.ok());
  EXPECT_EQ(space->points().size(), 2u);
  EXPECT_EQ(space->left_out(), 14u);
  Refuse("axis { name: 'a' value: '1' } constraint: 'a > 1'",
         "the sweep has no point: constraints exclude its only point");
  Refuse("axis { name: 'a' value: '1' } constraint: 'aa > 1'",
         "constraint[0]: there is no axis \"aa\"; did you mean 'a'?");
  Refuse("axis { name: 'a' value: 'x' } constraint: 'a > 1'", "constraint[0]: column 3");
  Refuse("axis { name: 'a' value: 'x' } constraint: 'a >'", "constraint[0]: column 4");
}

TEST_F(SweepSpace, RandomDrawsAreRepeatableAndDistinct) {
  const std::string spec =
      "combine: RANDOM points: 30 seed: 7 replay: '{a} {b}' axis { name: 'a' range { from: 1 to: 8 step: 1 } "
      "}"
      "axis { name: 'b' range { from: 1 to: 8 step: 1 } } constraint: 'a != b'";
  const auto commands = Commands(spec);
  EXPECT_EQ(commands, Commands(spec));
  EXPECT_EQ(std::set<std::string>(commands.begin(), commands.end()).size(), 30u);
  EXPECT_NE(commands, Commands("combine: RANDOM points: 30 seed: 8 replay: '{a} {b}' axis { name: 'a' range "
                               "{ from: 1 to: 8 step: 1 } }"
                               "axis { name: 'b' range { from: 1 to: 8 step: 1 } } constraint: 'a != b'"));
  Refuse("combine: RANDOM points: 3 axis { name: 'a' value: '1' value: '2' }",
         "points: 3, but the grid has only 2");
  Refuse("combine: RANDOM points: 2 axis { name: 'a' value: '1' value: '2' } constraint: 'a == 1'",
         "only 1 were found");
  Refuse("combine: RANDOM axis { name: 'a' value: '1' }", "points: it is missing");
  Refuse("points: 3 axis { name: 'a' value: '1' }", "points: expected only where combine is RANDOM");
}

TEST_F(SweepSpace, LatinHypercubeCoversEachAxisEvenly) {
  auto space = Make(
      "combine: LATIN_HYPERCUBE points: 20 axis { name: 'a' range { from: 0 to: 20 } }"
      "axis { name: 'b' value: 'p' value: 'q' value: 'r' value: 's' }");
  ASSERT_TRUE(space.ok()) << space.status();
  std::set<int> strata;
  std::vector<int> count(4);
  for (const Place& p : space->points()) {
    strata.insert(static_cast<int>(std::get<double>(*space->ValueAt(p, "a"))));
    ++count[p[1]];
  }
  EXPECT_EQ(strata.size(), 20u);
  EXPECT_THAT(count, ElementsAre(5, 5, 5, 5));
}

TEST_F(SweepSpace, RepeatsAddAnAxis) {
  EXPECT_THAT(Commands("repeats: 2 first_seed: 5 replay: 't{a}' axis { name: 'a' value: '1' value: '2' }"),
              ElementsAre("t1 --seed 5", "t1 --seed 6", "t2 --seed 5", "t2 --seed 6"));
}

TEST_F(SweepSpace, RefusesEmptyAndHugeGrids) {
  std::string axes;
  for (int i = 0; i < 12; ++i)
    axes += "axis { name: 'a" + std::to_string(i) + "' range { from: 1 to: 100 step: 1 } }";
  Refuse(axes, "the sweep has more than 18,446,744,073,709,551,614 points");
  Refuse(
      "axis { name: 'a' range { from: 1 to: 1000 step: 1 } } axis { name: 'b' range { from: 1 to: 1000 step: "
      "1 } }",
      "the sweep has 1,000,000 points; expected at most 100,000 (max_points)");
  Refuse("max_points: 3 axis { name: 'a' range { from: 1 to: 9 step: 1 } } constraint: 'a > 1'", "points");
  EXPECT_EQ(Commands("trace: 't'").size(), 1u);
}

TEST_F(SweepSpace, RefusesBadAxes) {
  Refuse("axis { value: '1' }", "axis[0].name: it is missing");
  Refuse("axis { name: '2a' value: '1' }", "axis[0].name: \"2a\", expected letters");
  Refuse("axis { name: 'makespan_ps' value: '1' }", "is a column of every sweep");
  Refuse("axis { name: 'a' }", "axis[0]: axis a has no values");
  Refuse("axis { name: 'a' value: '1' range { from: 1 to: 2 steps: 2 } }", "several kinds of values");
  Refuse("axis { name: 'a' value: '1' value: '1' }", "has the value \"1\" twice");
  Refuse("axis { name: 'a' value: '1' } group { axis { name: 'a' value: '1' } }",
         "group[0].axis[0].name: \"a\" is the name of another");
  Refuse("axis { name: 'a' option: 'fabric' value: '1' }", "axis[0].option: \"fabric\", expected an option");
  Refuse("axis { name: 'a' field: 'device.memory' value: '1' }",
         "axis[0].field: device.memory=1: unknown field device.memory");
  Refuse("axis { name: 'a' field: 'device.memory_gbytes_per_s' value: '3TB' }",
         "memory_gbytes_per_s is \"3TB\"; expected a rate in b/s or B/s");
  Refuse("axis { name: 'a' option: '--x' choice { label: 'l' } }", "choice sets its own fields");
  Refuse("axis { name: 'a' choice { words: 'l' } }", "axis[0].choice[0]: label is missing");
  Refuse("axis { name: 'a' value: '1' } replay: '{b}'", "replay: there is no axis \"b\"");
  Refuse("replay: \"'\"", "replay: column 1");
  Refuse("group { }", "group[0]: it has no axis");
  Refuse("group { combine: RANDOM axis { name: 'a' value: '1' } }", "group[0].combine: expected GRID or ZIP");
}

TEST_F(SweepSpace, ChecksMetrics) {
  Refuse("metric { name: 'cost' expression: 'devces * 3' }",
         "metric[0].expression: there is neither a metric nor an axis \"devces\"; did you mean 'devices'?");
  Refuse("metric { name: 'ranks' expression: '1' }", "metric[0].name");
  Refuse("objective { metric: 'makespan' }", "objective.metric: there is neither");
  EXPECT_TRUE(Make("metric { name: 'c' expression: 'devices' } metric { name: 'd' expression: 'c * "
                   "bytes_nvlink' } objective { metric: 'd / c' }")
                  .ok());
}

TEST_F(SweepSpace, SearchesNeedAGrid) {
  Refuse("search { } axis { name: 'a' value: '1' }", "search.evaluations: it is missing");
  Refuse("search { evaluations: 5 }", "search: there is no axis");
  Refuse("search { evaluations: 5 } repeats: 4 max_points: 12 axis { name: 'a' value: '1' }",
         "search.evaluations: 5, expected at most 3 (max_points / repeats)");
  Refuse("search { evaluations: 5 } combine: ZIP axis { name: 'a' value: '1' }", "search: it needs a grid");
  Refuse(
      "max_points: 20 search { evaluations: 5 } group { axis { name: 'a' range { from: 1 to: 5 step: 1 } } "
      "axis { name: 'b' range { from: 1 to: 5 step: 1 } } }",
      "search: a group has 25 values; expected at most 20");
  auto space = Make(
      "search { evaluations: 5 } axis { name: 'a' value: '1' value: '2' } group { combine: ZIP"
      " axis { name: 'b' value: '1' value: '2' } axis { name: 'c' value: '3' value: '4' } }");
  ASSERT_TRUE(space.ok());
  EXPECT_EQ(space->units().size(), 2u);
  EXPECT_THAT(space->PlaceOf({0, 1}), ElementsAre(0, 1, 1));
}

TEST_F(SweepSpace, IdsDependOnTheWords) {
  EXPECT_EQ(Space::Id({"a", "b"}), Space::Id({"a", "b"}));
  EXPECT_NE(Space::Id({"a", "b"}), Space::Id({"ab"}));
  EXPECT_NE(Space::Id({"a", ""}), Space::Id({"a"}));
  EXPECT_EQ(Space::Id({"a"}).size(), 16u);
}

TEST(SweepSpec, ErrorsNameTheLine) {
  Spec spec;
  spec.source = "s.txtpb";
  spec.text =
      "name: 'x'\naxis {\n  name: 'a'\n  value: '1' }\naxis {\n  name: 'b'\n  field: 'x'\n}\ngroup { axis "
      "{\n name: 'c' } }\n";
  const auto at = [&](const std::string& message) {
    return std::string(InSpec(spec, absl::InvalidArgumentError(message)).message());
  };
  EXPECT_EQ(at("axis[1].field: bad"), "s.txtpb:7: axis[1].field: bad");
  EXPECT_EQ(at("axis[1]: bad"), "s.txtpb:5: axis[1]: bad");
  EXPECT_EQ(at("group[0].axis[0].name: bad"), "s.txtpb:10: group[0].axis[0].name: bad");
  EXPECT_EQ(at("axis[1].range.step: bad"), "s.txtpb:5: axis[1].range.step: bad");
  EXPECT_EQ(at("the sweep: bad"), "s.txtpb: the sweep: bad");
  spec.text =
      "{\"name\": \"x\",\n \"axis\": [\n {\"name\": \"a\"},\n {\"name\": \"b\",\n \"field\": \"x\"}]}";
  EXPECT_EQ(at("axis[1].field: bad"), "s.txtpb:5: axis[1].field: bad");
}

}  // namespace
}  // namespace chakra::sweep::CHAKRA_FILE
