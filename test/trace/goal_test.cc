// GOAL programs: how they are read, written and made into traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/base/splitmix.h"
#include "trace/et/read_options.h"
#include "trace/import/goal/program.h"
#include "trace/import/goal/to_traces.h"
#include "trace/import/reader.h"

namespace chakra::goal::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

constexpr char kExample[] = R"(// two ranks
num_ranks 2
/* the first
   one */
rank 0 {
l1: calc 100 cpu 2
l2: send 10b to 1 tag 3 cpu 1 nic 2
l2 requires l1
l3: recv 7b from 1
l3 irequires l2
}
rank 1 { recv 10b from 0 tag 3
send 7b to 0
}
)";

TEST(GoalText, ReadsTheGrammar) {
  const auto p = ReadGoalText(kExample, "x.goal");
  ASSERT_TRUE(p.ok()) << p.status();
  ASSERT_EQ(p->ranks.size(), 2u);
  const GoalRank& r = p->ranks[0];
  EXPECT_EQ(r.ops[0], (GoalOp{OpType::kCalc, 2, 0, 0, 0, 100}));
  EXPECT_EQ(r.ops[1], (GoalOp{OpType::kSend, 1, 2, 1, 3, 10}));
  EXPECT_EQ(r.ops[2], (GoalOp{OpType::kRecv, 0, 0, 1, 0, 7}));
  EXPECT_EQ(r.deps, (std::vector<GoalDep>{{1, 0, false}, {2, 1, true}}));
  EXPECT_EQ(p->ranks[1].ops.size(), 2u);
}

TEST(GoalText, KeepsTheFirstOfTwoLabels) {
  const auto p =
      ReadGoalText("num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\nb: calc 3\nb requires a\n}\n", "x");
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p->ranks[0].deps, (std::vector<GoalDep>{{2, 0, false}}));
}

struct Bad {
  const char* text;
  const char* says;
};

TEST(GoalText, RefusesBadPrograms) {
  const Bad kBad[] = {
      {"", "line 1: expected num_ranks"},
      {"rank 0 {\n}\n", "expected num_ranks"},
      {"num_ranks 0\n", "expected at least 1 rank"},
      {"num_ranks x\n", "expected the number of ranks"},
      {"num_ranks 99999999999\n", "an integer of 0 to 4194304"},
      {"num_ranks 2\nrank 0 {\n}\n", "expected rank 1 of 2"},
      {"num_ranks 2\nrank 1 {\n}\nrank 0 {\n}\n", "rank 0 before rank 1"},
      {"num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n", "the end of the file after the last rank"},
      {"num_ranks 1\nrank 0\ncalc 1\n}\n", "expected \"{\""},
      {"num_ranks 1\nrank 0 {\ncalc 1\n", "line 4, rank 0: expected calc, send, recv, a label or \"}\""},
      {"num_ranks 1\nrank 0 {\ncalc\n}\n", "line 3, rank 0: expected nanoseconds"},
      {"num_ranks 1\nrank 0 {\ncalc -5\n}\n", "expected nanoseconds"},
      {"num_ranks 1\nrank 0 {\ncalc 99999999999999999999\n}\n", "expected nanoseconds"},
      {"num_ranks 1\nrank 0 {\ncalc 1 cpu 256\n}\n", "a cpu, an integer of 0 to 255"},
      {"num_ranks 1\nrank 0 {\ncalc 1 nic 1\n}\n", "the end of the line"},
      {"num_ranks 1\nrank 0 {\nCalc 1\n}\n", "\":\", \"requires\" or \"irequires\" after a label"},
      {"num_ranks 2\nrank 0 {\nsend 1 to 1\n}\n", "expected \"b\" after the bytes"},
      {"num_ranks 2\nrank 0 {\nsend 1b from 1\n}\n", "\"to\" and a rank"},
      {"num_ranks 2\nrank 0 {\nrecv 1b to 1\n}\n", "\"from\" and a rank"},
      {"num_ranks 2\nrank 0 {\nsend 1b to 2\n}\n", "a rank, an integer of 0 to 1"},
      {"num_ranks 2\nrank 0 {\nsend 1b to -1\n}\n", "a rank, an integer"},
      {"num_ranks 2\nrank 0 {\nsend 1b to 1 tag\n}\n", "a tag, an integer"},
      {"num_ranks 2\nrank 0 {\nsend 1b to 1 tag 4294967296\n}\n", "a tag, an integer"},
      {"num_ranks 2\nrank 0 {\nsend 1b to 1 cpu 1 tag 2\n}\n", "options come in the order tag, cpu, nic"},
      {"num_ranks 1\nrank 0 {\na: calc 1\nb requires a\n}\n",
       "line 4, rank 0: the label \"b\" is not defined"},
      {"num_ranks 1\nrank 0 {\nb: calc 1\nb requires a\na: calc 2\n}\n", "the label \"a\" is not defined"},
      {"num_ranks 1\nrank 0 {\na: calc 1\na requires a\n}\n", "another operation to wait for"},
      {"num_ranks 1\nrank 0 {\na: calc 1\na requires\n}\n", "the label to wait for"},
      {"num_ranks 1\nrank 0 {\na: wait 1\n}\n", "calc, send or recv after the label \"a\""},
      {"num_ranks 1\nrank 0 {\n1a: calc 1\n}\n", "calc, send, recv, a label"},
      {"num_ranks 1\nrank 0 {\ncalc 1 /* open\n}\n", "rank 0: expected"},
      {"num_ranks 1\nrank 0 {\ncalc 1 calc 2\n}\n", "the end of the line"},
  };
  for (const Bad& bad : kBad) {
    const auto p = ReadGoalText(bad.text, "bad.goal");
    ASSERT_FALSE(p.ok()) << bad.text;
    EXPECT_THAT(std::string(p.status().message()), HasSubstr(bad.says)) << bad.text;
    EXPECT_THAT(std::string(p.status().message()), HasSubstr("bad.goal")) << bad.text;
  }
}

