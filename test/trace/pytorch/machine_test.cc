// The reference machine (machine.h) against the timeline of its profile: the program runs again with one
// longer kernel or operator, and the timeline of the first run must predict the second run.
#include "test/trace/pytorch/machine.h"

#include "gtest/gtest.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using machine::Begins;
using machine::Outcome;
using machine::Program;
using machine::Step;

TEST(Machine, ProfileReplaysAsItRan) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    for (const bool rows : {false, true}) {
      const Linked l = Link(machine::Run(Program(seed), rows).profile);
      ExpectReplaysItself(l);
      ASSERT_EQ(l.Repairs("contradictory_edges"), 0u);
    }
  }
}

TEST(Machine, ReplayPredictsLongerKernelsAndOperators) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const std::vector<Step> program = Program(seed);
    const Outcome before = machine::Run(program, true);
    const Linked l = Link(before.profile);
    for (size_t i = 3; i < program.size(); i += 4) {
      const bool kernel = program[i].what == Step::kLaunch;
      if (!kernel && program[i].what != Step::kWork) continue;
      const int64_t more = 5000 + 7 * static_cast<int64_t>(i);
      std::vector<Step> changed = program;
      changed[i].time += more;
      const std::string name = (kernel ? "kernel" : "work") + std::to_string(i);
      const std::map<std::string, int64_t> found = Begins(l, Play(l.t, l.Find(name), more));
      for (const auto& [event, begin] : machine::Run(changed, true).begin) {
        ASSERT_EQ(found.at(event), begin) << "seed " << seed << ", " << name << " longer by " << more << ": "
                                          << event << " began at " << before.begin.at(event);
      }
    }
  }
}

// Without cuda_sync rows, the stream of a call must be guessed.
TEST(Machine, PredictsMostWithoutSyncRows) {
  uint64_t right = 0, wrong = 0, moved_right = 0, moved = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const std::vector<Step> program = Program(seed, true);
    const Outcome before = machine::Run(program, false);
    const Linked l = Link(before.profile);
    for (size_t i = 3; i < program.size(); i += 4) {
      if (program[i].what != Step::kLaunch) continue;
      std::vector<Step> changed = program;
      changed[i].time += 20000;
      const std::map<std::string, int64_t> found =
          Begins(l, Play(l.t, l.Find("kernel" + std::to_string(i)), 20000));
      for (const auto& [event, begin] : machine::Run(changed, false).begin) {
        (found.at(event) == begin ? right : wrong) += 1;
        if (begin != before.begin.at(event)) {
          ++moved;
          moved_right += found.at(event) == begin ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GE(right * 100, (right + wrong) * 95);
  EXPECT_GE(moved_right * 10, moved * 9);
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
