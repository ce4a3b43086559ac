// Several ranks of a known machine (machine.h) that all-reduce: profiled, read, replayed with a change, and
// compared with the machine with that change.
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "test/replay/captured_machine.h"
#include "trace/import/locate.h"

namespace chakra::CHAKRA_FILE {
namespace {

using pytorch::machine::Outcome;
using MachineStep = pytorch::machine::Step;
using Programs = std::vector<std::vector<MachineStep>>;

constexpr int kRanks = 3;
constexpr int64_t kTransfer = 8000;

// Each rank has work of its own; all ranks have the same all-reduces.
Programs MakePrograms(uint32_t seed) {
  Programs programs;
  for (uint32_t r = 0; r < kRanks; ++r) {
    std::vector<MachineStep> steps = pytorch::machine::Program(kRanks * seed + r);
    for (size_t at = 10, k = 0; at < steps.size(); at += 17, ++k) {
      steps.insert(steps.begin() + static_cast<ptrdiff_t>(at), {MachineStep::kAllReduce, kTransfer, 2});
    }
    programs.push_back(steps);
  }
  size_t least = SIZE_MAX;  // programs of one length make equal numbers of all-reduces
  for (const auto& p : programs) least = std::min(least, p.size());
  for (auto& p : programs) p.resize(least);
  return programs;
}

// An all-reduce ends on all ranks kTransfer after the last rank has arrived. The ranks run again until these
// ends no longer change.
std::vector<Outcome> RunAll(const Programs& programs) {
  std::vector<int64_t> ends;
  for (;;) {
    std::vector<Outcome> out;
    std::vector<int64_t> now;
    for (const auto& p : programs) {
      out.push_back(pytorch::machine::Run(p, true, ends));
      now.resize(out.back().arrivals.size(), INT64_MIN);
      for (size_t k = 0; k < now.size(); ++k) now[k] = std::max(now[k], out.back().arrivals[k] + kTransfer);
    }
    if (now == ends) return out;
    ends = now;
  }
}

TEST(CaptureMachine, ReplayedChangeMatchesTheChangedMachine) {
  uint64_t checked = 0, others = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const Programs programs = MakePrograms(seed);
    const std::vector<Outcome> before = RunAll(programs);
    const Captured machine(Profiles(before));
    for (size_t i = 2; i < programs[0].size(); i += 11) {
      const int rank = static_cast<int>(i % kRanks);
      Programs changed = programs;
      MachineStep& step = changed[static_cast<size_t>(rank)][i];
      if (step.what != MachineStep::kLaunch && step.what != MachineStep::kWork) continue;
      step.time += 30000;
      const std::string name = absl::StrCat(step.what == MachineStep::kLaunch ? "kernel" : "work", i);
      const std::vector<Outcome> after = RunAll(changed);
      const NodeSpans spans = machine.Replayed(rank, name, Time::Nanos(30000));
      for (int r = 0; r < kRanks; ++r) {
        for (const auto& [event, begin] : after[static_cast<size_t>(r)].begin) {
          if (!event.starts_with("kernel") && !event.starts_with("work") && !event.starts_with("nccl"))
            continue;
          ASSERT_EQ(spans[static_cast<size_t>(r)][machine.RowOf(r, event)].begin.picos(), begin * 1000)
              << "seed " << seed << ", " << name << " of rank " << rank << " made longer: " << event
              << " of rank " << r << " began at " << before[static_cast<size_t>(r)].begin.at(event);
          ++checked;
          others += r != rank && begin != before[static_cast<size_t>(r)].begin.at(event) ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(checked, 10000u);
  EXPECT_GT(others, 1000u) << "one rank's delay reaches the others through what they share";
}

// The engine reproduces every profile, with its lanes.
TEST(CaptureMachine, InconsistentProfilesReplayAsRecorded) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Captured machine({pytorch::machine::Chaos(seed)});
    const NodeSpans spans = machine.Replayed();
    const Graph& g = *machine.traces().ranks[0].graph;
    for (uint32_t i = 0; i < g.size(); ++i) {
      if (g.type[i] == NodeType::kMetadata) continue;
      ASSERT_EQ(spans[0][i].begin, g.start[i])
          << "seed " << seed << " " << DescribeNode(machine.traces().ranks[0], i);
    }
  }
}

// All calls that one kernel carries run at the same time: two messages to one peer and one back, and an
// all-reduce in two parts.
TEST(CaptureMachine, CallsOfOneKernelShareItsTime) {
  std::vector<pytorch::KinetoBuilder> profiles;
  for (const int rank : {0, 1}) {
    const std::string peer = std::to_string(1 - rank);
    pytorch::KinetoBuilder k;
    int64_t at = 0;
    const auto call = [&](const std::string& what, int64_t elements, const std::string& more) {
      k.Op(1, "record_param_comms", at, 800,
           pytorch::CommArgs(what, elements, elements, "7", "[0, 1]", 2, "Float", more));
      at += 1000;
    };
    const std::string mine = rank == 0 ? "send" : "recv", other = rank == 0 ? "recv" : "send";
    const auto side = [&](const std::string& what) {
      return (what == "send" ? ",\"Dst Rank\":" : ",\"Src Rank\":") + peer;
    };
    call(mine, 1000, side(mine));
    call(mine, 3000, side(mine));
    call(other, 2000, side(other));
    k.Launch(1, at, 500, 20, "ncclDevKernel_SendRecv(x)", 10000 + 2000 * rank, 20000 - 2000 * rank);
    at += 1000;
    call("allreduce", 100, "");
    call("allreduce", 200, "");
    k.Launch(1, at, 500, 20, "ncclDevKernel_Generic(x)", 40000 + 2000 * rank, 20000 - 2000 * rank);
    k.Launch(1, at + 1000, 500, 20, "after", 61000, 1000);
    profiles.push_back(k);
  }
  const Captured machine(profiles);
  const NodeSpans spans = machine.Replayed();
  for (const int rank : {0, 1}) {
    const Graph& g = *machine.traces().ranks[static_cast<size_t>(rank)].graph;
    int calls = 0;
    for (uint32_t i = 0; i < g.size(); ++i) {
      if (g.type[i] == NodeType::kMetadata) continue;
      const NodeSpan& span = spans[static_cast<size_t>(rank)][i];
      EXPECT_EQ(span.begin, g.start[i]) << DescribeNode(machine.traces().ranks[static_cast<size_t>(rank)], i);
      if (g.type[i] < NodeType::kSend) continue;
      ++calls;
      EXPECT_EQ(span.end, g.start[i] + g.duration[i])
          << DescribeNode(machine.traces().ranks[static_cast<size_t>(rank)], i);
    }
    EXPECT_EQ(calls, 4);
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
