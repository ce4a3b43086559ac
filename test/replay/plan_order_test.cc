// The prover runs one order of streams and messages. Its result holds for every order.
#include <deque>
#include <random>

#include "plan_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

// A machine that computes with numbers. Streams and messages move in random order; steps act at once.
class NumberMachine {
 public:
  NumberMachine(const Plan& plan, uint64_t seed) : plan_(plan), random_(seed) {
    const auto nodes = static_cast<size_t>(plan.nodes());
    std::mt19937_64 input(1);
    for (size_t node = 0; node < nodes; ++node) {
      memory_.emplace_back();
      for (int c = 0; c < plan.chunks; ++c) {
        const uint64_t value = plan.type == T::kBarrier ? uint64_t{1} << (node % 64) : input();
        memory_.back().push_back(node < static_cast<size_t>(plan.members) ? value : 0);
      }
    }
    inbox_.resize(plan.connection_base.back());
    travelling_.resize(plan.connection_base.back());
    done_.resize(plan.stream_base.back());
    sending_.assign(plan.stream_base.back(), -1);
  }

  // Returns false for a deadlock.
  bool Run() {
    std::vector<std::pair<bool, size_t>> moves;  // a stream's, or a message's
    while (true) {
      moves.clear();
      for (size_t s = 0; s < done_.size(); ++s) {
        if (CanStep(s)) moves.push_back({true, s});
      }
      for (size_t c = 0; c < travelling_.size(); ++c) {
        if (!travelling_[c].empty()) moves.push_back({false, c});
      }
      if (moves.empty()) break;
      const auto [stream, index] = moves[random_() % moves.size()];
      if (stream) {
        Take(index);
      } else {
        inbox_[index].push_back(std::move(travelling_[index].front()));
        travelling_[index].pop_front();
        for (int& sending : sending_) sending = sending == static_cast<int>(index) ? -1 : sending;
      }
    }
    for (size_t s = 0; s < done_.size(); ++s) {
      if (done_[s] != Steps(s)) return false;
    }
    return true;
  }
  const std::vector<std::vector<uint64_t>>& memory() const { return memory_; }

 private:
  size_t Node(size_t stream) const {
    size_t node = 0;
    while (plan_.stream_base[node + 1] <= stream) ++node;
    return node;
  }
  const Stream& StreamAt(size_t s) const {
    const size_t node = Node(s);
    return plan_.program(static_cast<int>(node)).streams[s - plan_.stream_base[node]];
  }
  uint32_t Steps(size_t s) const { return StreamAt(s).end - StreamAt(s).begin; }
  const Step& Next(size_t s) const {
    return plan_.program(static_cast<int>(Node(s))).steps[StreamAt(s).begin + done_[s]];
  }
  size_t Chunk(size_t node, int chunk) const {
    return static_cast<size_t>(ChunkOf(plan_, static_cast<int>(node), chunk));
  }

  bool CanStep(size_t s) const {
    if (done_[s] == Steps(s) || sending_[s] >= 0) return false;
    const size_t node = Node(s);
    const Step& step = Next(s);
    if (step.op == Op::kAwait) {
      const size_t other = plan_.stream_base[node] + static_cast<size_t>(step.peer);
      const uint32_t goal = std::min(static_cast<uint32_t>(step.chunk), Steps(other));
      return sending_[other] < 0 ? done_[other] >= goal : done_[other] > goal;
    }
    return !IsReceive(step.op) || !inbox_[plan_.connection_base[node] + step.connection].empty();
  }

