#include "trace/import/timeline/device_order.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

// The host runs ahead of one stream: the kernels that it launches wait there.
TEST(DeviceOrder, QueuedKernelsFollowEachOther) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 60000)
                            .Launch(1, 1000, 2000, 7, "k1", 6000, 30000)
                            .Launch(1, 4000, 2000, 7, "k2", 37500, 10000)
                            .Launch(1, 7000, 2000, 7, "k3", 49000, 10000));
  EXPECT_EQ(l.Edge("k1", "k2"), "stream+1500");
  EXPECT_EQ(l.Edge("k2", "k3"), "stream+1500");
  EXPECT_EQ(l.Edge("k1", "k3"), "none");
  ExpectReplaysItself(l);
  // Launched earlier than it could run: an earlier launch alone changes nothing,
  // a shorter kernel does.
  const Played p = Play(l.t, l.Find("k1"), -10000);
  EXPECT_EQ(p.begin[l.Find("k2")], 27500);
  EXPECT_EQ(p.begin[l.Find("k3")], 39000);
}

TEST(DeviceOrder, IdleStreamWaitsForTheLaunch) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 60000)
                            .Launch(1, 1000, 2000, 7, "k1", 6000, 3000)
                            .Call(1, "late", 20000, 2000, 5)
                            .Kernel(7, "k2", 25000, 3000, 5));
  EXPECT_EQ(l.Edge("late", "k2"), "launch+3000");
  EXPECT_EQ(l.Edge("k1", "k2"), "stream+1000") << "the order is kept, and is not what held it";
  ExpectReplaysItself(l);
}

KinetoBuilder EventWait() {
  return KinetoBuilder()
      .Op(1, "a", 0, 90000)
      .Launch(1, 1000, 1000, 7, "k1", 6000, 30000)
      .Launch(1, 2100, 500, 8, "third", 6000, 31000)
      .Launch(1, 3000, 500, 7, "k0", 36000, 100);
}

TEST(DeviceOrder, WaitsForTheLastLaunchWithoutSyncEvents) {
  const Linked l = Link(EventWait()
                            .Call(1, "cudaEventRecord", 4000, 500, 3)
                            .Call(1, "cudaStreamWaitEvent", 5000, 500, 4)
                            .Launch(1, 7000, 2000, 20, "waits", 37500, 10000));
  EXPECT_EQ(l.Edge("k0", "waits"), "event_wait+1400");
  EXPECT_EQ(l.Edge("third", "waits"), "none");
  ExpectReplaysItself(l);
  EXPECT_EQ(Play(l.t, l.Find("k0"), 5000).begin[l.Find("waits")], 42500);
}

TEST(DeviceOrder, SyncEventsNameTheStreamAndTheRecord) {
  const Linked l = Link(EventWait()
                            .Call(1, "cudaEventRecord", 2700, 200, 3)
                            .Call(1, "cudaStreamWaitEvent", 5000, 500, 4)
                            .SyncRow(20, "Stream Wait Event", 5000, 1, 4, 8, 3)
                            .Launch(1, 7000, 2000, 20, "waits", 37500, 10000));
  EXPECT_EQ(l.Edge("third", "waits"), "event_wait+500");
  EXPECT_EQ(l.Edge("k0", "waits"), "none");
  ExpectReplaysItself(l);
}

TEST(DeviceOrder, RecordCoversOnlyEarlierLaunches) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 90000)
                            .Launch(1, 1000, 1000, 7, "k1", 6000, 4000)
                            .Call(1, "cudaEventRecord", 2500, 200, 3)
                            .Launch(1, 3000, 1000, 7, "k2", 11000, 4000)
                            .Call(1, "cudaStreamWaitEvent", 5000, 500, 4)
                            .SyncRow(20, "Stream Wait Event", 5000, 1, 4, 7, 3)
                            .Launch(1, 20000, 2000, 20, "waits", 25000, 10000));
  EXPECT_EQ(l.Edge("k1", "waits"), "event_wait+1000");
  EXPECT_EQ(l.Edge("k2", "waits"), "none");
  ExpectReplaysItself(l);
}

