// An error in one step of a plan is refused, and the error names the step.
#include <random>

#include "absl/strings/str_cat.h"
#include "plan_testing.h"
#include "replay/collectives/proof.h"
#include "replay/collectives/validate.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

TEST(PlanRefusal, NamesMemberStreamAndStep) {
  Plan plan = Spread(Build(T::kAllReduce, 5));
  plan.programs[3].steps[7].chunk = (plan.programs[3].steps[7].chunk + 1) % 5;
  EXPECT_THAT(
      Refusal(plan),
      HasSubstr("plan ring for all_reduce on 5 members: member 3, stream 0, step 7 (recv and add chunk"));
  EXPECT_THAT(Refusal(plan), HasSubstr("sent by member 2, stream 0, step 6 (send chunk 4 to member 3)"));
}

TEST(PlanRefusal, RefusesLostData) {
  Plan plan = Spread(Build(T::kReduceScatter, 4));
  plan.programs[2].steps[1].op = Op::kRecv;  // overwrites instead of adding
  EXPECT_THAT(Refusal(plan), HasSubstr("member 2, stream 0, step 1 (recv chunk 0 from member 1): "
                                       "overwrites what member 2 had of block 0"));
}

TEST(PlanRefusal, RefusesDataAddedTwice) {
  const Plan plan = Hand(T::kAllReduce, 2, 1,
                         {{{Op::kSend, 0, 1, 0, 1}, {Op::kRecvReduce, 0, 1, 0, 1}},
                          {{Op::kRecvReduce, 0, 0, 0, 1}, {Op::kSend, 0, 0, 0, 1}}});
  EXPECT_THAT(Refusal(plan), HasSubstr("member 0, stream 0, step 1 (recv and add chunk 0 from member 1): "
                                       "adds member 0's data twice, sent by member 1, stream 0, step 1"));
}

TEST(PlanRefusal, RefusesDeadlocks) {
  Plan plan = Build(T::kAllGather, 4);
  std::swap(plan.programs[0].steps[0], plan.programs[0].steps[1]);  // all receive before anyone sends
  EXPECT_THAT(Refusal(plan),
              HasSubstr("member 0, stream 0, step 0 (recv chunk 3 from member 3): waits forever; these steps "
                        "wait for each other: member 3, stream 0, step 0"));
}

TEST(PlanRefusal, RefusesUnpairedMessages) {
  Plan plan = Build(T::kBroadcast, 2);
  plan.programs[0].steps.clear();
  plan.programs[0].streams = {{0, 0}};
  EXPECT_THAT(Refusal(plan), HasSubstr("member 1, stream 0, step 0 (recv chunk 0 from member 0): waits for a "
                                       "message that never comes: no step sends on connection 0"));
  plan = Hand(T::kBroadcast, 2, 1,
              {{{Op::kSend, 0, 1, 0, 1}}, {{Op::kRecv, 0, 0, 0, 1}, {Op::kRecv, 0, 0, 0, 1}}});
  EXPECT_THAT(Refusal(plan), HasSubstr("member 1, stream 0, step 1 (recv chunk 0 from member 0): waits for a "
                                       "message that never comes: member 0, stream 0 has ended"));
  plan = Hand(T::kBroadcast, 2, 1,
              {{{Op::kSend, 0, 1, 0, 1}, {Op::kSend, 0, 1, 0, 1}}, {{Op::kRecv, 0, 0, 0, 1}}});
  EXPECT_THAT(Refusal(plan),
              HasSubstr("member 0, stream 0, step 1 (send chunk 0 to member 1): sends a message "
                        "that no step receives"));
}

TEST(PlanRefusal, RefusesImpossibleSteps) {
  const auto with = [](Step first) {
    return Refusal(Hand(T::kBroadcast, 2, 2, {{first, {Op::kSend, 0, 1, 0, 2}}, {{Op::kRecv, 0, 0, 0, 2}}}));
  };
  EXPECT_THAT(with({Op::kSend, 0, 2, 0, 1}), HasSubstr("peer 2; expected 0 to 1"));
  EXPECT_THAT(with({Op::kSend, 0, 0, 0, 1}), HasSubstr("not itself"));
  EXPECT_THAT(with({Op::kSend, 0, -1, 0, 1}), HasSubstr("peer -1"));
  EXPECT_THAT(with({Op::kSend, 1, 1, 0, 1}), HasSubstr("connection 1 of member 1, which has 1"));
  EXPECT_THAT(with({Op::kSend, 0, 1, 1, 2}), HasSubstr("chunks 1 to 2; expected within 0 to 1"));
  EXPECT_THAT(with({Op::kSend, 0, 1, -1, 1}), HasSubstr("expected within 0 to 1"));
  EXPECT_THAT(with({Op::kSend, 0, 1, 0, -1}), HasSubstr("a count of -1"));
  EXPECT_THAT(with({Op::kSend, 0, 1, 0, INT32_MAX}), HasSubstr("expected within 0 to 1"));
  EXPECT_THAT(with({Op::kCopy, 0, 0, 0, 1}), HasSubstr("overlap"));
  EXPECT_THAT(with({Op::kCopy, 0, 2, 0, 1}), HasSubstr("expected within 0 to 1"));
  EXPECT_THAT(with({Op::kCopy, 0, 1, 0, 0}), HasSubstr("a count of 0; expected 1 or more"));
  EXPECT_THAT(with({Op::kCopy, 0, 1, 0, 1}), HasSubstr("may differ in size"));
  EXPECT_THAT(with({Op::kAwait, 0, 1, 1, 0}), HasSubstr("stream 1; expected another of 0 to 0"));
  EXPECT_THAT(with({static_cast<Op>(9), 0, 1, 1, 0}), HasSubstr("no such operation"));
}

