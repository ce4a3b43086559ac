// Edits of collectives: merge, split, change, compress.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "test/trace/edit_testing.h"
#include "trace/et/read_options.h"

namespace chakra::edit::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Groups kGroups = {{"dp", {0, 1, 2, 3}}, {"dpx", {0, 1}}, {"tp", {1, 2}}};

std::string Edit(const std::string& body, const std::string& select = "type: \"collective\"") {
  return absl::StrCat("edit { select { ", select, " } ", body, " }");
}

// Gradients that are reduced when they are ready, and the optimizer.
constexpr char kGradients[] = R"(
  1 comp g3 us=10
  2 all_reduce r3 us=4 bytes=100 group=dp transfer=2000 <- 1
  3 comp g2 us=10 <- 1
  4 all_reduce r2 us=5 bytes=50 group=dp transfer=3000 <- 3+70
  5 comp g1 us=10 <- 3
  6 all_reduce r1 us=6 bytes=30 group=dp transfer=1000 <- 5
  7 comp step us=3 <- 2+40 4 6)";

TEST(MergeCollectives, KeepsTheLastCallWhichWaitsForAll) {
  const auto out = EditTexts({kGradients}, Edit("merge_collectives { count: 2 }"), kGroups);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(), Lines(R"(
    1 comp g3 us=10
    3 comp g2 us=10 <- 1
    4 all_reduce r2 us=9 bytes=150 group=dp transfer=5000 <- 3+70 1
    5 comp g1 us=10 <- 3
    6 all_reduce r1 us=6 bytes=30 group=dp transfer=1000 <- 5
    7 comp step us=3 <- 4+40 6)"));
  EXPECT_EQ(out->report.outcome(0).matched(), 3u);
  EXPECT_EQ(out->report.outcome(0).removed(), 1u);
  EXPECT_THAT(out->notes(), HasSubstr("summed"));
}

TEST(MergeCollectives, ClosesFullBuckets) {
  const auto ids = [](const std::string& spec) {
    const auto out = EditTexts({kGradients}, Edit("merge_collectives { " + spec + " }"), kGroups);
    EXPECT_TRUE(out.ok()) << out.status();
    std::vector<std::string> left;
    for (const et::Node& n : out->nodes[0]) {
      if (n.type() == et::COMM_COLL_NODE) left.push_back(absl::StrCat(n.name(), ":", AttrText(n.attr(1))));
    }
    return absl::StrJoin(left, " ");
  };
  EXPECT_EQ(ids(""), "r1:180");
  EXPECT_EQ(ids("bucket_bytes: 100"), "r3:100 r1:80");
  EXPECT_EQ(ids("bucket_bytes: 101"), "r2:150 r1:30");
  EXPECT_EQ(ids("bucket_bytes: 1000 count: 2"), "r2:150 r1:30");
  EXPECT_EQ(ids("count: 9"), "r1:180");
}

TEST(MergeCollectives, CountOfOneChangesNothing) {
  const TraceSet set = MakeSet({kGradients}, kGroups);
  const auto out = EditSet(set, Edit("merge_collectives { count: 1 }"));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(), Lines(kGradients));
  EXPECT_EQ(out->report.outcome(0).changed(), 0u);
}

TEST(MergeCollectives, DoesNotMergeDifferentCalls) {
  const std::string apart = R"(
    1 comp ProfilerStep#0 us=1
    2 all_reduce a bytes=1 group=dp
    3 reduce_scatter b bytes=1 group=dp
    4 all_reduce c bytes=1 group=dpx
    5 all_reduce d bytes=1 stream=7 group=dp
    6 all_reduce e bytes=1 group=dp comm_dtype=Half
    7 broadcast f bytes=1 group=dp root=0
    8 broadcast g bytes=1 group=dp root=1
    9 comp ProfilerStep#1 us=1 <- 1
    10 all_reduce h bytes=1 group=dp <- 9)";
  EXPECT_EQ(EditText(apart, Edit("merge_collectives { per_iteration: true }"), kGroups), Lines(apart));
  EXPECT_THAT(EditText(apart, Edit("merge_collectives {}"), kGroups),
              HasSubstr("10 all_reduce h bytes=2 group=dp <- 9\n"));
}