TEST(DeviceOrder, WaitHoldsItsOwnStream) {
  const auto waiting = [](bool row) {
    KinetoBuilder k = KinetoBuilder()
                          .Op(1, "a", 0, 90000)
                          .Launch(1, 1000, 1000, 7, "k1", 5000, 20000)
                          .Call(1, "cudaEventRecord", 2500, 200, 3)
                          .Call(1, "cudaStreamWaitEvent", 3000, 500, 4)
                          .Launch(1, 4000, 1000, row ? 8 : 7, "between", row ? 8000 : 26000, 1000)
                          .Launch(1, 6000, 1000, 20, "waits", 28000, 4000);
    if (row) k.SyncRow(20, "Stream Wait Event", 3000, 1, 4, 7, 3);
    return Link(k);
  };
  const Linked with_rows = waiting(true);
  EXPECT_EQ(with_rows.Edge("k1", "waits"), "event_wait+3000") << "not the launch that merely came next";
  EXPECT_EQ(with_rows.Edge("k1", "between"), "none");
  // The stream is not recorded: a stream does not wait for an event of its own.
  EXPECT_EQ(waiting(false).Edge("k1", "between"), "stream+1000");
  EXPECT_EQ(waiting(false).Edge("k1", "waits").substr(0, 10), "event_wait");
}

TEST(DeviceOrder, LateStreamWaitsForTheStreamBefore) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 90000)
                            .Launch(1, 1000, 1000, 7, "k1", 5000, 40000)
                            .Launch(1, 3000, 1000, 20, "k2", 47000, 4000)
                            .Launch(1, 6000, 1000, 21, "k3", 10000, 1000));
  EXPECT_EQ(l.Edge("k1", "k2"), "event_wait+2000") << "40 us late, and 2 us after the end of k1";
  EXPECT_EQ(l.Edge("k1", "k3"), "none");
  ExpectReplaysItself(l);
}

KinetoBuilder TwoStreams() {
  return KinetoBuilder()
      .Op(1, "a", 0, 90000)
      .Launch(1, 1000, 2000, 7, "k1", 6000, 30000)
      .Launch(1, 3100, 500, 8, "k2", 6000, 21000);
}

TEST(DeviceOrder, DeviceSynchronizeWaitsForEveryStream) {
  const Linked l = Link(TwoStreams().Call(1, "cudaDeviceSynchronize", 9000, 28000, 3));
  EXPECT_EQ(l.Edge("k1", "cudaDeviceSynchronize"), "sync+0");
  EXPECT_EQ(l.Edge("k2", "cudaDeviceSynchronize"), "sync+0");
  const TimelineNode& call = l.t.nodes[l.Find("cudaDeviceSynchronize")];
  EXPECT_EQ(call.start, 36000) << "what it does by itself begins when the last kernel has ended";
  EXPECT_EQ(call.dur, 1000);
  ExpectReplaysItself(l);
  EXPECT_EQ(Play(l.t, l.Find("k1"), -20000).begin[l.Find("cudaDeviceSynchronize")], 27000)
      << "k2 holds it then";
}

TEST(DeviceOrder, StreamSynchronizeWaitsForItsStream) {
  const Linked guessed = Link(TwoStreams().Call(1, "cudaStreamSynchronize", 9000, 28000, 3));
  EXPECT_EQ(guessed.Edge("k1", "cudaStreamSynchronize"), "sync+0")
      << "the stream that was busy until the return";
  EXPECT_EQ(guessed.Edge("k2", "cudaStreamSynchronize"), "none");
  const Linked with_rows = Link(TwoStreams()
                                    .Call(1, "cudaStreamSynchronize", 9000, 28000, 3)
                                    .SyncRow(8, "Stream Sync", 9000, 27000, 3));
  EXPECT_EQ(with_rows.Edge("k2", "cudaStreamSynchronize"), "sync+0") << "cuda_sync says which";
  EXPECT_EQ(with_rows.Edge("k1", "cudaStreamSynchronize"), "none");
  ExpectReplaysItself(guessed);
  ExpectReplaysItself(with_rows);
}

