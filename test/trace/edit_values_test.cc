// Edits of a node's values, and the nodes that a selector matches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/trace/edit_testing.h"
#include "trace/et/read_options.h"

namespace chakra::edit::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTrace[] = R"(
  1 comp gemm us=10.5 bytes=1000 ops=5000 stream=7 start=0
  2 comp norm us=3 bytes=10 stream=7 start=11 <- 1
  3 all_reduce grads us=20 transfer=15000 bytes=4096 group=dp stream=9 start=14 <- 2
  4 comp step us=2 host tid=1 start=40 <- 3+500:thread c1
)";

std::string Edit(const std::string& edit) { return EditText(kTrace, "edit { " + edit + " }"); }

// The lines of `text` that are not in kTrace, joined.
std::string Diff(const std::string& text) {
  const std::string before =
      EditText(kTrace, "edit { rename { to: 'x' } allow_no_match: true select { name: '^$' } }");
  std::string out;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    if (before.find(absl::StrCat(line, "\n")) == std::string::npos) absl::StrAppend(&out, line, "\n");
  }
  return out;
}

TEST(EditValues, ChangesOneLine) {
  const struct {
    const char *edit, *line;
  } kCases[] = {
      {"select { name: 'gemm' } duration { factor: 0.5 }",
       "1 comp gemm us=5.25 bytes=1000 ops=5000 stream=7 time_factor=0.5"},
      {"select { name: 'norm' } duration { set: 1.25 }",
       "2 comp norm start=11 us=1.25 bytes=10 stream=7 <- 1"},
      {"select { name: 'norm' } duration { add: -5 }", "2 comp norm start=11 bytes=10 stream=7 <- 1"},
      {"select { type: 'comm' } duration { factor: 2 }",
       "3 all_reduce grads start=14 us=40 bytes=4096 stream=9 group=dp transfer=30000 <- 2"},
      {"select { collective: 'all_reduce' } bytes { factor: 0.25 }",
       "3 all_reduce grads start=14 us=20 bytes=1024 stream=9 group=dp transfer=15000 <- 2"},
      {"select { type: 'compute' } operations { factor: 2 }",
       "1 comp gemm us=10.5 bytes=1000 ops=10000 stream=7"},
      {"select { type: 'host' } delay { factor: 3 }",
       "4 comp step start=40 us=2 tid=1 host <- 3+1500:thread c1"},
      {"select { name: '^(ge)' } rename { pattern: '^(ge)(.*)$' to: '\\\\2-\\\\1' }",
       "1 comp mm-ge us=10.5 bytes=1000 ops=5000 stream=7"},
      {"select { id: '2' } attribute { name: 'layer' int_value: 3 }",
       "2 comp norm start=11 us=3 bytes=10 stream=7 layer=3 <- 1"},
  };
  for (const auto& [edit, line] : kCases) EXPECT_EQ(Diff(Edit(edit)), absl::StrCat(line, "\n")) << edit;
}

TEST(EditValues, RefusesValuesThatNoFieldHolds) {
  EXPECT_THAT(Edit("duration { set: 1e300 }"), HasSubstr("its duration in us would be 1e+300"));
  EXPECT_THAT(Edit("select { type: 'comm' } bytes { factor: 1e30 }"), HasSubstr("its size would be"));
  EXPECT_THAT(Edit("operations { factor: 1e30 }"), HasSubstr("its operations would be"));
  for (const char* attribute : {"name: 'comm_tag' text_value: 'x'", "name: 'stream' int_value: 3"})
    EXPECT_THAT(Edit(absl::StrCat("attribute { ", attribute, " }")), HasSubstr("expected another name"));
}

// The attribute multiplies the time that any time source gives; factors of several edits are multiplied.
TEST(EditValues, FactorAppliesWithoutARecordedTime) {
  const auto out =
      EditTexts({"1 comp gemm bytes=1000 ops=5000\n2 comp view <- 1\n"}, "edit { duration { factor: 0.5 } }");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(), "1 comp gemm bytes=1000 ops=5000 time_factor=0.5\n2 comp view <- 1\n");
  EXPECT_THAT(out->notes(), AllOf(HasSubstr("multiplied by the factor"), HasSubstr("left as they are")));
}

TEST(EditValues, NotesCountScaledNodes) {
  const auto all = EditTexts({kTrace, kTrace}, "edit { duration { factor: 0.5 } }");
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_THAT(all->notes(),
              HasSubstr("scaled: 2 on the host, 4 on the device, 2 of communication; `--scale device="));
  const auto device = EditTexts({kTrace}, "edit { select { type: 'device' } duration { factor: 0.5 } }");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_THAT(device->notes(), Not(HasSubstr("scaled: ")));
}

