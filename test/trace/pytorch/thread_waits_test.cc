#include "trace/import/timeline/thread_waits.h"

#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

// The waits of a capture: "thread 2 from 1000 until 5000 because of thread 1 at 5000: wake_up", one line for
// each.
class Waiting {
 public:
  explicit Waiting(const KinetoBuilder& k)
      : device_(k.Trace()), waits_(FindThreadWaits(device_, NestHostEvents(device_, {}))) {}
  std::string Waits() const {
    std::string out;
    for (const ThreadWait& w : waits_) {
      absl::StrAppend(&out, "thread ", device_.threads[w.thread].tid, " from ", w.from, " until ", w.until,
                      " because of thread ", device_.threads[w.source].tid, " at ", w.source_time, ": ",
                      std::string(Name(w.kind)), "\n");
    }
    return out;
  }

 private:
  DeviceTrace device_;
  std::vector<ThreadWait> waits_;
};

TEST(FindThreadWaits, IdleThreadGoesOnWhenAnotherEnds) {
  const Waiting n(KinetoBuilder().Op(1, "a", 0, 10000).Op(2, "work", 9000, 50000).Op(1, "b", 62000, 1000));
  EXPECT_EQ(n.Waits(), "thread 1 from 10000 until 59000 because of thread 2 at 59000: wake_up\n");
}

TEST(FindThreadWaits, WorkingThreadHandsOver) {
  const Waiting n(
      KinetoBuilder().Op(1, "a", 0, 100000).Op(1, "call", 30000, 10000).Op(2, "worker", 42000, 20000));
  EXPECT_EQ(n.Waits(), "thread 2 from 0 until 40000 because of thread 1 at 40000: hand_off\n");
}

TEST(FindThreadWaits, BackwardThreadGetsWorkInsideAnAnnotation) {
  const Waiting n(KinetoBuilder()
                      .Op(1, "fwd", 0, 40000)
                      .Annotation(1, "## backward ##", 41000, 80000)
                      .Op(2, "autograd::engine::evaluate_function: Mul", 45000, 65000)
                      .Op(1, "optimizer", 125000, 5000));
  EXPECT_EQ(n.Waits(),
            "thread 1 from 41000 until 110000 because of thread 2 at 110000: wake_up\n"
            "thread 2 from 0 until 41000 because of thread 1 at 41000: hand_off\n");
}

TEST(FindThreadWaits, ShortGapsAndIdleThreadsExplainNothing) {
  EXPECT_EQ(Waiting(KinetoBuilder().Op(1, "a", 0, 10000).Op(2, "work", 9000, 18000).Op(1, "b", 29999, 1000))
                .Waits(),
            "")
      << "19,999 ns and 9,000 ns are gaps of a thread's own";
  EXPECT_EQ(Waiting(KinetoBuilder().Op(1, "a", 0, 10000).Op(2, "work", 9000, 20000).Op(1, "b", 60000, 1000))
                .Waits(),
            "")
      << "the other was busy for less than half of it: host work that no event covers";
}

TEST(FindThreadWaits, BackwardThreadWaitsForAMostlyIdleCaller) {
  const Waiting n(KinetoBuilder()
                      .Op(1, "forward", 0, 1000)
                      .Op(2, "autograd::engine::evaluate_function: Mul", 90000, 1000)
                      .Op(2, "autograd::engine::evaluate_function: Add", 150000, 1000)
                      .Op(1, "optimizer", 400000, 5000)
                      .Op(1, "forward", 600000, 1000)
                      .Op(2, "autograd::engine::evaluate_function: Mul", 690000, 1000));
  EXPECT_EQ(n.Waits(),
            "thread 1 from 1000 until 151000 because of thread 2 at 151000: wake_up\n"
            "thread 2 from 0 until 1000 because of thread 1 at 1000: hand_off\n"
            "thread 2 from 151000 until 601000 because of thread 1 at 601000: hand_off\n")
      << "the 59 us between Mul and Add are a gap of the backward thread's own";
}

TEST(FindThreadWaits, WorkingCallerDoesNotWait) {
  const Waiting n(KinetoBuilder()
                      .Op(1, "forward", 0, 1000)
                      .Op(2, "autograd::engine::evaluate_function: Mul", 5000, 90000)
                      .Op(1, "other work", 40000, 9000));
  EXPECT_EQ(n.Waits(), "thread 2 from 0 until 1000 because of thread 1 at 1000: hand_off\n");
}