TEST(DeviceOrder, EventSynchronizeWaitsForTheRecordedEvent) {
  const KinetoBuilder k = KinetoBuilder()
                              .Op(1, "a", 0, 90000)
                              .Launch(1, 1000, 2000, 7, "k1", 6000, 30000)
                              .Call(1, "cudaEventRecord", 3100, 200, 5)
                              .Launch(1, 4000, 2000, 7, "k2", 36500, 20000);
  const Linked guessed = Link(KinetoBuilder(k).Call(1, "cudaEventSynchronize", 9000, 28000, 3));
  EXPECT_EQ(guessed.Edge("k1", "cudaEventSynchronize"), "sync+0");
  EXPECT_EQ(guessed.t.nodes[guessed.Find("cudaEventSynchronize")].dur, 1000);
  const Linked with_rows = Link(KinetoBuilder(k)
                                    .Call(1, "cudaEventSynchronize", 9000, 48500, 3)
                                    .SyncRow(7, "Event Sync", 9000, 1, 3, 7, 5));
  EXPECT_EQ(with_rows.Edge("k1", "cudaEventSynchronize"), "sync+0")
      << "the event was recorded before k2 was launched";
  EXPECT_EQ(with_rows.Edge("k2", "cudaEventSynchronize"), "none")
      << "although the call returned after the end of k2";
  ExpectReplaysItself(guessed);
  ExpectReplaysItself(with_rows);
}

TEST(DeviceOrder, SynchronisationWithoutAWaitIsOwnWork) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 90000)
                            .Launch(1, 1000, 2000, 7, "k1", 6000, 3000)
                            .Call(1, "cudaDeviceSynchronize", 19000, 2000, 3));
  const TimelineNode& call = l.t.nodes[l.Find("cudaDeviceSynchronize")];
  EXPECT_EQ(call.start, 19000);
  EXPECT_EQ(call.dur, 2000);
  EXPECT_EQ(l.Edge("k1", "cudaDeviceSynchronize"), "sync+0") << "a slower k1 would hold it";
  EXPECT_EQ(Play(l.t, l.Find("k1"), 20000).begin[l.Find("cudaDeviceSynchronize")], 29000);
}

TEST(DeviceOrder, CopyToPageableMemoryBlocksItsCall) {
  const KinetoBuilder k = KinetoBuilder().Op(1, "a", 0, 90000).Launch(1, 1000, 2000, 7, "k1", 6000, 30000);
  const Linked l = Link(KinetoBuilder(k)
                            .Call(1, "cudaMemcpyAsync", 5000, 40000, 5)
                            .OnDevice("gpu_memcpy", 7, "Memcpy DtoH (Device -> Pageable)", 37000, 2000, 5));
  EXPECT_EQ(l.Edge("Memcpy DtoH (Device -> Pageable)", "cudaMemcpyAsync"), "sync+0");
  EXPECT_EQ(l.t.nodes[l.Find("cudaMemcpyAsync")].dur, 6000) << "from the copy's end to the return";
  ExpectReplaysItself(l);
  const Linked plain = Link(KinetoBuilder(k)
                                .Call(1, "cudaMemcpy", 5000, 40000, 5)
                                .OnDevice("gpu_memcpy", 7, "Memcpy DtoH (Device -> Pinned)", 37000, 2000, 5));
  EXPECT_EQ(plain.Edge("Memcpy DtoH (Device -> Pinned)", "cudaMemcpy"), "sync+0")
      << "what is not Async blocks";
  const Linked page_locked =
      Link(KinetoBuilder(k)
               .Call(1, "cudaMemcpyAsync", 5000, 4000, 5)
               .OnDevice("gpu_memcpy", 7, "Memcpy DtoH (Device -> Pinned)", 37000, 2000, 5));
  EXPECT_EQ(page_locked.Edge("Memcpy DtoH (Device -> Pinned)", "cudaMemcpyAsync"), "none");
  EXPECT_EQ(page_locked.t.nodes[page_locked.Find("cudaMemcpyAsync")].dur, 4000);
}