// Notes count the matches over all ranks.
TEST(EditValues, NotesSayWhyNothingChanged) {
  const struct {
    const char *edit, *why;
  } kCases[] = {
      {"duration { factor: 1 }", "nothing changed: the matches already have the values of the edit"},
      {"select { type: 'device' } delay { factor: 2 }", "4 left as they are: no delay after a dependency"},
      {"select { name: 'gemm' } rename { pattern: 'zz' to: 'a' }", "2 left as they are: `pattern` is not in"},
      {"select { name: 'gemm' } attribute { name: 'x' drop: true }", "2 left as they are: no such attribute"},
      {"select { name: 'gemm' } move { lane: 'stream:7' }", "2 left as they are: already on that lane"},
      {"select { name: 'gemm' } fuse {}", "2 left as they are: no neighbour on their lane"},
      {"select { name: 'gemm' } drop_dependency {}", "2 left as they are: no such dependency"},
      {"select { name: 'grads' } split_collectives { most_bytes: 4096 }",
       "2 left as they are: of at most most_"},
      {"select { name: 'grads' } change_collective { kind: 'all_reduce' }",
       "2 left as they are: already of that kind"},
      {"select { name: 'grads' } merge_collectives { count: 4 }",
       "2 left as they are: no other collective of their kind"},
      {"select { name: 'grads' } merge_collectives { bucket_bytes: 64 }",
       "2 left as they are: each fills a bucket"},
  };
  for (const auto& [edit, why] : kCases) {
    SCOPED_TRACE(edit);
    const auto out = EditTexts({kTrace, kTrace}, absl::StrCat("edit { ", edit, " }"));
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(out->notes(), HasSubstr(why));
  }
}

TEST(EditValues, ChangesElementTypes) {
  const std::string trace =
      "1 all_reduce a bytes=4000 comm_dtype=Float\n2 all_reduce b bytes=4000 comm_dtype=Long\n3 comp c "
      "bytes=64\n";
  const auto out = EditTexts({trace}, "edit { dtype { to: 'bf16' from: 'fp32' } }");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(),
            "1 all_reduce a bytes=2000 comm_dtype=BFloat16\n2 all_reduce b bytes=4000 comm_dtype=Long\n"
            "3 comp c bytes=32\n");
  EXPECT_THAT(out->notes(), HasSubstr("another or an unknown element type"));
  EXPECT_THAT(EditText(trace, "edit { dtype { to: 'bf61' } }"), HasSubstr("did you mean 'bf16'?"));
}

// The ids that a selector matches.
std::string Ids(const std::string& select, const std::string& trace = kTrace) {
  const auto out = EditTexts({trace}, "edit { allow_no_match: true select { " + select +
                                          " } attribute { name: 'hit' bool_value: true } }");
  if (!out.ok()) return std::string(out.status().message());
  std::string ids;
  for (const et::Node& n : out->nodes[0]) {
    if (absl::StrContains(NodeText(n), " hit=true")) absl::StrAppend(&ids, n.id());
  }
  return ids;
}

TEST(EditSelector, SelectsByEachField) {
  EXPECT_EQ(Ids(""), "1234");
  EXPECT_EQ(Ids("name: 'm$'"), "12");
  EXPECT_EQ(Ids("type: 'COMP_NODE'"), "124");
  EXPECT_EQ(Ids("type: 'compute'"), "12");
  EXPECT_EQ(Ids("type: 'host' type: 'collective'"), "34");
  EXPECT_EQ(Ids("ranks: '0-3'"), "1234");
  EXPECT_EQ(Ids("ranks: '1'"), "");
  EXPECT_EQ(Ids("lane: 'stream:7'"), "12");
  EXPECT_EQ(Ids("lane: 'stream:*'"), "123");
  EXPECT_EQ(Ids("lane: 'thread:1'"), "4");
  EXPECT_EQ(Ids("lane: 'none'"), "");
  EXPECT_EQ(Ids("group: 'dp'"), "3");
  EXPECT_EQ(Ids("collective: 'all_gather' collective: 'all_reduce'"), "3");
  EXPECT_EQ(Ids("bytes { min: 1000 }"), "13");
  EXPECT_EQ(Ids("bytes { min: 1000 max: 1000 }"), "1");
  EXPECT_EQ(Ids("duration_us { max: 3 }"), "24");
  EXPECT_EQ(Ids("operations { min: 1 }"), "1");
  EXPECT_EQ(Ids("id: '2-3'"), "23");
  EXPECT_EQ(Ids("attribute { name: 'stream' range { min: 8 } }"), "3");
  EXPECT_EQ(Ids("attribute { name: 'stream' absent: true }"), "4");
  EXPECT_EQ(Ids("attribute { name: 'stream' value: '[79]' }"), "123");
  EXPECT_EQ(Ids("iteration: '0'"), "1234");
}