TEST(MergeCollectives, ClosesTheBucketBeforeACycle) {
  const auto out = EditTexts({R"(
    1 all_reduce a bytes=1 group=dp
    2 comp x <- 1
    3 comp y <- 2
    4 all_reduce b bytes=2 group=dp <- 3
    5 all_reduce c bytes=4 group=dp
    6 comp z <- 5)"},
                             Edit("merge_collectives {}"), kGroups);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(), Lines(R"(
    1 all_reduce a bytes=1 group=dp
    2 comp x <- 1
    3 comp y <- 2
    5 all_reduce c bytes=6 group=dp <- 3
    6 comp z <- 5)"));
  EXPECT_THAT(out->notes(), HasSubstr("closed before a collective that depends"));
}

// A path that only the merge creates: x waits for the buckets of both kinds.
TEST(MergeCollectives, SeesPathsOfEarlierMerges) {
  const std::string text = R"(
    1 all_reduce a bytes=1 group=dp
    2 all_gather p bytes=1 group=dp
    3 comp x <- 1
    4 comp y <- 2
    5 all_gather q bytes=1 group=dp <- 3
    6 all_reduce b bytes=1 group=dp <- 4)";
  const auto out = EditTexts({text}, Edit("merge_collectives {}"), kGroups);  // ExpectValid() finds a cycle
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(), Lines(R"(
    1 all_reduce a bytes=1 group=dp
    3 comp x <- 1
    4 comp y <- 5
    5 all_gather q bytes=2 group=dp <- 3
    6 all_reduce b bytes=1 group=dp <- 4)"));
}

TEST(MergeCollectives, MergesCallsThatDependDirectly) {
  EXPECT_EQ(EditText("1 comp a\n2 all_reduce b bytes=3 <- 1\n3 all_reduce c bytes=4 <- 2+10\n4 comp d <- 2 3",
                     Edit("merge_collectives {}")),
            Lines("1 comp a\n3 all_reduce c bytes=7 <- 1\n4 comp d <- 3"));
}

TEST(MergeCollectives, RefusesOtherNodesAndBadFields) {
  EXPECT_THAT(EditText("1 comp a\n2 send s bytes=1 peer=0", Edit("merge_collectives {}", "type: \"comm\"")),
              HasSubstr("node 2 (\"s\"): is a COMM_SEND_NODE, expected collectives only"));
  EXPECT_THAT(PlanOf(Edit("merge_collectives { count: -1 }")).status().message(),
              HasSubstr("script:1: edit 1 (merge_collectives), count: -1, expected 0"));
  EXPECT_THAT(EditText("1 all_reduce a bytes=9223372036854775807\n2 all_reduce b bytes=1",
                       Edit("merge_collectives {}")),
              HasSubstr("2^63"));
}

TEST(SplitCollectives, LastChainedPartKeepsTheNode) {
  const auto out = EditTexts({kGradients}, Edit("split_collectives { parts: 3 }", "name: \"r2\""), kGroups);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(), Lines(R"(
    1 comp g3 us=10
    2 all_reduce r3 us=4 bytes=100 group=dp transfer=2000 <- 1
    3 comp g2 us=10 <- 1
    4 all_reduce r2 us=1.6 bytes=16 group=dp transfer=960 <- 3+70 9
    5 comp g1 us=10 <- 3
    6 all_reduce r1 us=6 bytes=30 group=dp transfer=1000 <- 5 c4
    7 comp step us=3 <- 2+40 4 6
    8 all_reduce r2 us=1.7 bytes=17 group=dp transfer=1020 <- 3+70
    9 all_reduce r2 us=1.7 bytes=17 group=dp transfer=1020 <- 3+70 8)"));
  EXPECT_EQ(out->report.outcome(0).added(), 2u);
  EXPECT_THAT(out->notes(), HasSubstr("control dependencies were added"));
}