TEST(FindThreadWaits, AddsUpBusyTimeOfOtherThreads) {
  const Waiting n(KinetoBuilder()
                      .Op(1, "a", 0, 10000)
                      .Op(2, "x", 10000, 30000)
                      .Op(3, "y", 50000, 30000)
                      .Op(1, "b", 100000, 1000));
  EXPECT_EQ(n.Waits(),
            "thread 1 from 10000 until 80000 because of thread 3 at 80000: wake_up\n"
            "thread 3 from 0 until 40000 because of thread 2 at 40000: wake_up\n");
}

TEST(FindThreadWaits, WatchdogFollowsOtherThreads) {
  const Waiting n(KinetoBuilder()
                      .Op(1, "a", 0, 10000)
                      .Call(9, "cudaEventQuery", 5000, 10, 5)
                      .Op(1, "b", 60000, 1000)
                      .Call(9, "cudaEventQuery", 105000, 10, 6)
                      .Op(1, "c", 200000, 1000));
  EXPECT_EQ(n.Waits(), "thread 9 from 5010 until 61000 because of thread 1 at 61000: wake_up\n");
}

TEST(FindThreadWaits, CollectiveWorkerWaitsForCalls) {
  const Waiting n(KinetoBuilder()
                      .Op(1, "c10d::allreduce_", 1000, 100)
                      .Annotation(4, "gloo:all_reduce", 1200, 5000)
                      .Op(1, "c10d::allreduce_", 90000, 100)
                      .Annotation(4, "gloo:all_reduce", 90200, 5000));
  EXPECT_EQ(n.Waits(), "thread 4 from 6200 until 90100 because of thread 1 at 90100: wake_up\n")
      << "nothing tells what the first thread did";
}

TEST(FindThreadWaits, MessageEndsTheIdleTimeOfItsThread) {
  const Waiting n(KinetoBuilder()
                      .Op(1, "c10d::recv_", 1000, 100)
                      .Annotation(1, "gloo:recv", 1050, 5000)
                      .Op(1, "a", 6100, 100)
                      .Op(1, "c10d::recv_", 10000, 100)
                      .Op(1, "c10d::recv_", 10200, 100)
                      .Annotation(1, "gloo:recv", 10050, 2000)
                      .Annotation(1, "gloo:recv", 10250, 8000)
                      .Op(1, "a", 20000, 100));
  EXPECT_EQ(n.Waits(),
            "thread 1 from 1100 until 6050 because of thread 1 at 6050: collective\n"
            "thread 1 from 10300 until 12050 because of thread 1 at 12050: collective\n"
            "thread 1 from 12050 until 18250 because of thread 1 at 18250: collective\n")
      << "however short; of two, each";
}

TEST(FindThreadWaits, CollectiveMustCoverHalfOfTheIdleTime) {
  const auto waits = [](int64_t until) {
    return Waiting(KinetoBuilder()
                       .Op(1, "c10d::allreduce_", 1000, 100)
                       .Annotation(1, "gloo:all_reduce", 1050, until - 1050)
                       .Op(1, "a", 101100, 100))
        .Waits();
  };
  EXPECT_EQ(waits(51200), "thread 1 from 1100 until 51200 because of thread 1 at 51200: collective\n");
  EXPECT_EQ(waits(51000), "");
}

TEST(BackwardCallers, ArrowsGiveTheCallerElseMostOperators) {
  const auto callers = [](const KinetoBuilder& k) {
    const DeviceTrace device = k.Trace();
    std::vector<std::string> out;
    for (const uint32_t c : BackwardCallers(device, NestHostEvents(device, {})))
      out.push_back(c == kNoRow ? "none" : device.threads[c].tid);
    return absl::StrJoin(out, " ");
  };
  KinetoBuilder k;
  k.Op(1, "a", 0, 1000).Op(3, "x", 0, 1000).Op(3, "y", 2000, 1000);
  k.Op(2, "autograd::engine::evaluate_function: Mul", 9000, 1000);
  EXPECT_EQ(callers(k), "none none 3") << "threads in the order of their first event: 1, 3, 2";
  k.Raw(R"({"ph":"s","cat":"fwdbwd","id":5,"name":"fwdbwd","pid":1,"tid":1,"ts":0.000})");
  k.Raw(R"({"ph":"f","cat":"fwdbwd","id":5,"name":"fwdbwd","pid":1,"tid":2,"ts":9.000,"bp":"e"})");
  EXPECT_EQ(callers(k), "none none 1");
  k.Op(4, "autograd::engine::evaluate_function: Sum", 20000, 1000)
      .Op(4, "p", 30000, 10)
      .Op(4, "q", 31000, 10);
  EXPECT_EQ(callers(k), "none none 1 none") << "most of what thread 4 does is not autograd's";
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
