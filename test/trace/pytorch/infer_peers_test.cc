#include "trace/import/join/infer_peers.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Pipelines whose messages are known: rows of `stages` ranks, `stride` apart.
struct Pipelines {
  std::vector<std::vector<PeerCall>> calls;
  std::vector<std::vector<uint32_t>> truth;
};

class PipelineSimulator {
 public:
  PipelineSimulator(uint32_t n, uint32_t stages, uint32_t stride, int64_t jitter, uint32_t seed)
      : stages_(stages), stride_(stride), jitter_(jitter), random_(seed), now_(n) {
    out_.calls.resize(n);
    out_.truth.resize(n);
  }

  Pipelines Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      for (uint32_t r = 0; r < now_.size(); ++r) {
        if (r / stride_ % stages_ == 0) Row(r);
      }
    }
    return std::move(out_);
  }

 private:
  int64_t Below(int64_t n) { return n <= 0 ? 0 : static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  void Work(uint32_t r) { now_[r] += 300000 + Below(jitter_); }
  void Row(uint32_t first) {
    const auto at = [&](uint32_t s) { return first + s * stride_; };
    for (uint32_t s = 0; s < stages_; ++s) {
      if (s > 0) Message(at(s - 1), at(s));
      Work(at(s));
    }
    for (uint32_t s = stages_; s-- > 0;) {
      Work(at(s));
      if (s > 0) Message(at(s), at(s - 1));
    }
  }
  void Message(uint32_t from, uint32_t to) {
    const int64_t sent = now_[from] += 3000, ready = now_[to] += 3000;
    const int64_t end = std::max(sent, ready) + 40000 + Below(3000);
    out_.calls[from].push_back({true, 1, sent, end});
    out_.calls[to].push_back({false, 1, ready, end + Below(2000)});
    out_.truth[from].push_back(to);
    out_.truth[to].push_back(from);
    now_[from] = end;
    now_[to] = out_.calls[to].back().end;
  }

  const uint32_t stages_, stride_;
  const int64_t jitter_;
  std::mt19937 random_;
  std::vector<int64_t> now_;
  Pipelines out_;
};

// Half of the ranks are on another machine, whose clock is off by up to 3 ms.
void MoveClocks(uint32_t seed, Pipelines* made) {
  const int64_t off = static_cast<int64_t>(std::mt19937(seed)() % 6000000) - 3000000;
  for (size_t r = made->calls.size() / 2; r < made->calls.size(); ++r) {
    for (PeerCall& call : made->calls[r]) {
      call.begin += off;
      call.end += off;
    }
  }
}

TEST(InferPeers, NeverInfersWrongPeersOfRandomPipelines) {
  int sure = 0, runs = 0, apart = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    for (const auto& [n, stages, stride] : std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>{
             {2, 2, 1}, {4, 2, 2}, {4, 4, 1}, {8, 2, 4}, {8, 4, 2}, {8, 2, 1}, {12, 3, 4}, {16, 4, 4}}) {
      const int64_t jitter = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 20000 : 300000;
      Pipelines made = PipelineSimulator(n, stages, stride, jitter, seed).Run(2 + static_cast<int>(seed % 5));
      // Nothing shows that ranks share a clock.
      std::vector<uint32_t> clocks;
      for (uint32_t r = 0; r < n && seed % 2 == 1; ++r) clocks.push_back(r);
      if (seed % 4 == 3) MoveClocks(seed, &made);
      const InferredPeers found = InferPeers(made.calls, 20000, clocks);
      ++runs;
      if (!found.sure) continue;
      ++sure;
      apart += clocks.empty() ? 0 : 1;
      ASSERT_EQ(found.peer, made.truth) << n << " ranks, " << stages << " stages, " << stride
                                        << " apart, seed " << seed << ": " << found.evidence;
    }
  }
  EXPECT_GT(sure, runs / 2);
  EXPECT_GT(apart, runs / 5);  // a quarter has one clock, though nothing shows this
}

// Rank 0 sends, rank 1 receives. If the sender goes on at once, its end shows nothing about the receiver's
// clock.
TEST(InferPeers, OneDirectionNeedsCommonEndsForOneClock) {
  for (const bool eager : {false, true}) {
    std::mt19937 random(7);
    std::vector<std::vector<PeerCall>> calls(2);
    for (int64_t i = 0; i < 20; ++i) {
      const int64_t at = i * 1000000, send = at + static_cast<int64_t>(random() % 300000),
                    end = at + 400000 + static_cast<int64_t>(random() % 1000);
      calls[0].push_back({true, 1, send, eager ? send + 10000 : end});
      calls[1].push_back({false, 1, at + static_cast<int64_t>(random() % 300000), end});
    }
    EXPECT_TRUE(InferPeers(calls, 20000).sure);
    const InferredPeers found = InferPeers(calls, 20000, {0, 1});
    EXPECT_EQ(found.sure, !eager) << found.evidence;
    if (!eager) continue;
    EXPECT_THAT(found.evidence, HasSubstr("one clock"));
  }
}

TEST(InferPeers, ReceiveBeforeTheSendIsFromAnotherRank) {
  // Ranks 0 and 1 send to 2 and 3; the send of rank 1 begins after rank 2 has received.
  const std::vector<std::vector<PeerCall>> calls = {{{true, 1, 0, 100000},
                                                     {true, 1, 1000000, 1100000},
                                                     {true, 1, 2000000, 2100000},
                                                     {true, 1, 3000000, 3100000}},
                                                    {{true, 1, 400000, 500000},
                                                     {true, 1, 1400000, 1500000},
                                                     {true, 1, 2400000, 2500000},
                                                     {true, 1, 3400000, 3500000}},
                                                    {{false, 1, 0, 100000},
                                                     {false, 1, 900000, 1100000},
                                                     {false, 1, 2000000, 2100000},
                                                     {false, 1, 3000000, 3100000}},
                                                    {{false, 1, 0, 500000},
                                                     {false, 1, 900000, 1500000},
                                                     {false, 1, 2000000, 2500000},
                                                     {false, 1, 3000000, 3500000}}};
  const InferredPeers found = InferPeers(calls, 20000);
  ASSERT_TRUE(found.sure) << found.evidence;
  EXPECT_THAT(found.peer[0], ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(found.peer[3], ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(found.evidence, HasSubstr("rows of 2 ranks, 2 apart"));
}

TEST(InferPeers, UnmatchedMessageContradictsAllPeers) {
  const InferredPeers found = InferPeers({{{true, 1, 0, 100}}, {{false, 2, 0, 100}}}, 20000);
  EXPECT_FALSE(found.sure) << "the sizes differ";
  EXPECT_THAT(found.evidence, HasSubstr("contradict"));
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
