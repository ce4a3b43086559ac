// GOAL programs on fabric loggps: against times that LogGOPSim itself printed, and against an evaluation of
// the LogGOPS rules that is written here a second time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/loggps/loggps.h"
#include "test/folders.h"
#include "test/replay/engine_testing.h"
#include "test/replay/run_binary.h"
#include "trace/base/splitmix.h"
#include "trace/et/read_options.h"
#include "trace/import/goal/program.h"
#include "trace/import/goal/to_traces.h"

namespace chakra::CHAKRA_FILE {
namespace {

using goal::GoalDep;
using goal::GoalOp;
using goal::GoalRank;
using goal::OpType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Model {
  int64_t L = 2500, o = 1500, g = 1000, G = 6, O = 0;
  uint64_t S = 65535;
};

std::string FabricOf(const Model& m) {
  return absl::StrCat("loggps:L=", m.L, ",o=", m.o, ",g=", m.g, ",G=", m.G, ",O=", m.O, ",S=", m.S);
}

// The end of each rank, in picoseconds. If the run fails, one entry, -1, and `error` says why.
std::vector<int64_t> Ends(const goal::Program& program, const std::string& fabric, std::string* error = nullptr) {
  auto traces = goal::ProgramTraces(program, "x.goal", ReadOptions());
  EXPECT_TRUE(traces.ok()) << traces.status();
  auto machine = MakeMachine(fabric, Mesh(static_cast<int>(traces->ranks.size())), FabricOptions());
  EXPECT_TRUE(machine.ok()) << machine.status();
  auto metrics = Replay(*traces, Recorded(*traces), **machine, EngineOptions());
  if (!metrics.ok()) {
    if (error != nullptr) *error = std::string(metrics.status().message());
    return {-1};
  }
  std::vector<int64_t> ends;
  for (const RankMetrics& r : metrics->ranks) ends.push_back(r.end.picos());
  return ends;
}

// The rules in nanoseconds, without event queues: each turn searches all items for the earliest.
class SecondEvaluation {
 public:
  SecondEvaluation(const goal::Program& program, const Model& m) : p_(program), m_(m) {
    for (const GoalRank& rank : p_.ranks) {
      made_ += rank.ops.size();
      waits_.emplace_back(rank.ops.size(), 0);
      floor_.emplace_back(rank.ops.size(), 0);
      for (const GoalDep& d : rank.deps) ++waits_.back()[d.op];
    }
    for (size_t r = 0; r < p_.ranks.size(); ++r) {
      for (size_t i = 0; i < p_.ranks[r].ops.size(); ++i) {
        if (waits_[r][i] == 0) fresh_.push_back({r, i});
      }
    }
  }

  std::vector<int64_t> Run() {
    Schedule();
    while (!todo_.empty()) {
      const auto first = std::min_element(todo_.begin(), todo_.end(), [](const Item& a, const Item& b) {
        return std::tie(a.at, a.number) < std::tie(b.at, b.number);
      });
      Item item = *first;
      todo_.erase(first);
      if (Do(&item)) todo_.push_back(item);
      Schedule();
    }
    if (done_ < made_) return {-1};
    std::vector<int64_t> ends(p_.ranks.size(), 0);
    for (const auto& [cpu, at] : cpu_) ends[cpu.first] = std::max(ends[cpu.first], at * 1000);
    return ends;
  }

 private:
  struct Item {
    int64_t at;
    uint64_t number;
    bool message;
    size_t rank, op;  // for a message: its send
  };
  using Unit = std::pair<size_t, int>;