TEST(EditSelector, SelectsCommunicationWithoutACall) {
  const std::string trace = "1 comp gemm us=1 stream=7\n2 comp nccl us=5 stream=9 comm_kind=unknown\n";
  EXPECT_EQ(Ids("type: 'comm'", trace), "2");
  EXPECT_EQ(Ids("type: 'compute'", trace), "1");
  EXPECT_EQ(Ids("type: 'device'", trace), "1");
  EXPECT_EQ(Ids("type: 'collective'", trace), "");
  EXPECT_EQ(Ids("type: 'COMP_NODE'", trace), "12");
}

TEST(EditValues, SetsBytesOfCallsOfUnknownSize) {
  EXPECT_EQ(EditText("1 all_reduce a us=5\n", "edit { select { type: 'comm' } bytes { set: 4096 } }"),
            "1 all_reduce a us=5 bytes=4096\n");
}

TEST(EditSelector, CombinesWithAndOrNot) {
  EXPECT_EQ(Ids("name: 'm$' none_of { name: 'gemm' }"), "2");
  EXPECT_EQ(Ids("any_of { name: 'gemm' } any_of { type: 'comm' }"), "13");
  EXPECT_EQ(Ids("all_of { name: 'm' } all_of { duration_us { min: 5 } }"), "1");
  EXPECT_EQ(Ids("type: 'COMP_NODE' any_of { none_of { lane: 'stream:7' } } any_of { bytes { max: 10 } }"),
            "24");
}

TEST(EditSelector, SelectsByIterationAndAncestor) {
  const std::string trace = R"(
    1 comp ProfilerStep#1 host tid=1 start=0
    2 comp gemm stream=7 start=1 <- 3:launch
    3 comp cudaLaunchKernel host tid=1 start=0.5 parent=4 <- 4:call
    4 comp aten::linear host tid=1 start=0.25 parent=1 <- 1:call
    5 comp ProfilerStep#2 host tid=1 start=10 <- 3:thread
    6 comp gemm stream=7 start=11 <- 5 2
  )";
  const auto ids = [&](const std::string& select) { return Ids(select, trace); };
  EXPECT_EQ(ids("iteration: 'first'"), "1234");
  EXPECT_EQ(ids("iteration: 'last'"), "56");
  EXPECT_EQ(ids("ancestor: '^aten::linear$'"), "23");
  EXPECT_EQ(ids("ancestor: 'ProfilerStep'"), "234");
  EXPECT_THAT(ids("iteration: '2'"), HasSubstr("the trace has 2 iterations"));
}

TEST(EditSelector, ErrorsNameTheField) {
  EXPECT_THAT(Ids("name: '('"),
              AllOf(HasSubstr("script:1: edit 1 (attribute), select, name"), HasSubstr("RE2")));
  EXPECT_THAT(Ids("type: 'computer'"), HasSubstr("did you mean 'compute'?"));
  EXPECT_THAT(Ids("ranks: '7-3'"), HasSubstr("a range (0-7)"));
  EXPECT_THAT(Ids("lane: 'strem:7'"), HasSubstr("expected stream:N"));
  EXPECT_THAT(Ids("collective: 'allreduce'"), HasSubstr("all_reduce"));
  EXPECT_THAT(Ids("bytes { }"), HasSubstr("expected at least one"));
  EXPECT_THAT(Ids("bytes { min: 3 max: 2 }"), HasSubstr("min <= max"));
  EXPECT_THAT(Ids("iteration: 'second'"), HasSubstr("expected first, last"));
  EXPECT_THAT(Ids("any_of { none_of { id: 'x' } }"), HasSubstr("any_of 0, none_of 0, id"));
  EXPECT_THAT(EditText(kTrace, "edit { select { name: 'gem_' } remove {} }"),
              AllOf(HasSubstr("matches nothing in 1 rank"), HasSubstr("a node is called \"gemm\"")));
  EXPECT_THAT(EditText(kTrace, "edit { select { name: 'x' } }"),
              HasSubstr("no operation, expected one of duration"));
  EXPECT_THAT(EditText(kTrace, "name: 'x'"), HasSubstr("no edit"));
}

