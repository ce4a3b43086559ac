// The fixed time of a graph: delays by cause, and unexplained waits.
#include "trace/model/fixed_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/replay/trace_builder.h"

namespace chakra::CHAKRA_FILE {
namespace {

constexpr Time Ns(int64_t n) { return Time::Nanos(n); }

// Adds a node that begins `delay` ns after the end of `on`.
et::Node& After(TraceBuilder* b, uint64_t on, const char* kind, int64_t delay, uint64_t micros = 100) {
  et::Node& node = b->Comp(0, micros, {on});
  TraceBuilder::Delays(&node, {delay});
  TraceBuilder::Text(&node, "dep_kinds", kind);
  return node;
}

std::shared_ptr<const Graph> Read(const TraceBuilder& b) {
  const auto traces = b.Build();
  EXPECT_TRUE(traces.ok()) << traces.status();
  return traces->ranks[0].graph;
}

TEST(FixedTime, EachKindOfDependencyHasItsCause) {
  const std::pair<const char*, FixedTimeCause> kKinds[] = {{"thread", FixedTimeCause::kHostGaps},
                                                           {"call", FixedTimeCause::kHostGaps},
                                                           {"hand_off", FixedTimeCause::kHostGaps},
                                                           {"wake_up", FixedTimeCause::kHostGaps},
                                                           {"collective", FixedTimeCause::kHostGaps},
                                                           {"sync", FixedTimeCause::kHostGaps},
                                                           {"launch", FixedTimeCause::kLaunchLatency},
                                                           {"stream", FixedTimeCause::kStreamGaps},
                                                           {"event_wait", FixedTimeCause::kStreamGaps},
                                                           {"start", FixedTimeCause::kStart},
                                                           {"edit", FixedTimeCause::kOther},
                                                           {"of another program", FixedTimeCause::kOther}};
  for (const auto& [kind, cause] : kKinds) {
    TraceBuilder b(1);
    b.Comp(0, 5);
    After(&b, 0, kind, 700);
    FixedTime want;
    want[cause] = Ns(700);
    EXPECT_EQ(LongestFixedTime(*Read(b)), want) << kind << ": " << Name(cause);
  }
}

TEST(FixedTime, CountsDelaysOfTheLongestPath) {
  TraceBuilder b(1);
  b.Comp(0, 1000);
  After(&b, 0, "thread", 400);
  After(&b, 1, "thread", 300);
  After(&b, 1, "launch", 900);
  et::Node& last = b.Comp(0, 7, {2, 3});
  TraceBuilder::Delays(&last, {650, 100});
  TraceBuilder::Text(&last, "dep_kinds", "hand_off,stream");
  FixedTime want;  // 400 + 900 + 100, longer than 400 + 300 + 650
  want[FixedTimeCause::kHostGaps] = Ns(400);
  want[FixedTimeCause::kLaunchLatency] = Ns(900);
  want[FixedTimeCause::kStreamGaps] = Ns(100);
  const FixedTime got = LongestFixedTime(*Read(b));
  EXPECT_EQ(got, want);
  EXPECT_EQ(got.total(), Ns(1400));
}

TEST(FixedTime, UnexplainedTimeIsACauseOfItsOwn) {
  TraceBuilder b(1);
  b.Comp(0, 5);
  TraceBuilder::Delays(&After(&b, 0, "launch", 700), {600}, "dep_unexplained_ns");
  After(&b, 1, "launch", 30);
  FixedTime want;
  want[FixedTimeCause::kLaunchLatency] = Ns(130);
  want[FixedTimeCause::kUnexplained] = Ns(600);
  EXPECT_EQ(LongestFixedTime(*Read(b)), want);
}

TEST(FixedTime, UnexplainedSynchronisationIsFixedBeyondOwnWork) {
  TraceBuilder b(1);
  b.Comp(0, 5);
  const auto call = [&](const char* name, uint64_t micros, bool host) {
    const uint64_t before = b.NextId(0) - 1;
    et::Node& node = After(&b, before, "thread", 0, micros);
    node.set_name(name);
    if (host) TraceBuilder::Int(&node, "is_cpu_op", 1);
  };
  call("cudaDeviceSynchronize", 510, true);
  call("hipStreamSynchronize", 30, true);
  call("cudaEventSynchronize", 10, true);          // no longer than its own work may be
  call("cudaStreamSynchronize", 1000, false);      // no host call
  call("cudaLaunchKernel", 1000, true);            // work
  call("cudaStreamSynchronizeLater", 1000, true);  // another name
  FixedTime want;
  want[FixedTimeCause::kRecordedWaits] = Time::Micros(500 + 20);
  EXPECT_EQ(LongestFixedTime(*Read(b)), want);
}

TEST(FixedTime, GraphsWithoutDelaysHaveNoFixedTime) {
  TraceBuilder b(1);
  b.Comp(0, 5);
  b.Comp(0, 5, {0});
  EXPECT_FALSE(HasDelays(*Read(b)));
  TraceBuilder::Delays(&b.Comp(0, 5, {1}), {0});
  EXPECT_TRUE(HasDelays(*Read(b)));
  EXPECT_EQ(LongestFixedTime(*Read(b)), FixedTime());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
