// The engine against a second, slow interpreter, on random traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "replay/engine/engine.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "test/replay/engine_testing.h"
#include "test/replay/random_traces.h"
#include "test/sanitized.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
TEST(EngineRandom, ZeroDelaysChangeNothing) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    TraceBuilder plain = RandomTraces(random, 3), zeros = plain;
    for (int r = 0; r < 3; ++r) {
      for (et::Node& node : zeros.Nodes(r)) {
        if (node.data_deps_size() > 0)
          TraceBuilder::Delays(&node, std::vector<int64_t>(node.data_deps_size(), 0));
      }
    }
    EngineOptions options = Lanes(static_cast<LanePolicy>(round % 3));
    options.memory.bandwidth = Bandwidth::BytesPerSecond(1000000000);
    const absl::StatusOr<Metrics> a = Replayed(plain, options), b = Replayed(zeros, options);
    ASSERT_EQ(a.ok(), b.ok()) << a.status() << b.status();
    if (!a.ok()) continue;
    EXPECT_EQ(a->makespan, b->makespan) << round;
  }
}

TEST(EngineRandom, EqualsTheSlowInterpreter) {
  std::mt19937 random(20261121);
  constexpr int kRounds = kSanitized ? 600 : 3000;
  int finished = 0, recorded = 0, stuck = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 4);
    TraceBuilder builder = RandomTraces(random, ranks);
    AddRandomDelays(random, ranks, &builder);
    AddRandomTransfers(random, ranks, &builder);
    const absl::StatusOr<TraceSet> traces = builder.Build();
    ASSERT_TRUE(traces.ok()) << traces.status();
    EngineOptions options = Lanes(static_cast<LanePolicy>(random() % 3));
    options.memory.bandwidth = Bandwidth::BytesPerSecond(1000000000);
    options.fast_paths = random() % 2;
    options.collectives.splits = 1 + static_cast<int>(random() % 2);
    if (random() % 3 == 0) options.collectives.step_overhead = Time::Nanos(250);
    if (random() % 3 == 0) options.collectives.reduce_bandwidth = Bandwidth::BytesPerSecond(30000000000);
    options.recorded_comm = random() % 4 == 0;
    NodeSpans spans;
    options.spans = &spans;
    auto fabric = *MakeMachine("analytical", Mesh(ranks), FabricOptions());
    const absl::StatusOr<Metrics> metrics = Replay(*traces, Recorded(*traces), *fabric, options);
    const std::optional<NodeSpans> want = Interpreter(*traces, options, kWire).Run();
    ASSERT_EQ(metrics.ok(), want.has_value()) << "round " << round << ": " << metrics.status();
    if (!metrics.ok()) {
      ++stuck;
      EXPECT_THAT(std::string(metrics.status().message()), HasSubstr("cannot finish"));
      continue;
    }
    ++finished;
    recorded += options.recorded_comm ? 1 : 0;
    for (int r = 0; r < ranks; ++r) {
      for (size_t row = 0; row < spans[r].size(); ++row) {
        ASSERT_EQ(spans[r][row].begin.picos(), (*want)[r][row].begin.picos())
            << "round " << round << ", rank " << r << ", row " << row << ", lanes "
            << static_cast<int>(options.lanes);
        ASSERT_EQ(spans[r][row].end.picos(), (*want)[r][row].end.picos())
            << "round " << round << ", rank " << r << ", row " << row << ", lanes "
            << static_cast<int>(options.lanes);
      }
    }
  }
  EXPECT_GT(finished, kRounds * 4 / 5);
  EXPECT_GT(recorded, kRounds * 2 / 15);
  RecordProperty("stuck", stuck);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