  int64_t Bytes(const GoalOp& op) const { return static_cast<int64_t>(std::max<uint64_t>(op.size, 1)) - 1; }
  void Free(size_t r, size_t op, int64_t at) {
    floor_[r][op] = std::max(floor_[r][op], at);
    if (--waits_[r][op] == 0) fresh_.push_back({r, op});
  }
  void After(size_t r, size_t op, bool start, int64_t at) {
    done_ += start ? 0 : 1;
    for (const GoalDep& d : p_.ranks[r].deps) {
      if (d.of == op && d.start == start) Free(r, d.op, at);
    }
  }
  void Schedule() {
    std::stable_sort(fresh_.begin(), fresh_.end(), [this](const auto& a, const auto& b) {
      return std::make_pair(a.first, p_.ranks[a.first].ops[a.second].type) <
             std::make_pair(b.first, p_.ranks[b.first].ops[b.second].type);
    });
    for (const auto& [r, i] : fresh_) {
      const GoalOp& op = p_.ranks[r].ops[i];
      int64_t at = std::max(floor_[r][i], cpu_[{r, op.cpu}]);
      if (op.type == OpType::kSend) at = std::max(at, out_[{r, op.nic}]);
      todo_.push_back({at, next_++, false, r, i});
    }
    fresh_.clear();
  }
  // Returns true if the item must be done again at its new time.
  bool Do(Item* item) {
    const GoalOp& op = p_.ranks[item->rank].ops[item->op];
    const int64_t t = item->at;
    if (item->message) {
      const size_t to = op.peer;
      const int64_t free = std::max(cpu_[{to, op.cpu}], in_[{to, op.nic}]);
      if (free > t) return item->at = free, true;
      const int64_t done = t + m_.o + std::max(Bytes(op) * m_.O, Bytes(op) * m_.G);
      cpu_[{to, op.cpu}] = done;
      in_[{to, op.nic}] = t + m_.g + Bytes(op) * m_.G;
      auto& receives = posted_[{to, item->rank, op.tag}];
      if (receives.empty()) {
        waiting_[{to, item->rank, op.tag}].push_back({item->op, done});
        return false;
      }
      const size_t receive = receives.front();
      receives.erase(receives.begin());
      Matched(item->rank, item->op, t);
      After(to, receive, false, done);
      return false;
    }
    if (op.type == OpType::kCalc) {
      if (cpu_[{item->rank, op.cpu}] > t) return item->at = cpu_[{item->rank, op.cpu}], true;
      const int64_t done = t + static_cast<int64_t>(op.size);
      cpu_[{item->rank, op.cpu}] = done;
      After(item->rank, item->op, true, t);
      After(item->rank, item->op, false, done);
    } else if (op.type == OpType::kSend) {
      const int64_t free = std::max(cpu_[{item->rank, op.cpu}], out_[{item->rank, op.nic}]);
      if (free > t) return item->at = free, true;
      const int64_t done = t + m_.o + Bytes(op) * m_.O;
      cpu_[{item->rank, op.cpu}] = done;
      out_[{item->rank, op.nic}] = t + m_.g + Bytes(op) * m_.G;
      After(item->rank, item->op, true, t);
      todo_.push_back({t + m_.o + m_.L, next_++, true, item->rank, item->op});
      if (op.size <= m_.S) After(item->rank, item->op, false, done);
    } else {
      After(item->rank, item->op, true, t);
      auto& messages = waiting_[{item->rank, op.peer, op.tag}];
      if (messages.empty()) {
        posted_[{item->rank, op.peer, op.tag}].push_back(item->op);
        return false;
      }
      const auto [send, taken] = messages.front();
      messages.erase(messages.begin());
      Matched(op.peer, send, t);
      After(item->rank, item->op, false, std::max(t, taken));
    }
    return false;
  }
  void Matched(size_t from, size_t send, int64_t t) {
    const GoalOp& op = p_.ranks[from].ops[send];
    if (op.size <= m_.S) return;
    cpu_[{from, op.cpu}] = std::max(cpu_[{from, op.cpu}], t);
    out_[{from, op.nic}] = std::max(out_[{from, op.nic}], t);
    After(from, send, false, t);
  }