TEST(PlanRefusal, RefusesSharedEndOfConnection) {
  Plan plan = Hand(T::kReduce, 3, 1,
                   {{{Op::kRecvReduce, 0, 1, 0, 1}, {Op::kRecvReduce, 0, 2, 0, 1}},
                    {{Op::kSend, 0, 0, 0, 1}},
                    {{Op::kSend, 0, 0, 0, 1}}});
  EXPECT_THAT(Refusal(plan),
              HasSubstr("member 2, stream 0, step 0 (send chunk 0 to member 0): connection 0 of "
                        "member 0 has another sender, member 1, stream 0"));
  plan = Hand(T::kReduce, 2, 1, {{{Op::kRecvReduce, 0, 1, 0, 1}}, {{Op::kSend, 0, 0, 0, 1}}});
  plan.programs[0].steps[0].peer = 1;
  EXPECT_EQ(Refusal(plan), "");
  plan = Hand(T::kReduce, 3, 1,
              {{{Op::kRecvReduce, 0, 2, 0, 1}, {Op::kRecvReduce, 1, 2, 0, 1}},
               {{Op::kSend, 0, 0, 0, 1}},
               {{Op::kSend, 1, 0, 0, 1}}});
  EXPECT_THAT(Refusal(plan), HasSubstr("connection 0 carries what member 1 sends"));
}

TEST(PlanRefusal, RefusesBadPrograms) {
  const Plan good = Build(T::kBroadcast, 3);
  Plan plan = good;
  plan.programs.pop_back();
  EXPECT_THAT(Refusal(plan), HasSubstr("2 programs; expected 3"));
  plan = good;
  plan.programs[1].streams[0].end = 9;
  EXPECT_THAT(Refusal(plan), HasSubstr("member 1: a stream holds steps [0, 9)"));
  plan = good;
  plan.programs[1].streams[0].end = 0;
  EXPECT_THAT(Refusal(plan), HasSubstr("steps from 0 on belong to no stream"));
  plan = good;
  plan.stream_base.clear();
  EXPECT_THAT(Refusal(plan), HasSubstr("stream_base"));
  plan = good;
  plan.switches = {{0, 3}};
  plan.programs.push_back({});
  EXPECT_THAT(Refusal(plan), HasSubstr("switch 0 lies between members 0 and 3; expected two of 0 to 2"));
  EXPECT_THAT(Refusal(good, 3), HasSubstr("root 3; expected 0 to 2"));
  plan = Build(T::kReduceScatter, 3);
  plan.parts = 2;
  EXPECT_THAT(Refusal(plan), HasSubstr("bytes are cut into 2 chunks; expected a multiple of 3"));
}

// Plans of each kind, with one step changed in a harmful way.
struct Change {
  const char* what;
  int node, step;  // step of the program
};

// Returns true if the change was possible.
bool Mutate(Plan* plan, std::mt19937_64& random, Change* change) {
  const auto pick = [&](size_t n) { return static_cast<int>(random() % n); };
  change->node = pick(plan->programs.size());
  Program& program = plan->programs[static_cast<size_t>(change->node)];
  if (program.steps.empty()) return false;
  change->step = pick(program.steps.size());
  Step& step = program.steps[static_cast<size_t>(change->step)];
  const bool local = !IsSend(step.op) && !IsReceive(step.op);
  const bool at_switch = change->node >= plan->members;
  const bool barrier = plan->type == T::kBarrier;
  const bool collects = plan->type == T::kAllToAll && plan->output.count == 0;
  if (local) return false;
  switch (pick(6)) {
    case 0:
      change->what = "drop";
      for (Stream& s : program.streams) {
        if (s.begin > static_cast<uint32_t>(change->step)) --s.begin;
        if (s.end > static_cast<uint32_t>(change->step)) --s.end;
      }
      for (Step& s : program.steps) {
        if (s.op == Op::kAwait) return false;  // would change which steps are awaited
      }
      program.steps.erase(program.steps.begin() + change->step);
      return true;
    case 1:
      change->what = "op";
      if (!IsReceive(step.op) || at_switch || barrier || collects) return false;
      step.op = step.op == Op::kRecv ? Op::kRecvReduce : Op::kRecv;
      return true;
    case 2:
      change->what = "chunk";
      if (plan->chunks == 1 || barrier) return false;
      // The other chunk may hold a copy of the data.
      if (IsSend(step.op) && std::any_of(program.steps.begin(), program.steps.end(),
                                         [](const Step& s) { return s.op == Op::kCopy; }))
        return false;
      step.chunk = (step.chunk + 1 + pick(static_cast<size_t>(plan->chunks - 1))) % plan->chunks;
      return true;
    case 3:
      change->what = "peer";
      step.peer = (step.peer + 1 + pick(static_cast<size_t>(plan->nodes() - 1))) % plan->nodes();
      return true;
    case 4:
      change->what = "count";
      if (barrier) return false;
      step.count += pick(2) == 0 ? 1 : -1;
      return true;
    default: {
      change->what = "swap";  // a send before the receive whose data it forwards
      // In a scatter over a tree, members already have the data that they forward.
      if (plan->algorithm == "scatter_all_gather") return false;
      if (barrier || collects || static_cast<size_t>(change->step) + 1 == program.steps.size()) return false;
      Step& next = program.steps[static_cast<size_t>(change->step) + 1];
      if (!IsReceive(step.op) || !IsSend(next.op) || step.chunk != next.chunk || step.count != next.count)
        return false;
      for (const Stream& s : program.streams) {
        if (s.end == static_cast<uint32_t>(change->step) + 1) return false;
      }
      std::swap(step, next);
      return true;
    }
  }
}

