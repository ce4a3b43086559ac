// The reference machine (machine.h) with behaviour of real machines: backward threads, hosts that poll, work
// from before the window, kernels that begin before the kernel before them ends. From the profile of one run,
// the timeline must predict exactly what the machine does with other durations.
#include "gtest/gtest.h"
#include "test/sanitized.h"
#include "test/trace/pytorch/machine.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using machine::Begins;
using machine::Outcome;
using machine::RunOptions;
using machine::Step;

constexpr uint32_t kSeeds = kSanitized ? 6 : 40;

// Runs `program` with each kernel and operator in turn longer, or shorter, by a third, and expects that the
// timeline of the unchanged run predicts the begin of every event.
void ExpectPredictsChanges(const std::vector<Step>& program, const RunOptions& options,
                           const std::string& what) {
  const Outcome before = machine::Run(program, options);
  const Linked l = Link(before.profile);
  ExpectReplaysItself(l);
  for (size_t i = 0; i < program.size(); ++i) {
    const bool kernel = program[i].what == Step::kLaunch || program[i].what == Step::kPoll;
    if (!kernel && program[i].what != Step::kWork) continue;
    const int64_t more = program[i].time / 12 * (i % 2 == 0 ? 4 : -4);
    std::vector<Step> changed = program;
    changed[i].time += more;
    const std::string name = (kernel ? "kernel" : "work") + std::to_string(i);
    const std::map<std::string, int64_t> found = Begins(l, Play(l.t, l.Find(name), more));
    for (const auto& [event, begin] : machine::Run(changed, options).begin) {
      ASSERT_EQ(found.at(event), begin) << what << ": " << name << " longer by " << more << ": " << event
                                        << " began at " << before.begin.at(event);
    }
  }
}

int64_t Below(std::mt19937* random, uint32_t n) { return static_cast<int64_t>((*random)() % n); }

// Forward and backward passes: threads that do little between long pauses, so that busy threads are no
// evidence.
TEST(MachineCauses, BackwardThreadAndCallerWaitForEachOther) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    std::vector<Step> program;
    for (int pass = 0; pass < 8; ++pass) {
      for (int i = 0; i < 6; ++i) {
        program.push_back({Step::kWork, 4 * (300 + Below(&random, 2000))});
        program.push_back({Step::kPause, Below(&random, 40000)});
        if (Below(&random, 2) == 0)
          program.push_back(
              {Step::kLaunch, 4 * (500 + Below(&random, 4000)), static_cast<int>(Below(&random, 2))});
      }
      program.push_back({Step::kSwitch});
      program.push_back({Step::kWork, 4000});
    }
    ExpectPredictsChanges(program, {.sync_rows = true, .autograd = true}, "seed " + std::to_string(seed));
  }
}

// The host's own work between calls, as Python does it: a node, whose time may change as that of a call.
TEST(MachineCauses, SlowerHostBetweenCallsDelaysTheRun) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    std::vector<Step> program;
    for (int i = 0; i < 60; ++i) {
      program.push_back({Step::kWork, 500 + Below(&random, 9000)});
      program.push_back({Step::kLaunch, 500 + Below(&random, 20000), static_cast<int>(Below(&random, 2))});
      if (i % 3 == 0) program.push_back({Step::kPause, 1000 + Below(&random, 15000)});
      if (i % 20 == 19) program.push_back({Step::kStreamSync});
    }
    const Outcome before = machine::Run(program, {.sync_rows = true, .step = false});
    const Linked l = Link(before.profile);
    ExpectReplaysItself(l);
    for (size_t i = 0; i < program.size(); ++i) {
      if (program[i].what != Step::kPause) continue;
      const int64_t more = i % 2 == 0 ? 40000 : -700;
      const int64_t at = before.paused.at(std::to_string(i));
      uint32_t node = kNoRow;
      for (uint32_t n = 0; n < l.t.nodes.size(); ++n) {
        const TimelineNode& t = l.t.nodes[n];
        if (t.IsOwnWork() && t.start <= at && at < t.start + t.dur) node = n;
      }
      ASSERT_NE(node, kNoRow) << "seed " << seed << ": no node of the pause of step " << i;
      std::vector<Step> changed = program;
      changed[i].time += more;
      const std::map<std::string, int64_t> found = Begins(l, Play(l.t, node, more));
      for (const auto& [event, begin] : machine::Run(changed, {.sync_rows = true, .step = false}).begin)
        ASSERT_EQ(found.at(event), begin) << "seed " << seed << ", step " << i << ": " << event;
    }
  }
}

// Operators that poll for the end of a kernel that they launched, after other kernels on the stream.
TEST(MachineCauses, PollingHostGoesOnWhenTheKernelEnds) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    std::vector<Step> program;
    for (int i = 0; i < 40; ++i) {
      program.push_back({Step::kWork, 4 * (1000 + Below(&random, 3000))});
      program.push_back(
          {Step::kLaunch, 4 * (1000 + Below(&random, 9000)), static_cast<int>(Below(&random, 2))});
      if (i % 4 == 3) program.push_back({Step::kPoll, 4 * (60000 + Below(&random, 90000)), 0});
    }
    ExpectPredictsChanges(program, {.sync_rows = true}, "seed " + std::to_string(seed));
  }
}

// Streams that are busy until 3 ms with work that the window does not show.
TEST(MachineCauses, BacklogDelaysTheStreamAtTheWindowsBegin) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    std::vector<Step> program;
    for (int i = 0; i < 150; ++i) {
      program.push_back({Step::kWork, 4 * (300 + Below(&random, 500))});
      program.push_back({Step::kLaunch, 4 * (2000 + Below(&random, 6000)), 0});
    }
    ExpectPredictsChanges(program, {.sync_rows = true, .backlog = 3000000}, "seed " + std::to_string(seed));
  }
}

// A host that is as far ahead of the device as the device's queue lets it be: other durations move the waits.
TEST(MachineCauses, FullQueueHoldsTheHost) {
  for (uint32_t seed = 0; seed < (kSanitized ? 3 : 10); ++seed) {
    std::mt19937 random(seed);
    std::vector<Step> program;
    for (int i = 0; i < 220; ++i) {
      program.push_back({Step::kLaunch, 12 * (12000 + Below(&random, 9000)), 0});
      if (i % 5 == 0) program.push_back({Step::kWork, 12 * (100 + Below(&random, 900))});
    }
    ExpectPredictsChanges(program, {.sync_rows = true, .queue = 150}, "seed " + std::to_string(seed));
  }
}

// A device slower than its host: each kernel of a chain begins when three quarters of the kernel before are
// done.
TEST(MachineCauses, DependentLaunchBeginsAtItsRelease) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    std::vector<Step> program;
    for (int i = 0; i < 80; ++i) {
      // A multiple of 48: a third of it, and three quarters of what is left, are whole.
      Step kernel = {Step::kLaunch, 48 * (450 + Below(&random, 150)), 0};
      kernel.dependent = Below(&random, 3) > 0;
      program.push_back(kernel);
    }
    ExpectPredictsChanges(program, {.sync_rows = true}, "seed " + std::to_string(seed));
  }
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
