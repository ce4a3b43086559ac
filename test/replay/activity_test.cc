// The activity of lanes over time, and the kernels of devices.
#include "replay/report/activity.h"

#include <gtest/gtest.h>

#include <string>

#include "replay/report/device_kernels.h"
#include "test/trace/graph_of.h"

namespace chakra::CHAKRA_FILE {
namespace {

// A kernel on stream 7 from 0 to 30 us and one from 45 us to 60 us, the host on thread 1 from 0 to 15 us.
TraceSet Traces(int ranks) {
  GraphDraft draft;
  draft.id = {1, 2, 3};
  draft.name = {draft.strings.Intern("gemm"), draft.strings.Intern("norm"), draft.strings.Intern("launch")};
  draft.type = {NodeType::kComp, NodeType::kComp, NodeType::kComp};
  draft.flags = {0, 0, kIsCpuOp | kHasCpuAttr};
  draft.lane = {7, 7, 1};
  draft.start = {Time::Micros(100), Time::Micros(145), Time::Micros(100)};
  draft.duration = {Time::Micros(30), Time::Micros(15), Time::Micros(15)};
  const auto graph = GraphOf(std::move(draft));
  TraceSet traces;
  for (int r = 0; r < ranks; ++r) {
    RankTrace rank;
    rank.rank = r;
    rank.graph = graph;
    traces.ranks.push_back(rank);
  }
  return traces;
}

TEST(Activity, RecordedTimesFillStripsFromFirstStart) {
  proto::Report r;
  AddRecordedActivity(Traces(1), &r);
  EXPECT_EQ(r.makespan_ps(), 60'000'000);
  EXPECT_EQ(r.activity_bucket_ps(), 100'000);
  ASSERT_EQ(r.activity_size(), 2);
  EXPECT_EQ(r.activity(0).lane(), "stream 7");
  EXPECT_EQ(r.activity(0).kind(), "compute");
  EXPECT_EQ(r.activity(0).busy(), std::string(300, '9') + std::string(150, '0') + std::string(150, '9'));
  EXPECT_EQ(r.activity(1).kind(), "host");
  EXPECT_EQ(r.activity(1).busy(), std::string(150, '9'));
}

TEST(Activity, ManyRanksAreSampledEvenly) {
  proto::Report r;
  AddRecordedActivity(Traces(64), &r);
  ASSERT_EQ(r.activity_size(), 2 * ActivityMeter::kRanks);
  EXPECT_EQ(r.activity(2).rank(), 8);
  EXPECT_EQ(r.activity(15).rank(), 56);
}

TEST(DeviceKernels, ExcludeHostOperations) {
  const TraceSet traces = Traces(2);
  const std::vector<ComputeTimes> times = {
      {std::vector<Time>{Time::Micros(30), Time::Micros(10), Time::Micros(15)},
       {TimeSource::kRecorded, TimeSource::kRecorded, TimeSource::kRecorded}}};
  RunDescription run;
  run.traces = &traces;
  run.times = &times;
  proto::Report r;
  r.set_makespan_ps(100'000'000);
  for (int rank = 0; rank < 2; ++rank) {
    r.add_rank()->set_compute_busy_ps(40'000'000);
    r.mutable_rank(rank)->set_exposed_comm_ps(20'000'000);
  }
  AddDeviceKernels(run, &r);
  EXPECT_DOUBLE_EQ(r.device_busy_share(), 0.6);
  ASSERT_EQ(r.kernel_size(), 2);
  EXPECT_EQ(r.kernel(0).name(), "gemm");
  EXPECT_EQ(r.kernel(0).count(), 2u);
  EXPECT_EQ(r.kernel(0).time_ps(), 60'000'000);
  EXPECT_DOUBLE_EQ(r.kernel(0).share(), 0.75);
  EXPECT_DOUBLE_EQ(r.kernel(0).of_device(), 0.3);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