TEST(DeviceOrder, CorrectsClockErrorsBelowAMicrosecond) {
  // The kernel seems to end 600 ns after the call that waited for it, and another call returned 300 ns before
  // that call.
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 90000)
                            .Launch(1, 1000, 2000, 7, "k1", 6000, 30600)
                            .Call(1, "cudaStreamSynchronize", 9000, 27000, 3)
                            .Op(2, "b", 0, 90000)
                            .Call(2, "cudaDeviceSynchronize", 9000, 26700, 4));
  const TimelineNode& k = l.t.nodes[l.Find("k1")];
  EXPECT_EQ(k.start + k.dur, 35700);
  EXPECT_EQ(l.t.nodes[l.Find("cudaStreamSynchronize")].start, 35700);
  EXPECT_EQ(l.t.nodes[l.Find("cudaDeviceSynchronize")].start, 35700);
  ExpectReplaysItself(l);
}

TEST(DeviceOrder, OverlappingOperationsGetSeparateLanes) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 90000)
                            .Launch(1, 1000, 2000, 7, "k1", 6000, 30000)
                            .Launch(1, 4000, 2000, 7, "k2", 16000, 40000)
                            .Launch(1, 7000, 2000, 7, "k3", 37000, 10000));
  ASSERT_EQ(l.t.lanes.size(), 2u);
  EXPECT_EQ(l.t.lanes[1].copy, 1u);
  EXPECT_EQ(l.t.nodes[l.Find("k1")].lane, l.t.nodes[l.Find("k3")].lane);
  EXPECT_NE(l.t.nodes[l.Find("k1")].lane, l.t.nodes[l.Find("k2")].lane);
  EXPECT_EQ(l.Edge("k1", "k3"), "stream+1000");
  EXPECT_EQ(l.Edge("k1", "k2"), "release+0") << "after a third of k1";
  EXPECT_EQ(l.Edge("k2", "k3"), "release+0");
  EXPECT_EQ(l.Repairs("device_lanes_split"), 1u);
  ExpectReplaysItself(l);
}

TEST(DeviceOrder, OverlapIsAReleaseNotACut) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 90000)
                            .Launch(1, 1000, 2000, 7, "k1", 6000, 30000)
                            .Launch(1, 4000, 2000, 7, "k2", 35000, 4000)
                            .Launch(1, 7000, 2000, 7, "k3", 40000, 4000));
  EXPECT_EQ(l.t.lanes.size(), 2u);
  EXPECT_EQ(l.t.nodes[l.Find("k1")].dur, 30000);
  EXPECT_EQ(l.Edge("k1", "k2"), "release+0");
  EXPECT_EQ(l.Edge("k2", "k3"), "stream+1000");
  EXPECT_EQ(l.Edge("k1", "k3"), "stream+1000") << "k1 may be the last to end if it takes longer";
  ExpectReplaysItself(l);
  const Played longer = Play(l.t, l.Find("k1"), 30000);
  EXPECT_EQ(longer.begin[l.Find("k2")], 64000) << "released in proportion";
}

TEST(DeviceOrder, CutsAndCountsOverlappingCommunication) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 90000)
                            .Launch(1, 1000, 2000, 7, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 6000, 30000)
                            .Launch(1, 4000, 2000, 7, "k2", 35000, 4000));
  EXPECT_EQ(l.t.lanes.size(), 1u);
  EXPECT_EQ(l.t.nodes[l.Find("ncclDevKernel_AllReduce_Sum_f32_RING_LL")].dur, 29000);
  EXPECT_EQ(l.Edge("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "k2"), "stream+0");
  EXPECT_EQ(l.Repairs("device_overlap_clipped"), 1u);
  ExpectReplaysItself(l);
}

TEST(DeviceOrder, KernelsOfAGraphHaveOneLaunch) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 90000)
                            .Call(1, "cudaGraphLaunch", 1000, 9000, 5)
                            .Kernel(7, "g1", 15000, 5000, 5)
                            .Kernel(7, "g2", 21000, 5000, 5)
                            .Kernel(8, "g3", 21000, 35000, 5)
                            .Kernel(7, "g4", 57000, 5000, 5));
  for (const char* g : {"g1", "g2", "g3", "g4"}) {
    const uint32_t launch = l.t.caller[l.t.nodes[l.Find(g)].event];
    ASSERT_NE(launch, kNoRow);
    EXPECT_EQ(l.device.name_of(l.device.events[launch]), "cudaGraphLaunch") << g;
  }
  EXPECT_EQ(l.Edge("g1", "g2"), "stream+1000");
  EXPECT_EQ(l.Edge("g3", "g4"), "event_wait+1000") << "the branches meet again";
  EXPECT_EQ(l.Edge("cudaGraphLaunch", "g1"), "launch+5000");
  ExpectReplaysItself(l);
}

