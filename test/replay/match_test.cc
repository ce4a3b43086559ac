#include "replay/engine/match/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/registry.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "test/replay/trace_builder.h"
#include "trace/model/graph_builder.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using T = CollectiveType;

TraceSet Built(const TraceBuilder& b) {
  absl::StatusOr<TraceSet> set = b.Build();
  EXPECT_TRUE(set.ok()) << set.status();
  return set.ok() ? *std::move(set) : TraceSet();
}

std::string Error(const TraceBuilder& b) {
  const TraceSet set = Built(b);
  return std::string(MatchCommunication(set, {}).status().message());
}

// Members of each group that has a call, in order of the groups.
std::vector<std::vector<int>> CalledGroups(const TraceSet& set, const std::vector<int>& dims) {
  const absl::StatusOr<Matching> matching = MatchCommunication(set, dims);
  EXPECT_TRUE(matching.ok()) << matching.status();
  std::vector<std::vector<int>> groups;
  if (!matching.ok()) return groups;
  for (size_t g = 0; g < matching->groups.size(); ++g) {
    for (const CollectiveCall& call : matching->calls) {
      if (call.group != g) continue;
      groups.push_back(matching->groups[g].members);
      break;
    }
  }
  return groups;
}

// ---- involved_dim ------------------------------------------------------------

using Dims = std::vector<bool>;

// Every rank gathers 1,000 bytes over the dimensions that `involved` names.
TraceBuilder Gather(int ranks, const Dims& involved) {
  TraceBuilder b(ranks);
  for (int r = 0; r < ranks; ++r) {
    et::AttributeProto* attr = b.Coll(r, T::kAllGather, 1000).add_attr();
    attr->set_name("involved_dim");
    for (const bool d : involved) attr->mutable_bool_list()->add_values(d);
  }
  return b;
}

// 2 x 4 devices. A message of 1,000 bytes takes 100 + 20 ns on the links of the
// first dimension, 2 * 1,000 + 40 ns through the switch of the second.
Topology TwoByFour() {
  TopologyDimension pair, nodes;
  pair.kind = TopologyDimension::Kind::kFullyConnected;
  pair.size = 2;
  pair.bandwidth = Bandwidth::BytesPerSecond(50000000000);
  pair.latency = Time::Nanos(100);
  nodes.kind = TopologyDimension::Kind::kSwitch;
  nodes.size = 4;
  nodes.bandwidth = Bandwidth::BytesPerSecond(25000000000);
  nodes.latency = Time::Nanos(1000);
  return *Topology::Make({pair, nodes});
}

int64_t MakespanNanos(const TraceSet& set, bool fast_paths) {
  auto fabric = MakeMachine("analytical", TwoByFour(), FabricOptions());
  EXPECT_TRUE(fabric.ok()) << fabric.status();
  const std::vector<ComputeTimes> times(
      set.distinct_graphs(),
      {std::vector<Time>(1, Time::Zero()), std::vector<TimeSource>(1, TimeSource::kNone)});
  EngineOptions options;
  options.dimension_sizes = {2, 4};
  options.fast_paths = fast_paths;
  const absl::StatusOr<Metrics> metrics = Replay(set, times, **fabric, options);
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  return metrics.ok() ? metrics->makespan.picos() / 1000 : -1;
}

using Members = std::vector<std::vector<int>>;

TEST(InvolvedDim, DimensionsGiveGroupsAndTimes) {
  const Members pairs = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};
  const Members columns = {{0, 2, 4, 6}, {1, 3, 5, 7}};
  const Members world = {{0, 1, 2, 3, 4, 5, 6, 7}};
  const Members alone = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
  const struct {
    Dims involved;
    int ranks;
    Members groups;
    int64_t ns;  // a ring: members - 1 messages, one after another; -1: longer than in a column
  } cases[] = {
      {{true, false}, 8, pairs, 120},
      {{false, true}, 8, columns, 3 * 2040},
      {{false}, 8, columns, 3 * 2040},  // dimensions that the list does not name take part
      {{true}, 8, world, -1},
      {{true, true}, 8, world, -1},
      {{false, false}, 8, alone, 0},
      {{true, false, true}, 8, pairs, 120},  // there is no third dimension
      {{true, false}, 6, {{0, 1}, {2, 3}, {4, 5}}, 120},
      {{false, true}, 6, {{0, 2, 4}, {1, 3, 5}}, 2 * 2040},
      {{false, true}, 5, {{0, 2, 4}, {1, 3}}, 2 * 2040},
  };
  for (const auto& c : cases) {
    const std::string label = ::testing::PrintToString(c.involved) + " on " + std::to_string(c.ranks);
    const TraceSet set = Built(Gather(c.ranks, c.involved));
    EXPECT_EQ(CalledGroups(set, {2, 4}), c.groups) << label;
    const int64_t fast = MakespanNanos(set, true);
    EXPECT_EQ(fast, MakespanNanos(set, false)) << label;
    if (c.ns >= 0) {
      EXPECT_EQ(fast, c.ns) << label;
    } else {
      EXPECT_GT(fast, 3 * 2040) << label;
    }
  }
}

