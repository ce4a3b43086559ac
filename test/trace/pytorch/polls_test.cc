#include "trace/import/timeline/polls.h"

#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

// An operator that launches a kernel of 300 us and goes on `react` ns after the end of the kernel.
KinetoBuilder& Notify(KinetoBuilder* k, int64_t at, int64_t react) {
  k->Op(1, "dispatch", at, 306000 + react + 5000).Launch(1, at + 1000, 2000, 7, "notify", at + 6000, 300000);
  return k->Op(1, "copy", at + 306000 + react, 1000);
}

TEST(FindPolls, CallGoesOnWhenItsKernelEnds) {
  KinetoBuilder k;
  Notify(&k, 0, 4000);
  const Linked l = Link(k);
  EXPECT_EQ(l.Edge("notify", "dispatch.1"), "sync+0");
  EXPECT_EQ(l.t.nodes[l.Find("dispatch.1")].start, 306000);
  EXPECT_EQ(l.t.nodes[l.Find("dispatch.1")].dur, 4000) << "the host's own work after the wait";
  ExpectReplaysItself(l);
}

TEST(FindPolls, LongWorkIsNoPoll) {
  KinetoBuilder k;
  Notify(&k, 0, 90000);
  const Linked l = Link(k);
  EXPECT_EQ(l.t.nodes[l.Find("dispatch.1")].start, 3000);
  ExpectReplaysItself(l);
}

TEST(FindPolls, IgnoresOneMatchAmongMany) {
  KinetoBuilder k;
  for (int i = 0; i < 4; ++i) Notify(&k, i * 1000000, i == 2 ? 1000 : 90000);
  const DeviceTrace device = k.Trace();
  const HostThreads host = NestHostEvents(device, {});
  EXPECT_TRUE(FindPolls(device, host, OrderDevice(device, host, {}).ops).empty());
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
