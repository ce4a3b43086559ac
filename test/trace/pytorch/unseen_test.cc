// Kernels that a capture lacks, and kernels whose ends cannot be.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/trace/pytorch/capture_builder.h"
#include "trace/import/timeline/overruns.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

TEST(Unseen, CountsLaunchesWithoutKernels) {
  const Linked l = Link(KinetoBuilder()
                            .Launch(1, 1000, 100, 7, "k", 5000, 1000)
                            .Call(1, "cudaLaunchKernel", 2000, 100, 1)
                            .Call(1, "cudaLaunchKernelExC", 3000, 100, 2)
                            .Call(1, "hipGraphLaunch", 4000, 100, 3)
                            .Call(1, "hipGraphLaunch_spt", 4500, 100, 5)
                            .Call(1, "cudaMemcpyAsync", 5000, 100, 4));
  EXPECT_EQ(l.t.unseen.launches, 3u);
  EXPECT_EQ(l.t.unseen.launches_unseen, 2u);
  EXPECT_EQ(l.t.unseen.graphs, 2u);
  EXPECT_EQ(l.t.unseen.graphs_unseen, 2u);
  EXPECT_TRUE(l.t.unseen.Counts());
  EXPECT_EQ(l.Repairs("device_work_unseen"), 4u);
}

TEST(Unseen, IgnoresCallsThatLaunchNothing) {
  const Linked l = Link(KinetoBuilder()
                            .Call(1, "cudaStreamBeginCapture", 0, 100, 1)
                            .Call(1, "cudaLaunchKernel", 1000, 100, 2)
                            .Call(1, "cudaStreamEndCapture", 2000, 100, 3)
                            .Call(1, "cudaLaunchKernel", 3000, 1000, 4)  // its driver's call has the kernel
                            .Event("cuda_driver", "cuLaunchKernel", 1, "1", 3100, 100, ",\"correlation\":5")
                            .Kernel(7, "k", 5000, 1000, 5));
  EXPECT_EQ(l.t.unseen.launches, 1u);
  EXPECT_FALSE(l.t.unseen.any());
}

// Ten kernels of 20 us each 50 us; `wrong` says how long the third one is, in us.
DeviceTrace Kernels(int64_t wrong, const std::string& third) {
  KinetoBuilder k;
  for (int i = 0; i < 10; ++i) {
    k.Launch(1, 1000 + 50000 * i, 100, 7, i == 2 ? third : "k", 10000 + 50000 * i,
             i == 2 ? wrong * 1000 : 20000);
  }
  return k.Trace();
}

int64_t Third(const DeviceTrace& t) {
  int kernels = 0;
  for (const Event& e : t.events) {
    if (OnDevice(e.kind) && ++kernels == 3) return e.dur;
  }
  return -1;
}

TEST(Overruns, CutsKernelsAtLaterOnesOfTheirStream) {
  DeviceTrace t = Kernels(3400000, "k");
  CutOverruns(&t);
  EXPECT_EQ(Third(t), 50000);
  ASSERT_EQ(t.repairs.size(), 1u);
  EXPECT_EQ(t.repairs[0].kind, "device_duration_cut");
  EXPECT_EQ(t.repairs[0].count, 1u);
  t = Kernels(3400000, "another");  // its usual length is unknown, but it is much too long
  CutOverruns(&t);
  EXPECT_EQ(Third(t), 50000);
}

TEST(Overruns, CutsKernelsAtCallsThatWaitedForThem) {
  KinetoBuilder k;
  for (int i = 0; i < 4; ++i)
    k.Launch(1, 1000 + 50000 * i, 100, 7, "k", 10000 + 50000 * i, i == 3 ? 3400000000 : 20000);
  DeviceTrace t = k.Call(1, "hipDeviceSynchronize", 152000, 40000, 1).Trace();
  CutOverruns(&t);
  for (const Event& e : t.events) {
    if (OnDevice(e.kind)) {
      EXPECT_LE(e.ts + e.dur, 192000);
    }
  }
  EXPECT_EQ(t.repairs.size(), 1u);
}

TEST(Overruns, KeepsPossibleEnds) {
  DeviceTrace t = Kernels(60, "k");  // it ends while the next one runs
  CutOverruns(&t);
  EXPECT_EQ(Third(t), 60000);
  t = Kernels(400, "another");  // streams that share a queue
  CutOverruns(&t);
  EXPECT_EQ(Third(t), 400000);
  t = Kernels(3400000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");  // it waits for others
  CutOverruns(&t);
  EXPECT_EQ(Third(t), 3400000000);
  EXPECT_TRUE(t.repairs.empty());
}

TEST(LostTimes, IgnoresFewEventsWithoutATime) {
  const std::string zero =
      "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":0,\"dur\":0,\"args\":{"
      "\"device\":0,"
      "\"stream\":7,\"correlation\":9}}";
  const std::string op =
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1700000000000000,\"dur\":"
      "5}";
  const auto read = [](const std::string& events) {
    const std::string text = absl::StrCat("{\"traceEvents\":[", events, "]}");
    MemorySource source(text);
    return ReadKineto(&source, "k.json");
  };
  auto t = read(absl::StrCat(zero, ",", op, ",", op));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->base_ns, 1700000000000000000);
  EXPECT_EQ(t->events.size(), 2u);
  EXPECT_EQ(t->repairs.at(0).kind, "kineto_time_lost");
  std::string far = op;
  far.replace(far.find("1700"), 4, "1600");
  t = read(absl::StrCat(far, ",", op, ",", op, ",", op));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->events.size(), 3u);
  t = read(absl::StrCat(far, ",", far, ",", op, ",", op));
  ASSERT_FALSE(t.ok());
  EXPECT_NE(t.status().message().find("expected \"ts\" of one clock"), std::string::npos) << t.status();
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
