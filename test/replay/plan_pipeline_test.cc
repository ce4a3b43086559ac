// The recurrences of pipelines, against closed forms and a second simulation of the same passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "replay/plan/pipeline.h"
#include "trace/generate/schedule.h"

namespace chakra::planning::CHAKRA_FILE {
namespace {

using generate::Pass;
using generate::Schedule;

generate::Split SplitOf(int64_t pp, int64_t vpp, Schedule schedule) {
  generate::Split split;
  split.pp = pp;
  split.vpp = vpp;
  split.schedule = schedule;
  return split;
}

PassTimes Uniform(int64_t pieces, int64_t pp, double forward, double backward, double message) {
  PassTimes times;
  times.forward.assign(static_cast<size_t>(pieces), forward);
  times.backward.assign(static_cast<size_t>(pieces), backward);
  times.forward_compute = times.forward;
  times.backward_compute = times.backward;
  times.tail.assign(static_cast<size_t>(pieces), 0);
  times.weights.assign(static_cast<size_t>(pieces), backward / 2);
  times.between.assign(static_cast<size_t>(pp - 1), message);
  return times;
}

// Narayanan et al., 2021, section 2.2: (m + pp - 1) passes of both kinds; with v pieces (m + (pp - 1) / v).
TEST(PlanPipeline, EqualPassesMatchThePaper) {
  Pipelines pipelines;
  for (const int64_t pp : {1, 2, 4, 8}) {
    for (const int64_t m : {8, 16, 64, 1024}) {
      const PassTimes times = Uniform(pp, pp, 10, 20, 0);
      const double expected = static_cast<double>(m + pp - 1) * 30;
      EXPECT_DOUBLE_EQ(pipelines.Run(SplitOf(pp, 1, Schedule::k1F1B), m, times).end, expected)
          << pp << " " << m;
      EXPECT_DOUBLE_EQ(pipelines.Run(SplitOf(pp, 1, Schedule::kGpipe), m, times).end, expected)
          << pp << " " << m;
    }
  }
  for (const int64_t v : {2, 4}) {
    for (const int64_t m : {8, 16, 256}) {
      const PassTimes times =
          Uniform(4 * v, 4, 10.0 / static_cast<double>(v), 20.0 / static_cast<double>(v), 0);
      EXPECT_NEAR(pipelines.Run(SplitOf(4, v, Schedule::kInterleaved), m, times).end,
                  static_cast<double>(m) * 30 + 3 * 30.0 / static_cast<double>(v), 1e-6)
          << v << " " << m;
    }
  }
}

// Qi et al., 2023, table 1: bubbles of zb-h1 are (pp - 1)(forward + inputs - weights), those of 1f1b are (pp
// - 1)(forward + backward).
TEST(PlanPipeline, DelayedWeightGradientsFillBubbles) {
  Pipelines pipelines;
  for (const int64_t pp : {2, 4, 8}) {
    for (const int64_t m : {16, 64, 512}) {
      const PassTimes times = Uniform(pp, pp, 10, 20, 0);
      EXPECT_DOUBLE_EQ(pipelines.Run(SplitOf(pp, 1, Schedule::kZbH1), m, times).end,
                       static_cast<double>(m) * 30 + static_cast<double>(pp - 1) * 10)
          << pp << " " << m;
    }
  }
}

// DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, table 2: bubbles are (pp / 2 - 1)(merged + backward - 3
// weights). A merged pass takes the sum of its computations, here all of the time or nine tenths.
TEST(PlanPipeline, DualPipeBubblesMatchThePaper) {
  Pipelines pipelines;
  for (const int64_t pp : {2, 4, 8, 16}) {
    for (const int64_t m : {32, 64, 256}) {
      for (const double computed : {1.0, 0.9}) {
        PassTimes times = Uniform(pp, pp, 10, 20, 0);
        for (double& t : times.forward_compute) t *= computed;
        for (double& t : times.backward_compute) t *= computed;
        const double merged = 30 * computed;
        const PipelineTimes all = pipelines.Run(SplitOf(pp, 1, Schedule::kDualPipe), m, times);
        // Passes that are not merged, 2 pp of each kind and one pair in the middle, take their own time.
        if (computed == 1) {
          EXPECT_NEAR(all.end,
                      static_cast<double>(m) * 30 + static_cast<double>(pp / 2 - 1) * (merged + 20 - 30),
                      1e-6)
              << pp << " " << m;
        }
        const PipelineTimes more = pipelines.Run(SplitOf(pp, 1, Schedule::kDualPipe), m + 64, times);
        EXPECT_NEAR(more.end - all.end, 64 * merged, 1e-6) << pp << " " << m;
      }
    }
  }
}

// The end of all passes. Every stage checks repeatedly whether its next pass may begin, for all
// micro-batches.
double SimulatedEnd(const generate::Split& split, int64_t m, const PassTimes& t) {
  const int64_t pp = split.pp, pieces = pp * split.vpp;
  const double around = t.between.empty() ? 0 : *std::max_element(t.between.begin(), t.between.end());
  std::vector<std::vector<double>> forward(static_cast<size_t>(pieces),
                                           std::vector<double>(static_cast<size_t>(m), -1));
  auto backward = forward;
  std::vector<std::vector<Pass>> passes;
  for (int64_t s = 0; s < pp; ++s) passes.push_back(generate::PassesOf(split, m, s));
  std::vector<size_t> next(static_cast<size_t>(pp), 0);
  std::vector<double> free(static_cast<size_t>(pp), 0);
  const auto message = [&](int64_t from, int64_t to) {
    if (from == to) return 0.0;
    return std::abs(from - to) == 1 ? t.between[static_cast<size_t>(std::min(from, to))] : around;
  };
  size_t left = 0;
  for (const auto& p : passes) left += p.size();
  while (left > 0) {
    for (int64_t s = pp - 1; s >= 0; --s) {
      const auto at = static_cast<size_t>(s);
      if (next[at] == passes[at].size()) continue;
      const Pass& pass = passes[at][next[at]];
      const int64_t piece = pass.piece * pp + s;
      const auto g = static_cast<size_t>(piece), b = static_cast<size_t>(pass.micro_batch);
      double ready = 0;
      if (pass.forward && piece > 0) {
        ready = forward[g - 1][b];
        if (ready >= 0) ready += message((piece - 1) % pp, s);
      } else if (!pass.forward) {
        ready = piece + 1 < pieces ? backward[g + 1][b] : forward[g][b];
        if (ready >= 0 && piece + 1 < pieces) ready += message((piece + 1) % pp, s);
      }
      if (ready < 0) continue;
      const double end = std::max(free[at], ready) + (pass.forward ? t.forward[g] : t.backward[g]);
      (pass.forward ? forward : backward)[g][b] = pass.forward ? end : end - t.tail[g];
      free[at] = end;
      ++next[at];
      --left;
    }
  }
  return *std::max_element(free.begin(), free.end());
}

TEST(PlanPipeline, UnequalPassesMatchSimulation) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> draw(5, 20), few(0, 4);
  Pipelines pipelines;
  for (int round = 0; round < 60; ++round) {
    const int64_t pp = 1 + round % 6, vpp = pp > 1 && round % 3 == 0 ? 2 + round % 2 : 1;
    const int64_t m = vpp > 1 ? pp * (1 + round % 17) : 1 + round * 7 % 97;
    const Schedule schedule = vpp > 1          ? Schedule::kInterleaved
                              : round % 5 == 0 ? Schedule::kGpipe
                                               : Schedule::k1F1B;
    PassTimes times = Uniform(pp * vpp, pp, 10, 20, 1);
    // The first and the last stage compute more: the embedding and the head.
    times.forward.front() = draw(random);
    times.forward.back() += draw(random);
    times.backward.back() += draw(random);
    for (double& t : times.tail) t = few(random);
    for (double& b : times.between) b = few(random);
    const generate::Split split = SplitOf(pp, vpp, schedule);
    const double expected = SimulatedEnd(split, m, times);
    EXPECT_NEAR(pipelines.Run(split, m, times).end, expected, 1e-6 * expected)
        << "pp " << pp << " vpp " << vpp << " m " << m << " schedule " << static_cast<int>(schedule);
  }
}

}  // namespace
}  // namespace chakra::planning::CHAKRA_FILE
