// Delays, causes, unexplained time and releases of dependencies, decoded from ids to rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "test/replay/trace_builder.h"
#include "trace/et/decode.h"
#include "trace/et/read_options.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Time Ns(int64_t n) { return Time::Nanos(n); }

// Three nodes, and a fourth that waits for `deps`.
struct Four {
  explicit Four(std::vector<uint64_t> deps) : b(1) {
    for (int i = 0; i < 3; ++i) b.Comp(0, 1);
    node = &b.Comp(0, 1, std::move(deps));
  }
  std::shared_ptr<const Graph> Read() const {
    const auto traces = b.Build();
    EXPECT_TRUE(traces.ok()) << traces.status();
    return traces.ok() ? traces->ranks[0].graph : nullptr;
  }
  std::string Error() const {
    const auto traces = b.Build();
    return traces.ok() ? "no error" : std::string(traces.status().message());
  }
  TraceBuilder b;
  et::Node* node;
};

TEST(DepDelay, IsStoredInBothDirections) {
  Four f({2, 0});
  f.node->add_ctrl_deps(1);
  TraceBuilder::Delays(f.node, {20, 0, 7});  // data_deps first
  TraceBuilder::Delays(&f.b.Comp(0, 1, {1}), {5});
  const auto g = f.Read();
  ASSERT_NE(g, nullptr);
  EXPECT_THAT(g->dep, ElementsAre(0u, 1u, 2u, 1u));
  EXPECT_THAT(g->dep_delay, ElementsAre(Ns(0), Ns(7), Ns(20), Ns(5)));
  EXPECT_THAT(g->child, ElementsAre(3u, 3u, 4u, 3u));
  EXPECT_THAT(g->child_delay, ElementsAre(Ns(0), Ns(7), Ns(5), Ns(20)));
}

TEST(DepDelay, NodesWithoutTheAttributeHaveNoDelay) {
  Four f({0, 1});
  TraceBuilder::Delays(&f.b.Comp(0, 1, {2}), {9});
  EXPECT_THAT(f.Read()->dep_delay, ElementsAre(Ns(0), Ns(0), Ns(9)));
  EXPECT_THAT(Four({0, 1}).Read()->dep_delay, IsEmpty());
  EXPECT_THAT(Four({0, 1}).Read()->child_delay, IsEmpty());
}

TEST(DepDelay, KeepsTheLongerDelayOfDuplicates) {
  Four f({1, 0, 1});
  f.node->add_ctrl_deps(0);
  TraceBuilder::Delays(f.node, {3, 50, 8, 40});
  const auto g = f.Read();
  ASSERT_NE(g, nullptr);
  EXPECT_THAT(g->dep, ElementsAre(0u, 1u));
  EXPECT_THAT(g->dep_delay, ElementsAre(Ns(50), Ns(8)));
}

TEST(DepDelay, DropsDelaysOfDroppedDependencies) {
  Four f({2, 99, 1});
  TraceBuilder::Delays(f.node, {3, 4, 5});
  const auto g = f.Read();
  ASSERT_NE(g, nullptr);
  EXPECT_THAT(g->dep, ElementsAre(1u, 2u));
  EXPECT_THAT(g->dep_delay, ElementsAre(Ns(5), Ns(3)));
}

TEST(DepDelay, RefusesListsOfAnotherLength) {
  for (const auto& [delays, count] : std::vector<std::pair<std::vector<int64_t>, const char*>>{
           {{1}, "1 delays"}, {{1, 2, 3}, "3 delays"}, {{}, "0 delays"}}) {
    Four f({0, 1});
    TraceBuilder::Delays(f.node, delays);
    TraceBuilder::Delays(&f.b.Comp(0, 1, {3}), {1});  // the delay of the next node is not counted
    EXPECT_THAT(f.Error(), HasSubstr("node 3 (\"n3\"), field attribute dep_delay_ns, byte "));
    EXPECT_THAT(f.Error(), HasSubstr(std::string(count) + ", expected one for each of the 2 dependencies"));
  }
  Four none({});
  TraceBuilder::Delays(none.node, {1});
  EXPECT_THAT(none.Error(), HasSubstr("1 delays, expected one for each of the 0 dependencies"));
}

TEST(DepDelay, RefusesTwoLists) {
  Four f({0, 1});
  TraceBuilder::Delays(f.node, {1});
  TraceBuilder::Delays(f.node, {2});
  EXPECT_THAT(f.Error(), HasSubstr("node 3 (\"n3\"), field attribute dep_delay_ns"));
}

TEST(DepDelay, RefusesNegativeAndHugeDelays) {
  for (const int64_t delay : {int64_t{-1}, INT64_MIN, INT64_MAX, INT64_MAX / 1000 + 1}) {
    Four f({0, 1});
    TraceBuilder::Delays(f.node, {5, delay});
    EXPECT_THAT(f.Error(), HasSubstr("node 3")) << delay;
    EXPECT_THAT(f.Error(), HasSubstr("attribute dep_delay_ns")) << delay;
  }
  Four most({0, 1});
  TraceBuilder::Delays(most.node, {5, INT64_MAX / 1000});
  EXPECT_EQ(most.Error(), "no error");
}