TEST(PlanRefusal, FindsAnyChangedStep) {
  std::mt19937_64 random(4);
  int made = 0, named = 0;
  for (const int n : {2, 3, 4, 6, 7, 8, 12}) {
    for (const Plan& good : AllPlans(n, 0)) {
      const Plan spread = Spread(good);
      ASSERT_EQ(ValidatePlan(spread, 0), absl::OkStatus());
      for (int trial = 0; trial < 40; ++trial) {
        Plan plan = spread;
        Change change{};
        if (!Mutate(&plan, random, &change)) continue;
        PlanFault fault;
        const absl::Status status = ProvePlan(plan, {}, &fault);
        const std::string message(status.message());
        const std::string context =
            absl::StrCat(good.algorithm, " for ", std::string(Name(good.type)), " on ", n, ": ", change.what,
                         " at node ", change.node, ", step ", change.step, ": ", message);
        EXPECT_FALSE(status.ok()) << context;
        EXPECT_THAT(message, testing::ContainsRegex("(member|switch) [0-9]+, stream [0-9]+, step [0-9]+ \\("))
            << context;
        EXPECT_GE(fault.step, 0) << context;
        const std::string node = change.node < n ? absl::StrCat("member ", change.node) : "switch ";
        ++made;
        named += message.find(node) != std::string::npos ? 1 : 0;
      }
    }
  }
  EXPECT_GT(made, 2000);
  // In most cases, the error names the changed member or its partner.
  EXPECT_GT(named, made * 8 / 10) << named << " of " << made;
  RecordProperty("named", named);
  RecordProperty("made", made);
}

// Streams that touch the same data must be ordered, by an await or a message.
TEST(PlanRefusal, RefusesRaces) {
  Plan plan = Hand(T::kAllReduce, 2, 1,
                   {{{Op::kSend, 0, 1, 0, 1}, {Op::kRecvReduce, 0, 1, 0, 1}},
                    {{Op::kSend, 0, 0, 0, 1}, {Op::kRecvReduce, 0, 0, 0, 1}}});
  EXPECT_EQ(Refusal(plan), "");
  plan.programs[1].streams = {{0, 1}, {1, 2}};
  NumberThrough(&plan);
  EXPECT_THAT(Refusal(plan),
              HasSubstr("member 1, stream 1, step 0 (recv and add chunk 0 from member 0): writes "
                        "chunk 0 before or after member 1, stream 0, step 0"));
  plan.programs[1].steps.insert(plan.programs[1].steps.begin() + 1, {Op::kAwait, 0, 0, 1, 0});
  plan.programs[1].streams = {{0, 1}, {1, 3}};
  EXPECT_EQ(Refusal(plan), "");
  plan.programs[1].steps[1].chunk = 2;  // its end
  EXPECT_EQ(Refusal(plan), "");
  plan.programs[1].steps[1].chunk = 3;
  EXPECT_THAT(Refusal(plan), HasSubstr("awaits 3 steps of stream 0; expected 1 to 1"));
  plan.programs[1].steps[1].peer = 1;
  EXPECT_THAT(Refusal(plan), HasSubstr("stream 1; expected another of 0 to 1"));
  plan.programs[1].steps[1] = {Op::kAwait, 0, 0, 1, 0};
  plan.programs[1].steps.insert(plan.programs[1].steps.begin(), {Op::kAwait, 0, 1, 1, 0});
  plan.programs[1].streams = {{0, 2}, {2, 4}};
  EXPECT_THAT(Refusal(plan), HasSubstr("member 1, stream 0, step 0 (await 1 steps of stream 1): waits "
                                       "forever; these steps wait for each other"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
