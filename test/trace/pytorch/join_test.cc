#include "trace/import/join/join.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;

// One collective of a rank.
struct Made {
  std::string what;
  int64_t elements;
  int64_t begin, end;  // of its kernel
  std::string group = "0";
  std::string ranks = "[0, 1]";
  int size = 2;
  std::string more;  // arguments
};

// A rank that makes these calls, one launch each, its clock `late` ns ahead.
KinetoBuilder RankOf(const std::vector<Made>& calls, int64_t late = 0) {
  KinetoBuilder k;
  k.Base(KinetoBuilder::kBase + late);
  int64_t at = 0;
  k.Op(1, "start", 0, 10);
  for (const Made& m : calls) {
    at += 1000;
    k.Launch(1, at, 100, 20, absl::StrCat("ncclDevKernel_", m.what, "_", m.elements, "(x)"), m.begin,
             m.end - m.begin,
             CommArgs(m.what, m.elements, m.elements, m.group, m.ranks, m.size, "Float", m.more));
  }
  return k;
}

Capture Join(const std::vector<KinetoBuilder>& ranks) {
  const CaptureFolder folder;
  for (size_t r = 0; r < ranks.size(); ++r) folder.Rank(static_cast<int>(r), ranks[r]);
  return folder.Read();
}

std::string Call(const Made& m) { return absl::StrCat("ncclDevKernel_", m.what, "_", m.elements, "(x)"); }

TEST(JoinRanks, TransferBeginsWithTheLastArrival) {
  const Made early = {"allreduce", 100, 10000, 52000}, late = {"allreduce", 100, 40000, 50000};
  const Capture c = Join({RankOf({early}), RankOf({late})});
  EXPECT_EQ(PlanOf(c, 0, Call(early)).transfer_ns, 12000);
  EXPECT_EQ(PlanOf(c, 1, Call(late)).transfer_ns, 10000);
}

TEST(JoinRanks, SingleCapturedRankKeepsItsDuration) {
  const Made m = {"allreduce", 100, 10000, 52000};
  const Capture c = Join({RankOf({m})});
  EXPECT_EQ(c.joined.world_size, 2);
  EXPECT_EQ(PlanOf(c, 0, Call(m)).transfer_ns, 42000) << "when the other came is not known";
}

TEST(JoinRanks, AlignsClocksByEndsOfSharedCollectives) {
  std::vector<Made> a, b;
  for (int i = 0; i < 9; ++i) {
    const int64_t t = 100000 * (i + 1);
    a.push_back({"allreduce", 100 + i, t, t + 20000});
    b.push_back({"allreduce", 100 + i, t + 10000, t + 20000 + i % 3 * 100});
  }
  // Rank 1's clock is 5 ms ahead: its events are written as later than they were.
  const Capture c = Join({RankOf(a), RankOf(b, 5000000)});
  EXPECT_EQ(c.joined.clock_offset_ns[0], 0);
  EXPECT_EQ(c.joined.clock_offset_ns[1], -5000100) << "the middle of the ends' differences";
  EXPECT_EQ(Notes(c, "clock_aligned"), 1u);
  EXPECT_EQ(PlanOf(c, 0, Call(a[1])).transfer_ns, 20000 - (10000 - 100));
}

TEST(JoinRanks, KeepsClocksThatAgree) {
  const Made m = {"allreduce", 100, 10000, 52000}, n = {"allreduce", 100, 20000, 60000};
  const Capture c = Join({RankOf({m}), RankOf({n})});
  EXPECT_THAT(c.joined.clock_offset_ns, ElementsAre(0, 0)) << "8 us is what ends vary by";
  const Capture apart = Join({RankOf({}), RankOf({})});
  EXPECT_EQ(Notes(apart, "clock_not_aligned"), 1u);
}

TEST(JoinRanks, MatchesWindowsThatBeginAtDifferentCalls) {
  const Made a = {"allreduce", 1, 10000, 11000}, b = {"allreduce", 2, 20000, 21000},
             d = {"allreduce", 3, 30000, 31000}, e = {"allreduce", 4, 40000, 41000};
  const Capture c = Join({RankOf({a, b, d}), RankOf({b, d, e})});
  EXPECT_EQ(PlanOf(c, 0, Call(a)).type, NodeType::kComp) << "rank 1 does not show it";
  EXPECT_EQ(PlanOf(c, 0, Call(b)).type, NodeType::kCollective);
  EXPECT_EQ(PlanOf(c, 1, Call(d)).type, NodeType::kCollective);
  EXPECT_EQ(PlanOf(c, 1, Call(e)).type, NodeType::kComp);
  EXPECT_EQ(Notes(c, "collectives_unshared"), 2u);
}

TEST(JoinRanks, CountsCallsThatDoNotAgree) {
  const Made a = {"allreduce", 1, 10000, 11000}, b = {"broadcast", 2, 10000, 11000};
  const Capture c = Join({RankOf({a}), RankOf({b})});
  EXPECT_EQ(PlanOf(c, 0, Call(a)).type, NodeType::kComp);
  EXPECT_EQ(PlanOf(c, 1, Call(b)).type, NodeType::kComp);
  EXPECT_EQ(Notes(c, "collectives_unshared"), 2u);
}