  const goal::Program& p_;
  const Model m_;
  std::vector<std::vector<int>> waits_;
  std::vector<std::vector<int64_t>> floor_;
  std::map<Unit, int64_t> cpu_, out_, in_;
  std::map<std::tuple<size_t, size_t, uint32_t>, std::vector<size_t>> posted_;
  std::map<std::tuple<size_t, size_t, uint32_t>, std::vector<std::pair<size_t, int64_t>>> waiting_;
  std::vector<std::pair<size_t, size_t>> fresh_;
  std::vector<Item> todo_;
  uint64_t next_ = 0;
  size_t made_ = 0, done_ = 0;
};

GoalOp Op(OpType type, uint32_t peer, uint64_t size) {
  GoalOp op;
  op.type = type;
  op.peer = peer;
  op.size = size;
  return op;
}

// `schedgen --ptrn binomialtreereduce --datasize 1024` of 8 hosts. The expected times are LogGOPSim's output
// in its README.
TEST(LogGps, MatchesLogGopsimOnItsExample) {
  goal::Program p;
  p.ranks.resize(8);
  for (uint32_t r = 0; r < 8; ++r) {
    GoalRank& rank = p.ranks[r];
    // Rank r receives from r + 4, r + 2 and r + 1 where these are its children, then sends to its parent.
    for (const uint32_t bit : {4u, 2u, 1u}) {
      if (r < bit) rank.ops.push_back(Op(OpType::kRecv, r + bit, 1024));
    }
    if (r == 0) continue;
    const uint32_t parent = r >= 4 ? r - 4 : r >= 2 ? r - 2 : r - 1;
    rank.ops.push_back(Op(OpType::kSend, parent, 1024));
    const auto send = static_cast<uint32_t>(rank.ops.size() - 1);
    for (uint32_t i = 0; i < send; ++i) rank.deps.push_back({send, i, false});
  }
  EXPECT_THAT(Ends(p, "loggps"),
              ElementsAre(34914000, 24776000, 13138000, 13138000, 1500000, 1500000, 1500000, 1500000));
}

// LogGOPSim's binary_tree_32.goal: rank r sends to r + 2^k for all 2^k > r.
goal::Program BinaryTree(uint32_t ranks) {
  goal::Program p;
  p.ranks.resize(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    uint32_t bit = 1;
    while (bit <= r) bit *= 2;
    if (r > 0) p.ranks[r].ops.push_back(Op(OpType::kRecv, r - bit / 2, 1));
    for (; r + bit < ranks; bit *= 2) {
      p.ranks[r].ops.push_back(Op(OpType::kSend, r + bit, 1));
      if (r > 0) p.ranks[r].deps.push_back({static_cast<uint32_t>(p.ranks[r].ops.size() - 1), 0, false});
    }
  }
  return p;
}

TEST(LogGps, BinaryTreeMatchesClosedForm) {
  const goal::Program p = BinaryTree(32);
  const std::vector<int64_t> ends = Ends(p, "loggps");
  EXPECT_EQ(ends, SecondEvaluation(p, Model()).Run());
  // Rank 31's message comes over 1, 3, 7, 15: five times o + L + o, each time the sender's first message.
  EXPECT_EQ(ends[31], 5 * (1500 + 2500 + 1500) * 1000);
  // Rank 16's message is the fifth of rank 0, whose CPU sends it 4 o after the first.
  EXPECT_EQ(ends[16], (4 * 1500 + 1500 + 2500 + 1500) * 1000);
}

// Messages and computation in an order that can run: each operation waits for earlier ones only.
goal::Program RandomRun(uint64_t seed, int cpus) {
  uint64_t state = seed;
  const auto below = [&state](uint64_t n) { return NextSplitMix(&state) % n; };
  goal::Program p;
  const auto ranks = static_cast<uint32_t>(2 + below(7));
  p.ranks.resize(ranks);
  const auto add = [&](uint32_t r, GoalOp op) {
    GoalRank& rank = p.ranks[r];
    op.cpu = static_cast<uint8_t>(below(static_cast<uint64_t>(cpus)));
    const auto i = static_cast<uint32_t>(rank.ops.size());
    for (uint64_t k = below(3); k > 0 && i > 0; --k)
      rank.deps.push_back({i, i - 1 - static_cast<uint32_t>(below(std::min<uint64_t>(i, 5))), below(4) == 0});
    rank.ops.push_back(op);
  };
  for (uint64_t n = 30 + below(60); n > 0; --n) {
    const auto r = static_cast<uint32_t>(below(ranks));
    if (below(3) == 0) {
      add(r, Op(OpType::kCalc, 0, below(20000)));
      continue;
    }
    const auto to = static_cast<uint32_t>((r + 1 + below(ranks - 1)) % ranks);
    const uint64_t size = below(4) == 0 ? 60000 + below(20000) : below(4000);
    const auto tag = static_cast<uint32_t>(n);
    GoalOp send = Op(OpType::kSend, to, size), receive = Op(OpType::kRecv, r, size);
    send.tag = receive.tag = tag;
    send.nic = static_cast<uint8_t>(below(2));
    add(r, send);
    add(to, receive);
  }
  for (GoalRank& rank : p.ranks) rank.SortDeps();
  return p;
}

TEST(LogGps, EqualsTheSecondEvaluationOnRandomPrograms) {
  const Model kModels[] = {{},
                           {.L = 1000, .o = 0, .g = 5000, .G = 1, .O = 2, .S = 0},
                           {.L = 0, .o = 700, .g = 0, .G = 0, .O = 1, .S = 1000},
                           {.L = 300, .o = 20, .g = 40, .G = 3, .O = 4, .S = 1 << 20}};
  int finished = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const goal::Program p = RandomRun(seed, seed % 2 == 0 ? 1 : 3);
    const Model& m = kModels[seed / 2 % 4];
    ASSERT_EQ(Ends(p, FabricOf(m)), SecondEvaluation(p, m).Run()) << seed << "\n" << goal::GoalText(p);
    ++finished;
  }
  EXPECT_EQ(finished, 200);
}

TEST(LogGps, MessagesOfOneTagMatchInOrderOfArrival) {
  for (uint64_t seed = 1000; seed < 1050; ++seed) {
    goal::Program p = RandomRun(seed, 1);
    for (GoalRank& rank : p.ranks) {
      for (GoalOp& op : rank.ops) {
        op.tag %= 2;
        if (op.type != OpType::kCalc) op.size = 500;
      }
    }
    std::string error;
    const std::vector<int64_t> ends = Ends(p, "loggps", &error);
    EXPECT_EQ(ends, SecondEvaluation(p, Model()).Run()) << error;
  }
}

TEST(LogGps, DeadlockNamesItsNodes) {
  goal::Program p;
  p.ranks.resize(2);
  // Each waits for the other's message before it sends, by rendezvous or not.
  for (uint32_t r = 0; r < 2; ++r) {
    p.ranks[r].ops = {Op(OpType::kRecv, 1 - r, 9), Op(OpType::kSend, 1 - r, 9)};
    p.ranks[r].deps = {{1, 0, false}};
  }
  std::string error;
  Ends(p, "loggps", &error);
  EXPECT_THAT(error, HasSubstr("the run cannot finish: 4 nodes are left"));
  EXPECT_THAT(error, HasSubstr("rank 0, node 0"));
}

TEST(LogGps, ReadsParametersFromTheCommandLine) {
  const std::string path = ::testing::TempDir() + "/log_gps.goal";
  std::ofstream(path) << "num_ranks 2\nrank 0 {\nsend 11b to 1\n}\nrank 1 {\nrecv 11b from 0\n}\n";
  const auto replay = [&](const std::string& fabric) {
    return RunCommand("replay " + path + " --fabric " + fabric + " --report - --format json -q");
  };
  EXPECT_THAT(replay("loggps").out, HasSubstr("\"makespan_ps\": \"5560000\""));
  EXPECT_THAT(replay("loggps:L=1,o=0.5,G=0.02").out, HasSubstr("\"makespan_ps\": \"2200\""));
  EXPECT_THAT(replay("loggps:L=-1").err, HasSubstr("L"));
  EXPECT_THAT(replay("loggps:Q=1").err, HasSubstr("Q"));
  EXPECT_THAT(replay("loggps:S=1.5").err, HasSubstr("whole number of bytes"));
}

TEST(LogGps, RefusesCollectives) {
  const CommandResult r =
      RunCommand("replay " + std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step --fabric loggps");
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.err,
              HasSubstr("fabric loggps supports only computation, sends and receives; `convert --to goal"));
}

TEST(ConvertToGoal, LowersCollectivesToARunnableProgram) {
  const std::string out = ::testing::TempDir() + "/lowered.goal",
                    binary = ::testing::TempDir() + "/lowered.bin";
  const std::string step = std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step";
  for (const std::string& to : {out, binary}) {
    const CommandResult made = RunCommand("convert " + step + " --to goal --cluster dgx-h100 -o " + to);
    ASSERT_EQ(made.status, 0) << made.err;
  }
  const CommandResult text = RunCommand("replay " + out + " --fabric loggps --report - --format json -q");
  const CommandResult bin = RunCommand("replay " + binary + " --fabric loggps --report - --format json -q");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\"makespan_ps\""));
  const auto makespan = [](const std::string& json) { return json.substr(json.find("\"makespan_ps\""), 40); };
  EXPECT_EQ(makespan(text.out), makespan(bin.out));
  // Written again, the program is the same.
  const std::string again = ::testing::TempDir() + "/lowered_again.goal";
  ASSERT_EQ(RunCommand("convert " + out + " --to goal -o " + again).status, 0);
  std::ifstream a(out), b(again);
  const std::string first((std::istreambuf_iterator<char>(a)), {}),
      second((std::istreambuf_iterator<char>(b)), {});
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