TEST(SplitCollectives, NextNodeWaitsForAllParallelParts) {
  EXPECT_EQ(EditText("1 comp a\n2 all_reduce b bytes=5 <- 1\n3 comp c <- 2+9",
                     Edit("split_collectives { parts: 2 parallel: true }")),
            Lines("1 comp a\n2 all_reduce b bytes=2 <- 1\n3 comp c <- 2+9 4+9\n4 all_reduce b bytes=3 <- 1"));
}

TEST(SplitCollectives, SplitsByMostBytes) {
  const auto parts = [](const char* spec, int bytes) {
    const auto out = EditTexts({absl::StrCat("1 all_reduce b bytes=", bytes)},
                               Edit(absl::StrCat("split_collectives { ", spec, " }")));
    EXPECT_TRUE(out.ok()) << out.status();
    return out->nodes[0].size();
  };
  EXPECT_EQ(parts("most_bytes: 10", 10), 1u);
  EXPECT_EQ(parts("most_bytes: 10", 11), 2u);
  EXPECT_EQ(parts("most_bytes: 10", 100), 10u);
  EXPECT_EQ(parts("parts: 8", 3), 3u);
  EXPECT_EQ(parts("parts: 8", 0), 1u);
}

TEST(SplitCollectives, RefusesBadFields) {
  const auto refusal = [](const char* spec) {
    return std::string(PlanOf(Edit(absl::StrCat("split_collectives { ", spec, " }"))).status().message());
  };
  EXPECT_THAT(refusal("parts: 1"), HasSubstr("parts: 1, expected 2 or more"));
  EXPECT_THAT(refusal(""), HasSubstr("parts: 0, expected 2 or more"));
  EXPECT_THAT(refusal("parts: -3"), HasSubstr("parts: -3"));
  EXPECT_THAT(refusal("parts: 2 most_bytes: 4"), HasSubstr("expected one of the two"));
  EXPECT_THAT(EditText("1 all_reduce b bytes=1000000000000", Edit("split_collectives { most_bytes: 1 }")),
              HasSubstr("expected fewer parts"));
  EXPECT_THAT(EditText("1 comp b", Edit("split_collectives { parts: 2 }", "name: \"b\"")),
              HasSubstr("is a COMP_NODE"));
}

TEST(SplitCollectives, MergeRestoresEveryByte) {
  const auto out = EditTexts(
      {kGradients}, Edit("split_collectives { parts: 7 }") + Edit("merge_collectives { count: 7 }"), kGroups);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->report.outcome(0).added(), 18u);
  EXPECT_EQ(out->report.outcome(1).removed(), 18u);
  const auto before = ParseFrames(Frames(kGradients));
  ASSERT_EQ(out->nodes[0].size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(out->nodes[0][i].SerializeAsString(), before[i].SerializeAsString())
        << NodeText(out->nodes[0][i]);
  }
}

// Names of a group's collectives in the order in which a rank makes them.
std::vector<std::string> Calls(const std::string& frames, const std::string& group) {
  const auto trace = DecodeTrace(frames, "test.et", 0, ReadOptions());
  EXPECT_TRUE(trace.ok()) << trace.status();
  std::vector<std::string> out;
  for (const uint32_t r : trace->graph->order) {
    if (trace->graph->type[r] != NodeType::kCollective) continue;
    const uint32_t p = trace->graph->payload[r];
    if (trace->group_names[trace->peers[p].group] == group)
      out.push_back(absl::StrCat(trace->graph->name_of(r), ":", trace->graph->comm[p].bytes));
  }
  return out;
}