TEST(InvolvedDim, ProcessGroupOverridesInvolvedDim) {
  TraceBuilder b = Gather(4, {true, false});
  EXPECT_EQ(CalledGroups(Built(b), {}), (Members{{0, 1, 2, 3}}));
  TraceBuilder named(4);
  named.groups = {{"odd", {3, 1}}, {"even", {0, 2}}};
  for (int r = 0; r < 4; ++r) {
    et::AttributeProto* attr = named.Coll(r, T::kAllGather, 8, {}, r % 2 ? "odd" : "even").add_attr();
    attr->set_name("involved_dim");
    attr->mutable_bool_list()->add_values(true);
  }
  EXPECT_EQ(CalledGroups(Built(named), {2, 2}), (Members{{0, 2}, {3, 1}}));
}

// ---- calls -------------------------------------------------------------------

TEST(Match, PairsCallsByGroupAndPosition) {
  TraceBuilder b(2);
  b.groups = {{"g", {1, 0}}};
  b.Coll(0, T::kAllReduce, 8);
  b.Coll(0, T::kAllGather, 16, {}, "g");
  b.Coll(0, T::kBarrier, 99);
  b.Coll(1, T::kAllGather, 16, {}, "g");  // another order between groups is fine
  b.Coll(1, T::kAllReduce, 8);
  b.Coll(1, T::kBarrier, 1);  // a barrier has no size
  const TraceSet set = Built(b);
  const absl::StatusOr<Matching> m = MatchCommunication(set, {});
  ASSERT_TRUE(m.ok()) << m.status();
  ASSERT_EQ(m->calls.size(), 3u);
  EXPECT_EQ(m->slots[0][0].index, m->slots[1][1].index);
  EXPECT_EQ(m->slots[0][1].index, m->slots[1][0].index);
  EXPECT_EQ(m->slots[0][2].index, m->slots[1][2].index);
  EXPECT_EQ(m->slots[0][1].member, 1u);  // "g" lists rank 1 first
  EXPECT_EQ(m->slots[1][0].member, 0u);
  EXPECT_EQ(m->calls[m->slots[0][2].index].position, 1u);
  EXPECT_EQ(m->calls[m->slots[0][2].index].bytes, 0u);
  EXPECT_THAT(m->warnings, ElementsAre(HasSubstr("4 collective nodes name no process group")));
}

// A matching as text, without its warnings.
std::string Print(const Matching& m) {
  std::string out;
  for (const CollectiveCall& c : m.calls) {
    absl::StrAppend(&out, c.group, " ", static_cast<int>(c.type), " ", c.root, " ", c.bytes, " ", c.position,
                    " ", c.made, " ", c.first_rank, " ", c.first_row, " ", c.kept, "\n");
  }
  for (const GroupInfo& g : m.groups)
    absl::StrAppend(&out, g.name, ": ", absl::StrJoin(g.members, " "), "\n");
  for (const CommSlots& slots : m.slots) {
    for (size_t i = 0; i < slots.size(); ++i)
      absl::StrAppend(&out, slots[i].index, "/", slots[i].member, " ");
    absl::StrAppend(&out, "\n");
  }
  return out;
}

// Ranks that make the same calls, and share the memory of these calls, are matched at once. The result equals
// that of ranks that share no memory. Some ranks make one call more, or no call on a group.
TEST(Match, SymmetricRanksMatchLikeOtherRanks) {
  for (int other = 0; other < 4; ++other) {
    TraceBuilder b(24);
    for (int r = 0; r < 24; ++r) {
      b.groups["all"].push_back(r);
      b.groups[absl::StrCat("near", r / 4)].push_back(r);
      b.groups[absl::StrCat("far", r % 6)].push_back(r);
    }
    for (int r = 0; r < 24; ++r) {
      for (int i = 0; i < 6; ++i) {
        b.Comp(r, 1);
        b.Coll(r, T::kAllGather, 8 + static_cast<uint64_t>(i), {}, absl::StrCat("near", r / 4));
        if (i % 2 == 0) b.Coll(r, T::kAllReduce, 64, {}, "all");
        if (other == 3 && r % 5 == 1 && i == 2) b.Comp(r, 1);
        b.Coll(r, T::kAllToAll, other == 2 && r == 9 ? 99u : 32u, {}, absl::StrCat("far", r % 6));
      }
      if (other == 1 && r / 4 == 2) b.Coll(r, T::kBarrier, 0, {}, absl::StrCat("near", r / 4));
    }
    TraceSet set = Built(b);
    for (RankTrace& rank : set.ranks) {  // as readers of logs share them
      const RankTrace& first = set.ranks[0];
      const auto same = [](const Peer& a, const Peer& b) { return a.group == b.group; };
      if (std::equal(rank.peers.begin(), rank.peers.end(), first.peers.begin(), first.peers.end(), same))
        rank.peers = first.peers;
      if (SameContent(*rank.graph, *first.graph)) rank.graph = first.graph;
    }
    ASSERT_TRUE(set.ranks[0].peers.Shares(set.ranks[23].peers));
    ASSERT_EQ(set.ranks[0].graph, set.ranks[23].graph);
    const absl::StatusOr<Matching> shared = MatchCommunication(set, {});
    ASSERT_TRUE(shared.ok()) << shared.status();
    for (RankTrace& rank : set.ranks) rank.peers = std::vector<Peer>(rank.peers.begin(), rank.peers.end());
    const absl::StatusOr<Matching> unshared = MatchCommunication(set, {});
    ASSERT_TRUE(unshared.ok()) << unshared.status();
    EXPECT_EQ(Print(*shared), Print(*unshared)) << other;
    EXPECT_EQ(shared->warnings, unshared->warnings) << other;
  }
}