TEST(DepDelay, RefusesOtherKindsOfValues) {
  Four f({0});
  TraceBuilder::Text(f.node, "dep_delay_ns", "1");
  EXPECT_THAT(f.Error(), HasSubstr("expected a list of nanoseconds, 0 or more, found string_val"));
  Four number({0});
  TraceBuilder::Int(number.node, "dep_delay_ns", 1);
  EXPECT_THAT(number.Error(), HasSubstr("found int64_val"));
}

TEST(DepDelay, GraphsThatDifferInADelayAreNotShared) {
  const std::string folder = ::testing::TempDir() + "/dep_delay_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  std::string files[2];
  for (int i = 0; i < 2; ++i) {
    Four f({0, 1});
    TraceBuilder::Delays(f.node, {5, i});
    const std::string path = folder + "/w." + std::to_string(i) + ".et";
    ASSERT_TRUE(f.b.Write(0, path).ok());
    files[i] = path;
  }
  const auto differ = ReadTraceSet({files[0], files[1]}, ReadOptions());
  ASSERT_TRUE(differ.ok()) << differ.status();
  EXPECT_EQ(differ->distinct_graphs(), 2u);
  Four same({0, 1});
  TraceBuilder::Delays(same.node, {5, 0});
  ASSERT_TRUE(same.b.Write(0, files[1]).ok());
  const auto equal = ReadTraceSet({files[0], files[1]}, ReadOptions());
  ASSERT_TRUE(equal.ok()) << equal.status();
  EXPECT_EQ(equal->distinct_graphs(), 1u);
  std::filesystem::remove_all(folder);
}

void Unexplained(et::Node* node, const std::vector<int64_t>& nanos) {
  TraceBuilder::Delays(node, nanos, "dep_unexplained_ns");
}

TEST(DepCause, ComesFromTheKindOfTheLongerDelay) {
  Four f({2, 0, 1, 0});
  f.node->add_ctrl_deps(2);
  TraceBuilder::Text(f.node, "dep_kinds", "launch,thread,stream,start");  // before or after the delays
  TraceBuilder::Delays(f.node, {7, 1, 3, 5, 9});
  const auto g = f.Read();
  ASSERT_NE(g, nullptr);
  EXPECT_THAT(g->dep, ElementsAre(0u, 1u, 2u));
  EXPECT_THAT(g->dep_delay, ElementsAre(Ns(5), Ns(3), Ns(9)));
  EXPECT_THAT(g->dep_cause, ElementsAre(DelayCause::kStart, DelayCause::kStreamGaps, DelayCause::kOther));
}

TEST(DepCause, IsOtherForUnknownAndMissingKinds) {
  Four f({0, 1});
  TraceBuilder::Delays(f.node, {1, 2});
  TraceBuilder::Text(f.node, "dep_kinds", "tide,");
  TraceBuilder::Delays(&f.b.Comp(0, 1, {3}), {4});
  EXPECT_THAT(f.Read()->dep_cause, ElementsAre(DelayCause::kOther, DelayCause::kOther, DelayCause::kOther));
  Four none({0});
  TraceBuilder::Text(none.node, "dep_kinds", "thread");
  EXPECT_THAT(none.Read()->dep_cause, IsEmpty());  // without delays there are no causes
}

TEST(DepCause, RefusesListsOfAnotherLength) {
  Four f({0, 1});
  TraceBuilder::Delays(f.node, {1, 2});
  TraceBuilder::Text(f.node, "dep_kinds", "thread");
  EXPECT_THAT(f.Error(), HasSubstr("node 3 (\"n3\"), field attribute dep_kinds, byte "));
  EXPECT_THAT(f.Error(), HasSubstr("1 kinds, expected one for each of the 2 data_deps"));
  Four number({0});
  TraceBuilder::Int(number.node, "dep_kinds", 1);
  EXPECT_THAT(number.Error(), HasSubstr("field attribute dep_kinds, byte "));
  EXPECT_THAT(number.Error(), HasSubstr("expected text, found int64_val"));
}

TEST(DepUnexplained, IsStoredForDelaysThatHaveIt) {
  Four f({2, 99, 0});
  f.node->add_ctrl_deps(1);
  TraceBuilder::Delays(f.node, {20, 8, 30, 7});
  Unexplained(f.node, {4, 8, 0, 7});
  TraceBuilder::Delays(&f.b.Comp(0, 1, {1}), {5});
  const auto g = f.Read();
  ASSERT_NE(g, nullptr);
  EXPECT_THAT(g->dep, ElementsAre(0u, 1u, 2u, 1u));
  EXPECT_THAT(g->dep_unexplained, ElementsAre(std::pair(1u, Ns(7)), std::pair(2u, Ns(4))));
}

TEST(DepUnexplained, FollowsTheLongerDelayOfDuplicates) {
  Four f({1, 0, 1});
  TraceBuilder::Delays(f.node, {3, 50, 8});
  Unexplained(f.node, {3, 0, 1});
  EXPECT_THAT(f.Read()->dep_unexplained, ElementsAre(std::pair(1u, Ns(1))));
}