Program RandomProgram(uint64_t seed) {
  uint64_t state = seed;
  const auto below = [&state](uint64_t n) { return NextSplitMix(&state) % n; };
  Program p;
  const auto ranks = static_cast<uint32_t>(2 + below(6));
  p.ranks.resize(ranks);
  for (GoalRank& r : p.ranks) {
    const auto n = static_cast<uint32_t>(below(20));
    for (uint32_t i = 0; i < n; ++i) {
      GoalOp op;
      op.type = static_cast<OpType>(1 + below(3));
      op.cpu = static_cast<uint8_t>(below(3));
      op.size = below(1 << 20);
      if (op.type != OpType::kCalc) {
        op.nic = static_cast<uint8_t>(below(2));
        op.peer = static_cast<uint32_t>(below(ranks));
        op.tag = static_cast<uint32_t>(below(100));
      }
      r.ops.push_back(op);
      for (uint32_t k = 0; k < i && k < 3; ++k) {
        if (below(2) == 0) r.deps.push_back({i, static_cast<uint32_t>(below(i)), below(3) == 0});
      }
    }
    r.SortDeps();
  }
  return p;
}

TEST(Goal, RoundTripsRandomPrograms) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Program p = RandomProgram(seed);
    const auto text = ReadGoalText(GoalText(p), "t"), binary = ReadGoalBinary(GoalBinary(p), "b");
    ASSERT_TRUE(text.ok()) << text.status();
    ASSERT_TRUE(binary.ok()) << binary.status();
    EXPECT_EQ(text->ranks, p.ranks);
    EXPECT_EQ(binary->ranks, p.ranks);
    EXPECT_EQ(GoalText(*text), GoalText(p));
    EXPECT_EQ(GoalBinary(*binary), GoalBinary(p));
  }
}

