// The engine against a second, slow interpreter, on random traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "replay/engine.h"
#include "test/replay/engine_testing.h"

namespace chakra {
namespace {

using ::testing::HasSubstr;
using T = CollectiveType;

TraceBuilder RandomTraces(std::mt19937& random, int ranks) {
  TraceBuilder b(ranks);
  b.groups["a"] = {0, 1};
  if (ranks > 2) b.groups["b"] = {ranks - 1, 0, 1};
  if (ranks > 3) b.groups["c"] = {1, 3};
  const auto deps = [&](int rank) {
    std::vector<uint64_t> list;
    const uint64_t n = b.NextId(rank);
    for (int i = static_cast<int>(random() % 3); i > 0 && n > 0; --i)
      list.push_back(n - 1 - random() % std::min<uint64_t>(n, 6));
    return list;
  };
  const auto maybe_lane = [&](et::Node& node, int one_in) {
    if (random() % one_in == 0) TraceBuilder::Int(&node, "stream", random() % 2);
  };
  const int ops = 5 + static_cast<int>(random() % 30);
  for (int i = 0; i < ops; ++i) {
    const int rank = static_cast<int>(random() % ranks);
    switch (random() % 6) {
      case 0:
      case 1: {
        et::Node& node = b.Comp(rank, random() % 4, deps(rank));
        maybe_lane(node, 3);
        if (random() % 4 == 0) TraceBuilder::Int(&node, "is_cpu_op", 1);
        break;
      }
      case 2: {
        const int to = static_cast<int>(random() % ranks);
        if (to == rank) break;
        const int tag = static_cast<int>(random() % 2);
        const int64_t bytes = static_cast<int64_t>(random() % 4) * 25000;  // half microseconds
        b.Send(rank, to, bytes, tag, deps(rank));
        b.Recv(to, rank, bytes, tag, deps(to));
        break;
      }
      case 3:
        TraceBuilder::Int(&b.Add(rank, random() % 2 ? et::MEM_LOAD_NODE : et::MEM_STORE_NODE, deps(rank)),
                          "tensor_size", 1000);
        break;
      case 4:
        b.Add(rank, random() % 2 ? et::METADATA_NODE : et::INVALID_NODE, deps(rank));
        break;
      default: {
        auto group = b.groups.begin();
        std::advance(group, random() % b.groups.size());
        const bool world = random() % 3 == 0;
        std::vector<int> members = group->second;
        if (world) {
          members.clear();
          for (int r = 0; r < ranks; ++r) members.push_back(r);
        }
        const T type = static_cast<T>(random() % kCollectiveTypes);
        const int64_t bytes = static_cast<int64_t>(random() % 50) * 5000;
        const bool lane = random() % 3 == 0;
        for (int r : members) {
          et::Node& node = b.Coll(r, type, bytes, deps(r), world ? "" : group->first);
          if (lane) TraceBuilder::Int(&node, "stream", 2);
        }
      }
    }
  }
  return b;
}

// Delays of dependencies, on half of the traces; quarters of a microsecond, often none.
void AddRandomDelays(std::mt19937& random, int ranks, TraceBuilder* b) {
  if (random() % 2) return;
  for (int r = 0; r < ranks; ++r) {
    for (et::Node& node : b->Nodes(r)) {
      if (node.data_deps_size() == 0 || random() % 2) continue;
      std::vector<int64_t> delays;
      for (int i = 0; i < node.data_deps_size(); ++i) {
        delays.push_back(random() % 3 ? static_cast<int64_t>(random() % 8) * 250 : 0);
      }
      TraceBuilder::Delays(&node, delays);
    }
  }
}

// Recorded times of communication: transfers, durations, or none.
void AddRandomTransfers(std::mt19937& random, int ranks, TraceBuilder* b) {
  for (int r = 0; r < ranks; ++r) {
    for (et::Node& node : b->Nodes(r)) {
      if (node.type() < et::COMM_SEND_NODE) continue;
      if (random() % 4) node.set_duration_micros(random() % 5);
      if (random() % 2) TraceBuilder::Int(&node, "transfer_ns", static_cast<int64_t>(random() % 8) * 250);
    }
  }
}

TEST(EngineRandom, DelaysOfNothingChangeNothing) {
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

TEST(EngineRandom, AgreesWithTheSlowInterpreterOnRandomTraces) {
  std::mt19937 random(20261121);
  int finished = 0, recorded = 0, stuck = 0;
  for (int round = 0; round < 3000; ++round) {
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
    auto fabric = *MakeFabric("analytical", Mesh(ranks), FabricOptions());
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
  EXPECT_GT(finished, 2400);
  EXPECT_GT(recorded, 400);
  RecordProperty("stuck", stuck);
}

}  // namespace
}  // namespace chakra
