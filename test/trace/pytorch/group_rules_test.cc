#include "trace/import/join/group_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

GroupRules Rules(const Groups& groups) {
  auto rules = GroupRules::Make(groups, "g.json", 8);
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules.ok() ? *std::move(rules) : GroupRules();
}

std::string Error(const Groups& groups) {
  const auto rules = GroupRules::Make(groups, "g.json", 8);
  EXPECT_FALSE(rules.ok());
  return std::string(rules.status().message());
}

// The key of the rule that applies, or "none".
std::string KeyFor(const GroupRules& rules, const RuledCall& call) {
  const uint32_t rule = rules.Find(call);
  return rule == kNoRow ? "none" : rules.key(rule);
}

RuledCall Unnamed(int rank, CommOp op = CommOp::kAllReduce, int64_t bytes = 65536) {
  RuledCall call;
  call.op = op;
  call.bytes = bytes;
  call.lane = "3";
  call.rank = rank;
  return call;
}

TEST(GroupRules, NamesAndDescriptionsApplyToTheirRanks) {
  const GroupRules rules = Rules({{"tp@0", {0, 1}}, {"tp@2", {2, 3}}, {"DATA", {0, 2}}});
  RuledCall call = Unnamed(2);
  call.name = "tp";
  EXPECT_EQ(KeyFor(rules, call), "tp@2");
  call.rank = 5;
  EXPECT_EQ(KeyFor(rules, call), "none");
  call.rank = 0;
  call.name = "17";
  call.description = "DATA";
  EXPECT_EQ(KeyFor(rules, call), "DATA");
  EXPECT_EQ(KeyFor(rules, Unnamed(0)), "none") << "a name is no rule";
}

TEST(GroupRules, PrefersTheRuleWithMoreConditions) {
  const GroupRules rules = Rules({{"?", {0, 1, 2, 3}},
                                  {"?all_reduce", {0, 1}},
                                  {"?all_reduce:65536", {0, 2}},
                                  {"?all_reduce:65536%9", {0, 3}},
                                  {"?%3@x", {2, 3}}});
  EXPECT_EQ(KeyFor(rules, Unnamed(0)), "?all_reduce:65536");
  EXPECT_EQ(KeyFor(rules, Unnamed(0, CommOp::kAllReduce, 8)), "?all_reduce");
  EXPECT_EQ(KeyFor(rules, Unnamed(1, CommOp::kAllGather)), "?");
  EXPECT_EQ(KeyFor(rules, Unnamed(3, CommOp::kAllGather)), "?%3@x");
  RuledCall named = Unnamed(0);
  named.name = "tp";
  EXPECT_EQ(KeyFor(rules, named), "none") << "rules are for calls without a name";
  EXPECT_EQ(rules.NameOf(rules.Find(Unnamed(3, CommOp::kAllGather))), "%3@x");
}

TEST(GroupRules, ErrorsNameTheFileAndTheKey) {
  EXPECT_THAT(Error({{"tp", {0, 8}}}),
              HasSubstr("g.json, group \"tp\": rank 8 does not exist, expected ranks 0 to 7"));
  EXPECT_THAT(Error({{"?sum", {0}}}), HasSubstr("g.json, group \"?sum\": expected a kind of collective"));
  EXPECT_THAT(Error({{"?all_reduce:x", {0}}}), HasSubstr("expected bytes after \":\", found \"x\""));
  EXPECT_THAT(Error({{"?%", {0}}}), HasSubstr("expected a stream or thread"));
  EXPECT_THAT(Error({{"tp@a", {0, 1}}, {"tp@b", {1, 2}}}), HasSubstr("rank 1 is in group \"tp@a\" too"));
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