// The layout of LogGOPSim's Parser.hpp, byte by byte.
TEST(GoalBinary, MatchesTheLayoutOfLogGopsim) {
  const auto p = ReadGoalText("num_ranks 1\nrank 0 {\na: calc 5 cpu 1\nb: calc 7\nb requires a\n}\n", "x");
  ASSERT_TRUE(p.ok());
  const std::string b = GoalBinary(*p);
  const auto u32 = [&b](size_t at) {
    uint32_t v;
    std::memcpy(&v, b.data() + at, 4);
    return v;
  };
  const auto u64 = [&b](size_t at) {
    uint64_t v;
    std::memcpy(&v, b.data() + at, 8);
    return v;
  };
  ASSERT_EQ(b.size(), 8 + 6 + 16 + 8 + 4 + 2 * 39 + 4u);
  EXPECT_EQ(u64(0), 4223u);
  EXPECT_EQ(u32(8), 1u);
  EXPECT_EQ(b[12], 1);          // the highest cpu
  EXPECT_EQ(u64(14), 6 + 16u);  // begin of the block, from byte 8
  EXPECT_EQ(u64(22), b.size() - 8);
  EXPECT_EQ(u32(30), 2u);  // nodes
  EXPECT_EQ(u32(34), 1u);  // roots
  EXPECT_EQ(u32(38), 0u);
  EXPECT_EQ(u32(42), 0u);  // node 0 waits for none
  EXPECT_EQ(b[46], 3);     // a calc
  EXPECT_EQ(u64(51), 5u);
  EXPECT_EQ(u32(42 + 23), 1u);  // its end releases one
  EXPECT_EQ(u32(81), 1u);       // node 1 waits for one
  EXPECT_EQ(u32(b.size() - 4), 1u);
}

TEST(GoalBinary, RefusesDamage) {
  const auto p = ReadGoalText(kExample, "x.goal");
  ASSERT_TRUE(p.ok());
  const std::string good = GoalBinary(*p);
  const auto with = [&good](size_t at, std::string bytes) {
    std::string bad = good;
    bad.replace(at, bytes.size(), bytes);
    return bad;
  };
  const size_t block = 8 + 6 + 32;  // of rank 0: 3 nodes, 1 root
  const size_t node = block + 8 + 4;
  const std::pair<std::string, const char*> kBad[] = {
      {"", "byte 0: shorter than a head"},
      {good.substr(0, 13), "shorter than a head"},
      {with(0, "\x01"), "magic"},
      {with(0, std::string("\x26\x09", 2)), "--save-mem"},
      {with(8, std::string("\0\0\0\0", 4)), "0 ranks"},
      {with(8, "\xff\xff\xff\x7f"), "ranks, expected 1 to"},
      {with(14, std::string(8, '\0')), "rank 0: a block from 0"},
      {with(14, std::string(8, '\x7f')), "a block from"},
      {with(22, std::string("\x01\0\0\0\0\0\0\0", 8)), "expected a block after"},
      {good.substr(0, good.size() - 1), "is the file cut short?"},
      {good.substr(0, good.size() - 60), "is the file cut short?"},
      {with(30, std::string(8, '\0')), "rank 1: a block from 0"},
      {with(block, "\xff\xff\xff\x7f"), "do not fit in the block"},
      {with(block + 4, "\xff\xff\xff\x7f"), "do not fit in the block"},
      {with(block + 4, std::string("\0\0\0\0", 4)), "byte"},
      {with(block + 8, "\x02"), "root 2, expected a node that waits for none"},
      {with(block + 8, "\x63"), "root 99"},
      {with(node, "\x01"), "node 0 waits for 1 others, but 0 lead to it"},
      {with(node + 4, std::string("\0", 1)), "type 0, expected 1"},
      {with(node + 4, "\x04"), "type 4, expected 1"},
      {with(node + 39 + 5, "\x02"), "peer 2, expected 0 to 1"},
      {with(node + 39 + 5, "\xff\xff\xff\xff"), "peer 4294967295"},
      {with(node + 23, "\x63"), "99 successors from 0 on"},
      {with(node + 27, "\x63"), "1 successors from 99 on"},
      {with(node + 23, "\xff\xff\xff\xff"), "successors from 0 on"},
      {with(node + 31, "\x63"), "99 successors"},
      {with(node + 3 * 39, "\x63"), "successor 99 of node 0"},
      {with(node + 3 * 39, std::string("\0", 1)), "successor 0 of node 0, expected another"},
      {with(node + 3 * 39, "\x02"), "lead to it"},
      {with(node + 39, std::string("\0", 1)), "node 1 waits for 0 others"},
      {good + "x", ""},  // bytes after the last block are ignored
  };
  for (const auto& [bytes, says] : kBad) {
    const auto read = ReadGoalBinary(bytes, "bad.bin");
    if (*says == '\0') {
      EXPECT_TRUE(read.ok());
      continue;
    }
    ASSERT_FALSE(read.ok()) << says;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(says));
  }
}

