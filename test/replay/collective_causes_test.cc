#include "replay/engine/causes/collective_causes.h"

#include <gtest/gtest.h>

namespace chakra::CHAKRA_FILE {
namespace {

const Time us = Time::Nanos(1000);

CauseRef Node(uint32_t rank, Time at) {
  Cause cause;
  cause.rank = rank;
  cause.at = at;
  return Because({}, std::move(cause));
}

TEST(CallCauses, SwitchesStartWithTheFirstArrival) {
  CallCauses why;
  why.Open(2, Node(1, us));
  why.Arrive(1, Node(1, us));
  why.Arrive(0, Node(0, us * 3));
  EXPECT_EQ(why.StartOf(0)->rank, 0u);
  EXPECT_EQ(why.StartOf(1).at(), us);
  EXPECT_EQ(why.StartOf(2).at(), us) << "a switch";
}

TEST(CallCauses, ReceiversContinueBecauseOfTheSender) {
  CallCauses why;
  why.Open(2, Node(0, us));
  why.OpenStreams(2);
  why.Continue(0, Node(0, us));
  why.Continue(1, Node(1, us * 2));
  Flow flow;
  flow.src = 4;
  flow.dst = 5;
  flow.bytes = 96;
  flow.delay = Time::Nanos(7);
  why.Send(0, 3, flow);
  why.Received(3, 1, {.call = 8, .rank = 1, .row = 9}, us * 6);
  const CauseRef& cause = why.stream(1);
  EXPECT_EQ(cause->kind, Cause::kFlow);
  EXPECT_EQ(cause->of, 8u);
  EXPECT_EQ(cause->row, 9u);
  EXPECT_EQ(cause->src, 4);
  EXPECT_EQ(cause->dst, 5);
  EXPECT_EQ(cause->bytes, 96u);
  EXPECT_EQ(cause->software, Time::Nanos(7));
  EXPECT_EQ(cause->parent->rank, 0u) << "the sender, not what the receiver did before";
}

TEST(CallCauses, MessagesOfAConnectionArriveInOrder) {
  CallCauses why;
  why.Open(2, {});
  why.OpenStreams(2);
  why.Send(0, 0, {.src = 0, .dst = 1, .bytes = 1});
  why.Spend(0, Spender{.call = 0, .rank = 0}.Until(us, Cause::kOverhead));
  why.Send(0, 0, {.src = 0, .dst = 1, .bytes = 2});
  why.Received(0);  // nobody waited for the first
  why.Received(0, 1, {}, us * 4);
  EXPECT_EQ(why.stream(1)->bytes, 2u);
  EXPECT_EQ(why.stream(1)->parent->kind, Cause::kOverhead);
}

TEST(CallCauses, WaitingForDepartureCountsAsSending) {
  CallCauses why;
  why.Open(1, {});
  why.OpenStreams(1);
  why.Send(0, 2, {.src = 6, .dst = 7, .bytes = 10});
  why.Left(0, 2, {.call = 1, .rank = 3, .row = 4}, us);
  EXPECT_EQ(why.stream(0)->kind, Cause::kSending);
  EXPECT_EQ(why.stream(0)->src, 6);
  EXPECT_EQ(why.stream(0)->rank, 3u);
}

TEST(CallCauses, CausesOfSwitchesHaveNoNode) {
  const Cause cause = Spender{.call = 5}.Until(us, Cause::kFlow);
  EXPECT_EQ(cause.row, kNoRow);
  EXPECT_EQ(cause.of, 5u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