TEST(EditScript, ErrorsNameTheLineOfTheField) {
  const auto message = [](const std::string& script) { return EditText(kTrace, script); };
  EXPECT_THAT(message("edit {\n  select {\n    any_of { name: 'x' }\n    any_of {\n      lane: 'y'\n    }\n  "
                      "}\n  remove {}\n}"),
              HasSubstr("script:5: edit 1 (remove), select, any_of 1, lane"));
  EXPECT_THAT(message("edit { remove {} }\nedit {\n  fuse {\n    most: 1\n  }\n}"),
              HasSubstr("script:4: edit 2 (fuse), most: 1"));
  EXPECT_THAT(
      message(
          "# a comment\nedit {\n  insert {\n    node {\n      name: 'a'\n      type: 'COMP'\n    }\n  }\n}"),
      HasSubstr("script:6: edit 1 (insert), node.type"));
  EXPECT_THAT(message("\nedit { name: 'n' }"), HasSubstr("script:2: edit 1 \"n\": no operation"));
  EXPECT_THAT(message("\n\nedit { select { name: 'nothing' } remove {} }"),
              HasSubstr("script:3: edit 1 (remove)"));
  Script json;
  json.source = "s.json";
  json.text =
      "{\"edit\": [\n {\"select\": {\n  \"durationUs\": {\"min\": 3, \"max\": 2}},\n  \"remove\": {}}]}\n";
  ASSERT_TRUE(ParseMessage(json.text, json.source, &json.script).ok());
  EXPECT_THAT(EditPlan::Make({json}).status().message(),
              HasSubstr("s.json:3: edit 1 (remove), select, duration_us"));
}

TEST(EditRecord, UneditedNodesKeepTheirBytes) {
  const TraceSet set = MakeSet({kTrace});
  const auto out = EditSet(set, "edit { select { name: 'norm' } duration { set: 1 } }");
  ASSERT_TRUE(out.ok());
  const absl::StatusOr<RankTrace> again =
      DecodeTrace(out->frames[0], "edited", 0, ReadOptions{.keep_raw = true});
  ASSERT_TRUE(again.ok());
  for (size_t i : {1, 3, 4}) EXPECT_EQ(again->raw->frame(i), set.ranks[0].raw->frame(i)) << i;
  EXPECT_NE(again->raw->frame(2), set.ranks[0].raw->frame(2));
  EXPECT_EQ(out->report.outcome(0).changed(), 1u);
}

TEST(EditRecord, KeepsUnknownFieldsAndRecordsTheEdit) {
  et::Node node = ParseNode("1 comp gemm us=4");
  std::string body = node.SerializeAsString();
  wire::AppendText(99, "from the future", &body);
  std::string frames;
  EtWriter writer(&frames, Compression::kNone);
  ASSERT_TRUE(writer.AddFrame("").ok());
  ASSERT_TRUE(writer.AddFrame(body).ok());
  ASSERT_TRUE(writer.Finish().ok());
  TraceSet set;
  set.ranks.push_back(*DecodeTrace(frames, "t.0.et", 0, ReadOptions{.keep_raw = true}));
  const auto out = EditSet(set, "edit { duration { factor: 2 } } edit { rename { to: 'mm' } }");
  ASSERT_TRUE(out.ok()) << out.status();
  ASSERT_EQ(out->metadata[0].attr_size(), 1);
  EXPECT_EQ(out->metadata[0].attr(0).name(), "edits");
  EXPECT_EQ(out->metadata[0].attr(0).string_list().values_size(), 2);
  EXPECT_THAT(out->metadata[0].attr(0).string_list().values(0), HasSubstr("factor: 2"));
  const auto scaled = EditSet(set, "edit { duration { factor: 2 } }");
  ASSERT_TRUE(scaled.ok());
  EXPECT_THAT(scaled->frames[0], HasSubstr("from the future"));
}

TEST(EditAlgebra, InverseFactorsCancelInAnyOrder) {
  const TraceSet set = MakeSet({kTrace});
  const auto twice = EditSet(set, "edit { duration { factor: 4 } } edit { duration { factor: 0.25 } }");
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(twice->list(), List(ParseFrames(EditSet(set, "edit { duration { factor: 1 } }")->frames[0])));
  const std::string a = "edit { select { name: 'gemm' } duration { factor: 3 } }";
  const std::string b = "edit { select { type: 'comm' } bytes { factor: 2 } }";
  EXPECT_EQ(EditSet(set, a + b)->list(), EditSet(set, b + a)->list());
}

}  // namespace
}  // namespace chakra::edit::CHAKRA_FILE