TEST(JoinRanks, GroupsHaveReplayedRanksAsMembers) {
  // Only ranks 1 and 3 of four were captured: they are replayed as 0 and 1.
  const CaptureFolder folder;
  const Made m = {"broadcast", 100, 10000, 12000, "odd", "[1, 3]", 2, ",\"Rank\":1"};
  for (const int rank : {1, 3})
    folder.Write(absl::StrCat("k_rank", rank, ".json"), RankOf({m}).Rank(rank, 4).Json());
  const Capture c = folder.Read();
  ASSERT_EQ(c.ranks.size(), 2u);
  EXPECT_EQ(c.ranks[1].rank, 3);
  EXPECT_THAT(c.joined.groups.at("odd"), ElementsAre(0, 1));
  EXPECT_EQ(PlanOf(c, 0, Call(m)).root, 1) << "member 1 of the group is rank 3, replayed as 1";
  EXPECT_EQ(c.joined.world_size, 4);
}

TEST(JoinRanks, SeparatesTwoGroupsOfOneName) {
  const CaptureFolder folder;
  for (int rank = 0; rank < 4; ++rank) {
    const Made m = {"allreduce", 100, 10000, 12000, "tp", rank < 2 ? "[0, 1]" : "[2, 3]", 2};
    folder.Rank(rank, RankOf({m}));
  }
  const Capture c = folder.Read();
  const std::string kernel = "ncclDevKernel_allreduce_100(x)";
  EXPECT_EQ(PlanOf(c, 0, kernel).group, PlanOf(c, 1, kernel).group);
  EXPECT_EQ(PlanOf(c, 2, kernel).group, PlanOf(c, 3, kernel).group);
  EXPECT_NE(PlanOf(c, 0, kernel).group, PlanOf(c, 2, kernel).group);
  EXPECT_THAT(c.joined.groups.at(std::string(PlanOf(c, 2, kernel).group)), ElementsAre(2, 3));
}

TEST(JoinRanks, NumbersPointerGroupsByFirstUse) {
  const CaptureFolder folder;
  for (const int rank : {0, 1}) {
    const std::string pointer = rank == 0 ? "94594108284448" : "94594999999999";
    folder.Rank(rank, RankOf({{"allreduce", 100, 10000, 12000, pointer, "", 2}}));
  }
  const Capture c = folder.Read();
  EXPECT_EQ(PlanOf(c, 0, "ncclDevKernel_allreduce_100(x)").type, NodeType::kCollective);
  EXPECT_EQ(PlanOf(c, 0, "ncclDevKernel_allreduce_100(x)").group,
            PlanOf(c, 1, "ncclDevKernel_allreduce_100(x)").group);
}

TEST(JoinRanks, DerivesInputBytesFromTheOutput) {
  const auto plan = [](const std::string& what, int64_t in, int64_t out) {
    const CaptureFolder folder;
    folder.Rank(0, KinetoBuilder()
                       .Op(1, "a", 0, 10)
                       .Launch(1, 1000, 100, 20, "ncclDevKernel_x(x)", 5000, 1000,
                               CommArgs(what, in, out, "0", "[0, 1, 2, 3]", 4)));
    return PlanOf(folder.Read(), 0, "ncclDevKernel_x(x)").bytes;
  };
  EXPECT_EQ(plan("_allgather_base", 100, 400), 400u);
  EXPECT_EQ(plan("_allgather_base", 0, 400), 400u) << "1,600 B out of four ranks";
  EXPECT_EQ(plan("_reduce_scatter_base", 400, 100), 1600u);
  EXPECT_EQ(plan("_reduce_scatter_base", 0, 100), 1600u);
}

TEST(JoinRanks, MatchesSendsWithReceives) {
  const Made send = {"send", 100, 10000, 50000, "0", "[0, 1]", 2, ",\"Dst Rank\":1"},
             recv = {"recv", 100, 30000, 52000, "0", "[0, 1]", 2, ",\"Src Rank\":0"};
  const Capture c = Join({RankOf({send}), RankOf({recv})});
  EXPECT_EQ(PlanOf(c, 0, Call(send)).transfer_ns, 20000);
  EXPECT_EQ(PlanOf(c, 1, Call(recv)).transfer_ns, 22000);
  const Capture single_rank = Join({RankOf({{"send", 100, 10000, 50000, "0", "[0, 1]", 2, ""}})});
  EXPECT_EQ(PlanOf(single_rank, 0, "ncclDevKernel_send_100(x)").type, NodeType::kComp)
      << "to whom, nothing tells";
  EXPECT_EQ(Notes(single_rank, "comm_peer_unknown"), 1u);
}