TEST(DepUnexplained, RefusesMoreThanTheDelay) {
  Four more({0, 1});
  TraceBuilder::Delays(more.node, {5, 6});
  Unexplained(more.node, {5, 7});
  EXPECT_THAT(more.Error(), HasSubstr("node 3 (\"n3\"), field attribute dep_unexplained_ns, byte "));
  EXPECT_THAT(more.Error(), HasSubstr("7 ns of entry 1, expected at most its dep_delay_ns, 6"));
  Four alone({0, 1});
  Unexplained(alone.node, {0, 1});
  EXPECT_THAT(alone.Error(), HasSubstr("expected at most its dep_delay_ns, 0"));
  Four few({0, 1});
  TraceBuilder::Delays(few.node, {5, 6});
  Unexplained(few.node, {5});
  EXPECT_THAT(few.Error(), HasSubstr("1 delays, expected one for each of the 2 dependencies"));
  Four negative({0});
  TraceBuilder::Delays(negative.node, {5});
  Unexplained(negative.node, {-1});
  EXPECT_THAT(negative.Error(), HasSubstr("field attribute dep_unexplained_ns"));
}

TEST(DepRelease, IsStoredInBothDirections) {
  Four f({2, 0});
  f.node->add_ctrl_deps(1);
  TraceBuilder::Delays(f.node, {5, kReleaseAtEnd, 0}, "dep_release");
  f.b.Comp(0, 1, {1});
  const auto g = f.Read();
  ASSERT_NE(g, nullptr);
  EXPECT_THAT(g->dep, ElementsAre(0u, 1u, 2u, 1u));
  EXPECT_THAT(g->dep_release, ElementsAre(kReleaseAtEnd, 0, 5, kReleaseAtEnd));
  EXPECT_THAT(g->dep_delay, ElementsAre(Ns(0), Ns(0), Ns(0), Ns(0))) << "there is none";
  EXPECT_THAT(g->child, ElementsAre(3u, 3u, 4u, 3u));
  EXPECT_THAT(g->child_release, ElementsAre(kReleaseAtEnd, 0, kReleaseAtEnd, 5));
  EXPECT_THAT(Four({0, 1}).Read()->dep_release, IsEmpty());
}

TEST(DepRelease, KeepsTheLatestReleaseOfDuplicates) {
  Four f({1, 1});
  TraceBuilder::Delays(f.node, {900, 800}, "dep_release");
  EXPECT_THAT(f.Read()->dep_release, ElementsAre(900));
}

TEST(DepRelease, RefusesReleasesBeyondTheEnd) {
  Four late({0});
  TraceBuilder::Delays(late.node, {kReleaseAtEnd + 1}, "dep_release");
  EXPECT_THAT(
      late.Error(),
      HasSubstr(
          "expected a list of integers from 0 (released at the begin of the dependency) to 1000000000000"));
  Four negative({0});
  TraceBuilder::Delays(negative.node, {-1}, "dep_release");
  EXPECT_THAT(negative.Error(), HasSubstr("attribute dep_release"));
  Four few({0, 1});
  TraceBuilder::Delays(few.node, {1}, "dep_release");
  EXPECT_THAT(few.Error(), HasSubstr("1 entries, expected one for each of the 2 dependencies"));
}

TEST(DepRelease, GraphsThatDifferInAReleaseAreNotShared) {
  TraceBuilder b(2);
  for (const int rank : {0, 1}) {
    b.Comp(rank, 1);
    TraceBuilder::Delays(&b.Comp(rank, 1, {0}), {100 + rank}, "dep_release");
  }
  const auto traces = b.Build();
  ASSERT_TRUE(traces.ok());
  EXPECT_EQ(traces->distinct_graphs(), 2u);
}

TEST(DepRelease, IsExactToThePicosecond) {
  EXPECT_EQ(ReleasedAfter(Ns(1000), kReleaseAtEnd / 3), Time::Picos(333333));
  EXPECT_EQ(ReleasedAfter(Time::Picos(3), kReleaseAtEnd / 2), Time::Picos(2));
  EXPECT_EQ(ReleasedAfter(Ns(77), kReleaseAtEnd), Ns(77));
  EXPECT_EQ(ReleasedAfter(Ns(1000000000000), 1), Time::Picos(1000));
}

TEST(DepUnexplained, DifferentGraphsAreNotShared) {
  const auto graph = [](const char* kind, int64_t unexplained) {
    Four f({0});
    TraceBuilder::Delays(f.node, {5});
    TraceBuilder::Text(f.node, "dep_kinds", kind);
    Unexplained(f.node, {unexplained});
    return f.Read();
  };
  const auto first = graph("launch", 2);
  EXPECT_TRUE(SameContent(*first, *graph("launch", 2)));
  EXPECT_EQ(ContentHash(*first), ContentHash(*graph("launch", 2)));
  for (const auto& other : {graph("launch", 3), graph("launch", 0), graph("thread", 2)}) {
    EXPECT_FALSE(SameContent(*first, *other));
    EXPECT_NE(ContentHash(*first), ContentHash(*other));
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