  void Take(size_t s) {
    const size_t node = Node(s);
    const Step& step = Next(s);
    ++done_[s];
    if (step.op == Op::kAwait) return;
    std::vector<uint64_t>& mine = memory_[node];
    const size_t chunk = Chunk(node, step.chunk);
    const auto at = [&](size_t first, size_t i) {
      return first + static_cast<size_t>(PatternOffset(plan_, step.pattern, static_cast<int>(i)));
    };
    const auto count = plan_.type == T::kBarrier ? size_t{1} : static_cast<size_t>(step.count);
    if (IsSend(step.op)) {
      auto to = static_cast<size_t>(step.peer);
      if (plan_.rotational) to = (to + node) % static_cast<size_t>(plan_.members);
      const size_t connection = plan_.connection_base[to] + step.connection;
      std::vector<uint64_t>& sent = travelling_[connection].emplace_back();
      for (size_t i = 0; i < count; ++i) sent.push_back(mine[at(chunk, i)]);
      if (step.op == Op::kSendWait) sending_[s] = static_cast<int>(connection);
      return;
    }
    std::vector<uint64_t> came;
    if (IsReceive(step.op)) {
      auto& inbox = inbox_[plan_.connection_base[node] + step.connection];
      came = std::move(inbox.front());
      inbox.pop_front();
    } else {
      const size_t from = Chunk(node, step.peer);
      came.assign(mine.begin() + static_cast<ptrdiff_t>(from),
                  mine.begin() + static_cast<ptrdiff_t>(from + count));
    }
    const bool collects = plan_.type == T::kAllToAll && plan_.output.count == 0;
    for (size_t i = 0; i < count; ++i) {
      uint64_t& into = mine[at(chunk, i)];
      if (plan_.type == T::kBarrier) {
        into |= came[i];
      } else {
        into = IsReduction(step.op) || step.op == Op::kReduce || collects ? into + came[i] : came[i];
      }
    }
  }

  const Plan& plan_;
  std::mt19937_64 random_;
  std::vector<std::vector<uint64_t>> memory_;                  // [node][chunk]
  std::vector<std::deque<std::vector<uint64_t>>> inbox_;       // by connection
  std::vector<std::deque<std::vector<uint64_t>>> travelling_;  // by connection
  std::vector<uint32_t> done_;                                 // by stream: steps
  std::vector<int> sending_;  // by stream: connection whose message must leave
};

TEST(PlanOrder, AnyOrderGivesEqualResults) {
  for (const int n : {2, 3, 5, 8}) {
    for (const Plan& plan : AllPlans(n, 0)) {
      NumberMachine first(plan, 0);
      ASSERT_TRUE(first.Run()) << plan.algorithm << " for " << Name(plan.type) << " on " << n;
      for (uint64_t seed = 1; seed < 6; ++seed) {
        NumberMachine other(plan, seed);
        ASSERT_TRUE(other.Run()) << plan.algorithm << " for " << Name(plan.type) << " on " << n;
        EXPECT_EQ(other.memory(), first.memory())
            << plan.algorithm << " for " << Name(plan.type) << " on " << n;
      }
      if (plan.type != T::kAllReduce || plan.output.count > 0 || !plan.switches.empty()) continue;
      Plan idle = plan;  // only the initial data
      for (Program& p : idle.programs) p = {};
      NumberThrough(&idle);
      NumberMachine before(idle, 0);
      for (size_t c = 0; c < first.memory()[0].size(); ++c) {
        uint64_t sum = 0;
        for (const auto& member : before.memory()) sum += member[c];
        for (const auto& member : first.memory()) EXPECT_EQ(member[c], sum);
      }
    }
  }
}

// The machine above detects different orders: a race by the prover gives different results.
TEST(PlanOrder, RacesGiveDifferentResults) {
  Plan plan = Hand(T::kAllReduce, 2, 1,
                   {{{Op::kSend, 0, 1, 0, 1}, {Op::kRecvReduce, 0, 1, 0, 1}},
                    {{Op::kSend, 0, 0, 0, 1}, {Op::kRecvReduce, 0, 0, 0, 1}}});
  plan.programs[1].streams = {{0, 1}, {1, 2}};
  NumberThrough(&plan);
  bool differs = false;
  NumberMachine first(plan, 0);
  ASSERT_TRUE(first.Run());
  for (uint64_t seed = 1; seed < 30 && !differs; ++seed) {
    NumberMachine other(plan, seed);
    ASSERT_TRUE(other.Run());
    differs = other.memory() != first.memory();
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