// Ranks whose other nodes differ keep one order of calls: the order does not depend on ids, of which new
// nodes have the last.
TEST(SplitCollectives, GroupsKeepTheirOrderOnEveryRank) {
  const std::string one = R"(
    1 comp a
    2 all_reduce b bytes=10 group=dp <- 1
    3 all_reduce c bytes=20 group=dp
    4 all_reduce d bytes=30 group=dp
    5 all_reduce e bytes=40 group=tp)";
  const std::string two = R"(
    1 comp a
    2 all_reduce b bytes=10 group=dp <- 1
    3 comp x <- 2
    4 all_reduce c bytes=20 group=dp <- 3
    5 all_reduce e bytes=40 group=tp
    6 all_reduce d bytes=30 group=dp <- 2)";
  for (const char* parallel : {"false", "true"}) {
    const auto out = EditTexts(
        {one, two},
        Edit(absl::StrCat("split_collectives { parts: 2 parallel: ", parallel, " }"), "name: \"b\""),
        kGroups);
    ASSERT_TRUE(out.ok()) << out.status();
    const std::vector<std::string> calls = {"b:5", "b:5", "c:20", "d:30"};
    EXPECT_EQ(Calls(out->frames[0], "dp"), calls) << parallel;
    EXPECT_EQ(Calls(out->frames[1], "dp"), calls) << parallel;
  }
}

TEST(ChangeCollective, ConvertsSizesBetweenKinds) {
  const auto changed = [](const char* from, const char* to) {
    return EditText(absl::StrCat("1 ", from, " group=dp"),
                    Edit(absl::StrCat("change_collective { kind: \"", to, "\" }")), kGroups);
  };
  EXPECT_EQ(changed("all_reduce a bytes=100", "reduce_scatter"), "1 reduce_scatter a bytes=100 group=dp\n");
  EXPECT_EQ(changed("reduce_scatter a bytes=100", "all_reduce"), "1 all_reduce a bytes=100 group=dp\n");
  EXPECT_EQ(changed("all_reduce a bytes=100", "all_gather"), "1 all_gather a bytes=25 group=dp\n");
  EXPECT_EQ(changed("all_reduce a bytes=101", "all_gather"), "1 all_gather a bytes=26 group=dp\n");
  EXPECT_EQ(changed("all_gather a bytes=25", "all_reduce"), "1 all_reduce a bytes=100 group=dp\n");
  EXPECT_EQ(changed("all_gather a bytes=25", "gather"), "1 gather a bytes=25 group=dp\n");
  EXPECT_EQ(changed("all_reduce a bytes=100", "barrier"), "1 barrier a bytes=0 group=dp\n");
  EXPECT_THAT(changed("barrier a", "all_reduce"), HasSubstr("is a barrier, which has no bytes"));
}

TEST(ChangeCollective, ChangeAndBackRestoresEveryByte) {
  const TraceSet set = MakeSet({kGradients}, kGroups);
  const auto out = EditSet(set, Edit("change_collective { kind: \"reduce_scatter\" }") +
                                    Edit("change_collective { kind: \"all_reduce\" }"));
  const auto none = EditSet(set, Edit("change_collective { kind: \"all_reduce\" }"));
  ASSERT_TRUE(out.ok() && none.ok()) << out.status() << none.status();
  const auto before = ParseFrames(Frames(kGradients));
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(out->nodes[0][i].SerializeAsString(), before[i].SerializeAsString()) << i;
    EXPECT_EQ(none->nodes[0][i].SerializeAsString(), before[i].SerializeAsString()) << i;
  }
  EXPECT_EQ(none->report.outcome(0).changed(), 0u);
}

TEST(ChangeCollective, SplitsAllReduceInTwoPhases) {
  const auto out = EditTexts({R"(
    1 comp a
    2 all_reduce b us=5 bytes=102 group=dp transfer=3001 <- 1+7
    3 comp c <- 2)"},
                             Edit("change_collective { kind: \"reduce_scatter+all_gather\" }"), kGroups);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(), Lines(R"(
    1 comp a
    2 all_gather b us=2.5 bytes=26 group=dp transfer=1501 <- 1+7 4
    3 comp c <- 2
    4 reduce_scatter b us=2.5 bytes=102 group=dp transfer=1500 <- 1+7)"));
  EXPECT_THAT(out->notes(), HasSubstr("half of the recorded times"));
  EXPECT_THAT(EditText("1 broadcast b bytes=1 group=dp",
                       Edit("change_collective { kind: \"reduce_scatter+all_gather\" }"), kGroups),
              HasSubstr("is not all_reduce; only all_reduce becomes"));
}