TEST(GoalTraces, HaveDependenciesUnitsAndSizes) {
  const auto p = ReadGoalText(kExample, "x.goal");
  const auto set = ProgramTraces(*p, "x.goal", ReadOptions());
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->ranks.size(), 2u);
  const Graph& g = *set->ranks[0].graph;
  EXPECT_EQ(g.type, (std::vector<NodeType>{NodeType::kComp, NodeType::kSend, NodeType::kRecv}));
  EXPECT_EQ(g.duration[0], Time::Nanos(100));
  EXPECT_EQ(g.lane, (std::vector<int32_t>{2, 1 + 2 * 256, 0}));
  EXPECT_EQ(g.dep, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(g.dep_release, (std::vector<int64_t>{kReleaseAtEnd, 0}));
  EXPECT_EQ(set->ranks[0].peers[0].dst, 1);
  EXPECT_EQ(set->ranks[0].peers[0].tag, 3);
  EXPECT_EQ(g.comm[1].bytes, 7u);
}

TEST(GoalTraces, RefuseMatchesThatDependOnTiming) {
  const auto error = [](const char* body) {
    const auto p = ReadGoalText(absl::StrCat("num_ranks 2\nrank 0 {\n", body, "\n}\nrank 1 {\n}\n"), "x");
    EXPECT_TRUE(p.ok()) << p.status();
    return std::string(ProgramTraces(*p, "x.goal", ReadOptions()).status().message());
  };
  EXPECT_THAT(error("recv 1b from -1"), HasSubstr("rank 0, operation 0: -1 means any rank or tag"));
  EXPECT_THAT(error("recv 1b from 1 tag -1"), HasSubstr("-1 means any"));
  EXPECT_THAT(error("send 1b to 0"), HasSubstr("a message to itself"));
  EXPECT_THAT(error("calc 18446744073709551615"), HasSubstr("expected at most"));
  EXPECT_THAT(error("send 18446744073709551615b to 1"), HasSubstr("fewer than 2^56"));
  EXPECT_THAT(error("a: calc 1\nb: calc 2\na requires b\nb requires a"), HasSubstr("form a cycle"));
}

TEST(GoalTraces, ReceiveTakesTheSizeOfItsSend) {
  const auto p = ReadGoalText("num_ranks 2\nrank 0 {\nsend 10b to 1\n}\nrank 1 {\nrecv 99b from 0\n}\n", "x");
  const auto set = ProgramTraces(*p, "x.goal", ReadOptions());
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->ranks[1].graph->comm[0].bytes, 10u);
  ASSERT_EQ(set->ranks[1].repairs.size(), 1u);
  EXPECT_EQ(set->ranks[1].repairs[0].kind, "receive_size");
}

TEST(GoalTraces, AreReadByTheRegistry) {
  const std::string path = ::testing::TempDir() + "/goal_registry.goal";
  std::ofstream(path) << kExample;
  const auto set = ReadTraceSet({path}, ReadOptions());
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->ranks.size(), 2u);
  EXPECT_EQ(set->inputs.size(), 1u);
  ReadOptions steps;
  steps.capture.steps = "first";
  EXPECT_THAT(std::string(ReadTraceSet({path}, steps).status().message()), HasSubstr("no steps or ranks"));
}

}  // namespace
}  // namespace chakra::goal::CHAKRA_FILE