TEST(Match, RootsMustBeMembers) {
  TraceBuilder b(3);
  b.groups = {{"g", {2, 0}}};
  for (int r : {0, 2}) TraceBuilder::Int(&b.Coll(r, T::kBroadcast, 8, {}, "g"), "root", 0);
  const TraceSet set = Built(b);
  const absl::StatusOr<Matching> m = MatchCommunication(set, {});
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->calls[0].root, 1);
  TraceBuilder c(3);
  c.groups = {{"g", {2, 0}}};
  for (int r : {0, 2}) TraceBuilder::Int(&c.Coll(r, T::kBroadcast, 8, {}, "g"), "root", 1);
  EXPECT_THAT(Error(c), HasSubstr("root: rank 1 is not a member of the group; expected one of 2, 0"));
}

TEST(Match, NamesLastCallOfRankThatStops) {
  TraceBuilder b(2);
  for (int i = 0; i < 3; ++i) b.Coll(0, T::kAllReduce, 8);
  for (int i = 0; i < 2; ++i) b.Coll(1, T::kAllReduce, 8);
  EXPECT_THAT(Error(b), AllOf(HasSubstr("rank 1 never makes call 2, all_reduce of 8 bytes"),
                              HasSubstr("its last call on this group is rank 1, node 1 (\"n1\")"),
                              HasSubstr("rank 0, node 2 (\"n2\")")));
  TraceBuilder never(2);
  never.Coll(0, T::kAllReduce, 8);
  never.Comp(1, 1);
  EXPECT_THAT(Error(never), HasSubstr("it makes no call on this group at all"));
}

// ---- messages ----------------------------------------------------------------

TEST(Match, PairsMessagesByRanksTagAndOrder) {
  TraceBuilder b(2);
  b.Send(0, 1, 10, 5);
  b.Send(0, 1, 20, 6);
  b.Send(0, 1, 30, 5);
  b.Recv(1, 0, 20, 6);
  b.Recv(1, 0, 10, 5);
  b.Recv(1, 0, 30, 5);
  const TraceSet set = Built(b);
  const absl::StatusOr<Matching> m = MatchCommunication(set, {});
  ASSERT_TRUE(m.ok()) << m.status();
  ASSERT_EQ(m->messages.size(), 3u);
  EXPECT_EQ(m->slots[0][0].index, m->slots[1][1].index);
  EXPECT_EQ(m->slots[0][1].index, m->slots[1][0].index);
  EXPECT_EQ(m->slots[0][2].index, m->slots[1][2].index);
}

TEST(Match, ListsUpToHundredUnpairedMessages) {
  TraceBuilder b(2);
  for (int i = 0; i < 130; ++i) b.Send(0, 1, 8, i);
  b.Recv(1, 0, 16, 7);  // another size than its send
  const std::string error = Error(b);
  EXPECT_THAT(error,
              AllOf(HasSubstr("130 messages have no partner of their size"),
                    HasSubstr("send without receive: rank 0, node 0 (\"n0\")"), HasSubstr("and 30 more")));
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 101);
}

TEST(Match, CopiesOfOneTraceReportOneUnpairedMessage) {
  TraceBuilder b(4);
  for (int r = 0; r < 4; ++r) {
    for (int i = 0; i < 8; ++i) b.Send(r, (r + 1) % 4, 8, i);
  }
  absl::StatusOr<TraceSet> set = b.Build();
  ASSERT_TRUE(set.ok()) << set.status();
  set->of_one_trace = true;
  const std::string error(MatchCommunication(*set, {}).status().message());
  EXPECT_THAT(error, AllOf(HasSubstr("32 messages have no partner"),
                           HasSubstr("the first: send without receive: rank 0, node 0 (\"n0\")"),
                           HasSubstr("a stage of a pipeline")));
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 0);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
