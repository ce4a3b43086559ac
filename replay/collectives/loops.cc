#include "replay/collectives/loops.h"

namespace chakra {
namespace {

constexpr uint32_t kLongest = 16;         // the maximum number of steps in a loop
constexpr size_t kFew = size_t{1} << 16;  // plans with fewer steps get no loops: their steps stay in the
                                          // cache as they are
constexpr size_t kSmall = 4;              // the loops must be smaller than the steps by this factor

bool Repeats(const Step* steps, uint32_t count, uint32_t period) {
  for (uint32_t i = period; i < count; ++i) {
    const Step &a = steps[i - period], &b = steps[i];
    if (a.op != b.op || a.connection != b.connection || a.peer != b.peer || a.count != b.count ||
        a.pattern != b.pattern) {
      return false;
    }
    const int32_t move = steps[i % period + period].chunk - steps[i % period].chunk;
    if (b.chunk - a.chunk != move) return false;
  }
  return true;
}

// The shortest period of the steps that divides their number; 0: none.
uint32_t PeriodOf(const Step* steps, uint32_t count) {
  for (uint32_t period = 1; period <= kLongest && 2 * period <= count; ++period) {
    if (count % period == 0 && Repeats(steps, count, period)) return period;
  }
  return 0;
}

}  // namespace

void FindLoops(Plan* plan) {
  plan->loops.clear();
  plan->loop_steps.clear();
  size_t steps = 0;
  for (const Program& program : plan->programs) steps += program.steps.size();
  if (plan->rotational || steps < kFew) return;
  for (const Program& program : plan->programs) {
    for (const Stream& stream : program.streams) {
      const Step* first = program.steps.data() + stream.begin;
      const uint32_t period = PeriodOf(first, stream.end - stream.begin);
      plan->loops.push_back({static_cast<uint32_t>(plan->loop_steps.size()), period});
      for (uint32_t i = 0; i < period; ++i)
        plan->loop_steps.push_back({first[i], first[i + period].chunk - first[i].chunk});
    }
    if (plan->loop_steps.size() * kSmall > steps) break;
  }
  if (plan->loop_steps.size() * kSmall <= steps && !plan->loop_steps.empty()) return;
  plan->loops = {};
  plan->loop_steps = {};
}

}  // namespace chakra