TEST(DeviceOrder, KernelsLaunchedOutsideKeepOnlyStreamOrder) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 90000)
                            .Kernel(7, "early", 5000, 20000, 77)
                            .Launch(1, 10000, 2000, 7, "k1", 26000, 30000));
  EXPECT_EQ(l.Edge("window", "early"), "start+5000");
  EXPECT_EQ(l.Edge("early", "k1"), "stream+1000");
  EXPECT_EQ(l.Repairs("launched_outside_window"), 1u);
  ExpectReplaysItself(l);
}

TEST(DeviceOrder, ExplainsMissingCorrelationIds) {
  const auto detail = [](int correlation) {
    const Linked l = Link(KinetoBuilder().Op(1, "a", 0, 90000).Kernel(7, "k", 5000, 20000, correlation));
    for (const Repair& r : l.t.repairs) {
      if (r.kind == "launched_outside_window") return r.detail;
    }
    return std::string("none");
  };
  EXPECT_THAT(detail(-1), testing::HasSubstr("1 of them have no correlation id: record the host's calls"));
  EXPECT_THAT(detail(77), testing::Not(testing::HasSubstr("correlation")));
}

TEST(DeviceOrder, KernelBeforeItsLaunchFollowsThePreviousCall) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 50000)
                            .Launch(1, 10000, 3000, 7, "k", 9000, 1000)
                            .Launch(1, 20000, 3000, 7, "k2", 26000, 1000));
  EXPECT_EQ(l.Edge("a", "k"), "launch+0");
  EXPECT_EQ(l.t.nodes[l.Find("a")].dur, 9000) << "cut there";
  EXPECT_EQ(l.Repairs("started_before_launch"), 1u);
  ExpectReplaysItself(l);
}

TEST(DeviceOrder, CountsUnexplainedDelays) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 10000)
                            .Launch(1, 1000, 1000, 7, "k1", 5000, 1000)
                            .Launch(1, 3000, 1000, 7, "k2", 7000, 1000)
                            .Launch(1, 6000, 1000, 7, "k3", 60000, 1000));
  EXPECT_EQ(l.Repairs("unexplained_device_delay"), 1u);
  ExpectReplaysItself(l);
}

// A kernel of thousands of blocks fills the device; another stream's kernel begins as the last of them do.
TEST(DeviceOrder, BlockedKernelBeginsWithTheLastBlocks) {
  const auto link = [](int64_t large, int64_t begin, int blocks) {
    return Link(KinetoBuilder()
                    .Call(1, "cudaLaunchKernel", 1000, 1000, 1)
                    .Call(1, "cudaLaunchKernel", 100000, 1000, 2)
                    .Kernel(7, "large", large, 1000000, 1, absl::StrCat(",\"grid\":[", blocks, ",1,1]"))
                    .Kernel(20, "small", begin, 5000, 2));
  };
  const Linked l = link(10000, 990000, 15000);
  EXPECT_EQ(l.Edge("large", "small"), "release+0");
  ExpectReplaysItself(l);
  EXPECT_EQ(l.Repairs("unexplained_device_delay"), 0u);
  EXPECT_EQ(Play(l.t, l.Find("large"), 500000).begin[l.Find("small")], 10000 + 1470000);
  EXPECT_EQ(link(10000, 990000, 500).Edge("large", "small"), "none") << "few blocks leave room";
  EXPECT_EQ(link(10000, 800000, 15000).Edge("large", "small"), "none") << "many blocks had still to begin";
  EXPECT_EQ(link(400000, 1395000, 15000).Edge("large", "small"), "none")
      << "it was not what filled the device";
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