TEST(ChangeCollective, MovesToAnotherGroup) {
  const std::string text = "1 all_gather b bytes=8 group=dp",
                    move = Edit("change_collective { group: \"dpx\" }");
  EXPECT_EQ(EditText(text, move, kGroups), "1 all_gather b bytes=8 group=dpx\n");
  EXPECT_EQ(EditText(text, Edit("change_collective { kind: \"all_reduce\" group: \"dpx\" }"), kGroups),
            "1 all_reduce b bytes=32 group=dpx\n");
  EXPECT_THAT(EditText(text, Edit("change_collective { group: \"dpy\" }"), kGroups),
              HasSubstr("did you mean 'dp"));
  EXPECT_THAT(EditText(text, Edit("change_collective { group: \"tp\" }"), kGroups),
              HasSubstr("rank 0 is not a member of group \"tp\", expected one of 1, 2"));
}

TEST(ChangeCollective, AsksForMissingGroups) {
  const TraceSet set = MakeSet({"1 all_reduce b bytes=8 group=dp"});
  const std::string script = Edit("change_collective { kind: \"all_gather\" }");
  EXPECT_TRUE(PlanOf(script)->needs_shape());
  EXPECT_THAT(EditSet(set, script, false).status().message(),
              HasSubstr("the size of group \"dp\" is needed"));
  EXPECT_THAT(EditSet(set, script).status().message(), HasSubstr("expected groups from --groups FILE"));
  EXPECT_THAT(EditText("1 all_reduce b bytes=8 group=dq", script, kGroups), HasSubstr("did you mean 'dp"));
  const TraceSet all = MakeSet({"1 all_reduce b bytes=8"});
  EXPECT_THAT(EditSet(all, script, false).status().message(), HasSubstr("expected the traces of all ranks"));
}

TEST(ChangeCollective, ReadsGroupsFromTheGroupNode) {
  et::Node groups;
  groups.set_id(9);
  groups.set_name("## process_group:init ##");
  groups.set_type(et::METADATA_NODE);
  groups.mutable_inputs()->set_values(R"([{"pg_name":"dp","ranks":[0,1]}])");
  std::string frames = Frames("1 all_reduce b bytes=8 group=dp");
  EtWriter writer(&frames, Compression::kNone);
  ASSERT_TRUE(writer.AddFrame(groups.SerializeAsString()).ok() && writer.Finish().ok());
  TraceSet set;
  auto trace = DecodeTrace(frames, "test.0.et", 0, ReadOptions{.keep_raw = true});
  ASSERT_TRUE(trace.ok()) << trace.status();
  set.ranks.push_back(*std::move(trace));
  const auto out = EditSet(set, Edit("change_collective { kind: \"all_gather\" }"), false);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(NodeText(out->nodes[0][0]), "1 all_gather b bytes=4 group=dp");
  EXPECT_EQ(out->nodes[0][1].SerializeAsString(), groups.SerializeAsString());
}

TEST(ChangeCollective, RefusesBadFields) {
  EXPECT_THAT(PlanOf(Edit("change_collective {}")).status().message(),
              HasSubstr("kind: empty, and so is group"));
  EXPECT_THAT(PlanOf(Edit("change_collective { kind: \"allgather\" }")).status().message(),
              HasSubstr("kind: unknown collective \"allgather\"; did you mean 'all_gather'"));
}