TEST(JoinRanks, TwoRanksArePeersIfTheirMessagesAgree) {
  std::vector<Made> a, b;
  for (int i = 0; i < 4; ++i) {
    const int64_t t = 100000 * (i + 1);
    a.push_back({"send", 100 + i, t, t + 20000});
    b.push_back({"recv", 100 + i, t - 5000, t + 21000});
    b.push_back({"send", 200 + i, t + 30000, t + 50000});
    a.push_back({"recv", 200 + i, t + 25000, t + 51000});
  }
  const Capture c = Join({RankOf(a), RankOf(b)});
  EXPECT_EQ(Notes(c, "comm_peer_unknown"), 0u);
  EXPECT_EQ(PlanOf(c, 0, Call(a[0])).type, NodeType::kSend);
  EXPECT_EQ(PlanOf(c, 0, Call(a[0])).peer, 1);
  EXPECT_EQ(PlanOf(c, 1, Call(b[0])).type, NodeType::kRecv);
  EXPECT_EQ(PlanOf(c, 1, Call(b[0])).transfer_ns, 21000);
  const Capture apart = Join({RankOf(a), RankOf(b, 5000000)});
  EXPECT_EQ(Notes(apart, "comm_peer_unknown"), 16u) << "the clocks are not one";
  EXPECT_EQ(PlanOf(apart, 0, Call(a[0])).type, NodeType::kComp);
  const Capture one_way = Join({RankOf({a[0], a[2], a[4], a[6]}), RankOf({b[0], b[2], b[4], b[6]}, 5000000)});
  EXPECT_EQ(Notes(one_way, "comm_peer_unknown"), 8u) << "whatever the clocks, no receive ends too early";
}

TEST(JoinRanks, LeavesOutGroupsWithoutTheirCaller) {
  const Capture c = Join({RankOf({{"allreduce", 100, 10000, 12000, "2", "[1, 2]", 2}})});
  EXPECT_EQ(Notes(c, "group_without_self"), 1u);
  EXPECT_EQ(PlanOf(c, 0, "ncclDevKernel_allreduce_100(x)").type, NodeType::kComp);
}

TEST(JoinRanks, CountsUnknownSizes) {
  const CaptureFolder folder;
  folder.Rank(0, KinetoBuilder()
                     .Op(1, "a", 0, 10)
                     .Launch(1, 1000, 100, 20, "ncclKernel_AllReduce_RING_LL_Sum_float(x)", 5000, 1000));
  const Capture c = folder.Read();
  EXPECT_EQ(Notes(c, "comm_size_unknown"), 1u);
  EXPECT_FALSE(PlanOf(c, 0, "ncclKernel_AllReduce_RING_LL_Sum_float(x)").has_bytes);
}

// A rank of 8 with an all-reduce of a library that has its own groups, among process groups.
CommPlan OwnGroupPlan(const std::string& kernel, const std::string& groups) {
  const CaptureFolder folder;
  folder.Rank(1, KinetoBuilder()
                     .Rank(1, 8, groups)
                     .Op(1, "_C_custom_ar::all_reduce", 0, 9000,
                         ",\"Input Dims\":[[],[100],[100]],\"Input type\":[\"Scalar\",\"float\",\"float\"]")
                     .Launch(1, 1000, 100, 20, kernel, 5000, 1000));
  const Capture c = folder.Read();
  CommPlan plan = PlanOf(c, 0, kernel);
  EXPECT_EQ(Notes(c, "group_unknown"), plan.type == NodeType::kComp ? 1u : 0u);
  static std::set<std::string> names;  // names of the capture are freed with it
  plan.group = *names.emplace(plan.group).first;
  return plan;
}

TEST(JoinRanks, FindsGroupsOfOtherLibraries) {
  const std::string plain = "void vllm::cross_device_reduce_1stage<float>(x)",
                    of_two = "void vllm::cross_device_reduce_1stage<float, 2>(x)",
                    of_eight = "void vllm::cross_device_reduce_1stage<float, 8>(x)";
  const std::string tensor = "{\"pg_name\":\"tp\",\"pg_size\":2,\"ranks\":[0,1]}",
                    other = "{\"pg_name\":\"dp\",\"pg_size\":2,\"ranks\":[1,3]}";
  EXPECT_EQ(OwnGroupPlan(plain, "").group, "world") << "no other group is known";
  EXPECT_EQ(OwnGroupPlan(plain, "").bytes, 400u);
  EXPECT_EQ(OwnGroupPlan(plain, tensor).type, NodeType::kComp) << "of two or of all";
  EXPECT_EQ(OwnGroupPlan(of_two, tensor).type, NodeType::kCollective);
  EXPECT_EQ(OwnGroupPlan(of_two, tensor).group, "ranks 0,1");
  EXPECT_EQ(OwnGroupPlan(of_eight, tensor).group, "world");
  EXPECT_EQ(OwnGroupPlan(of_two, tensor + "," + other).type, NodeType::kComp) << "which of the two";
  EXPECT_EQ(OwnGroupPlan(of_two, "").type, NodeType::kComp);
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