TEST(Compress, EncodesBeforeTheCallAndDecodesAfter) {
  const auto out =
      EditTexts({R"(
    1 comp a start=1 us=2 stream=7
    2 comp b start=3 us=2 stream=7 <- 1
    3 all_reduce r start=4 us=10 bytes=2000000 stream=9 group=dp transfer=4000 <- 1
    4 comp c start=5 us=2 stream=7 <- 2
    5 comp d start=20 us=2 stream=7 <- 3)"},
                Edit("compress { ratio: 0.25 encode_us_per_mb: 1.5 decode_us_per_mb: 1 }"), kGroups);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->list(), Lines(R"(
    1 comp a start=1 us=2 stream=7
    2 comp b start=3 us=2 stream=7 <- 1
    3 all_reduce r start=4 us=2.5 bytes=500000 stream=9 group=dp transfer=1000 <- 1 6
    4 comp c start=5 us=2 stream=7 <- 2
    5 comp d start=20 us=2 stream=7 <- 7
    6 comp encode_r start=1 us=3 stream=7 <- 1
    7 comp decode_r start=20 us=2 stream=7 <- 3)"));
  EXPECT_EQ(out->report.outcome(0).added(), 2u);
  EXPECT_THAT(out->notes(), HasSubstr("multiplied by ratio"));
}

TEST(Compress, DecodesTheOutputOfTheCollective) {
  const auto decode = [](const char* node) {
    const std::string out = EditText(
        absl::StrCat("1 ", node),
        Edit("compress { ratio: 1 decode_us_per_mb: 1 lane: \"stream:3\" }", "type: \"comm\""), kGroups);
    return out.substr(out.find('\n') + 1);
  };
  EXPECT_EQ(decode("all_gather a bytes=1000000 group=dp"), "2 comp decode_a us=4 stream=3 <- 1\n");
  EXPECT_EQ(decode("reduce_scatter a bytes=1000000 group=dp"), "2 comp decode_a us=0.25 stream=3 <- 1\n");
  EXPECT_EQ(decode("all_to_all a bytes=1000000 group=dp"), "2 comp decode_a us=1 stream=3 <- 1\n");
  EXPECT_EQ(decode("recv a bytes=1000000 peer=1"), "2 comp decode_a us=1 stream=3 <- 1\n");
  EXPECT_EQ(decode("send a bytes=1000000 peer=1"), "");
}

TEST(Compress, AddsComputeNodesWithoutLanes) {
  EXPECT_EQ(EditText("1 comp a\n2 all_reduce b bytes=1000000 <- 1+5:launch\n3 barrier c <- 2",
                     Edit("compress { ratio: 0.5 encode_us_per_mb: 2 }")),
            Lines("1 comp a\n2 all_reduce b bytes=500000 <- 1+5:launch 4:edit\n3 barrier c <- 2\n4 comp "
                  "encode_b us=2 <- 1+5:launch"));
}

TEST(Compress, RatioOfOneChangesNothing) {
  EXPECT_EQ(EditText(kGradients, Edit("compress { ratio: 1 }"), kGroups), Lines(kGradients));
}

TEST(Compress, RefusesBadFields) {
  const auto refusal = [](const char* spec) {
    return std::string(PlanOf(Edit(absl::StrCat("compress { ", spec, " }"))).status().message());
  };
  EXPECT_THAT(refusal(""), HasSubstr("ratio: 0, expected above 0, at most 1"));
  EXPECT_THAT(refusal("ratio: 1.5"), HasSubstr("ratio: 1.5"));
  EXPECT_THAT(refusal("ratio: nan"), HasSubstr("ratio: nan"));
  EXPECT_THAT(refusal("ratio: 0.5 encode_us_per_mb: -1"), HasSubstr("encode_us_per_mb: -1, expected 0 to"));
  EXPECT_THAT(refusal("ratio: 0.5 decode_us_per_mb: inf"), HasSubstr("decode_us_per_mb: inf"));
  EXPECT_THAT(refusal("ratio: 0.5 lane: \"stream:*\""), HasSubstr("expected one lane"));
  EXPECT_THAT(refusal("ratio: 0.5 lane: \"strem:1\""), HasSubstr("lane: "));
  EXPECT_THAT(EditText("1 comp a", Edit("compress { ratio: 0.5 }", "")),
              HasSubstr("is a COMP_NODE, expected communication only"));
}

}  // namespace
}  // namespace chakra::edit::CHAKRA_FILE
