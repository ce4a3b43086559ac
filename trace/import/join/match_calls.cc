#include "trace/import/join/match_calls.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "trace/base/median.h"

namespace chakra::pytorch {
namespace {

constexpr int64_t kMovedNs = 20000;

// Maximum number of calls in different steps: only calls at the bounds of steps may be in another step.
int MostApart(int calls) { return calls / 4 + 1; }

// The index of the first call of each step.
std::map<int64_t, int> FirstOfSteps(const std::vector<StreamCall>& calls) {
  std::map<int64_t, int> first;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].step != StreamCall::kNoStep) first.try_emplace(calls[i].step, static_cast<int>(i));
  }
  return first;
}

// The shifts to try: those that step numbers suggest, or else all small ones.
std::set<int> Candidates(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b, bool* by_steps) {
  const std::map<int64_t, int> in_a = FirstOfSteps(a), in_b = FirstOfSteps(b);
  std::set<int> shifts;
  const auto na = static_cast<int>(a.size()), nb = static_cast<int>(b.size());
  *by_steps = !in_a.empty() && !in_b.empty();
  if (!*by_steps) {
    for (int s = -std::min(kMostShift, na); s <= std::min(kMostShift, nb); ++s) shifts.insert(s);
    return shifts;
  }
  // A call at the bound of a step may begin on the other side of the bound on the other rank.
  constexpr int kAround = 2;
  constexpr size_t kSteps = 4;
  size_t tried = 0;
  for (auto it = in_a.rbegin(); it != in_a.rend() && tried < kSteps; ++it) {
    const auto other = in_b.find(it->first);
    if (other == in_b.end()) continue;
    ++tried;
    for (int d = -kAround; d <= kAround; ++d) shifts.insert(other->second - it->second + d);
  }
  return shifts;
}

struct Score {
  int steps_apart = 0;  // number of calls whose steps differ
  int64_t spread = 0;   // spread of the differences of the ends
  int64_t penalty = 0;  // without better evidence, both begin at the same call, with the same clock
  bool operator<(const Score& o) const {
    return steps_apart != o.steps_apart ? steps_apart < o.steps_apart
                                        : spread + penalty < o.spread + o.penalty;
  }
};

// Whether calls i and i + 1 of `b` are calls i + 1 and i of `a`, and both ran at the same time on one of the
// ranks. Workers of the host take calls from a queue, and the worker with the later call may record its begin
// first.
bool Swapped(const StreamCall* a, const StreamCall* b) {
  const auto together = [](const StreamCall* c) { return c[1].begin < c[0].end; };
  return a[0].key == b[1].key && a[1].key == b[0].key && (together(a) || together(b));
}

// Rates shift `s`. False: corresponding calls differ in kind or size. Steps count if both have some
// (`by_steps`).
bool Rate(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b, int s, int from, int to,
          bool by_steps, Score* score) {
  std::vector<int64_t> differences;
  for (int i = from; i < to; ++i) {
    const StreamCall &x = a[static_cast<size_t>(i)], &y = b[static_cast<size_t>(i + s)];
    if (x.key != y.key && !(i + 1 < to && Swapped(&x, &y)) && !(i > from && Swapped(&x - 1, &y - 1)))
      return false;
    score->steps_apart += by_steps && x.step != y.step ? 1 : 0;
    differences.push_back(x.end - y.end);
  }
  const int64_t middle = UpperMedian(differences);
  for (int64_t& d : differences) d = std::abs(d - middle);
  score->spread = UpperMedian(std::move(differences));
  score->penalty = kMovedNs * (s != 0) + std::abs(middle) / 1000;
  return true;
}

}  // namespace

bool SameCalls(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].key != b[i].key || a[i].step != b[i].step) return false;
  }
  return true;
}

bool FindShift(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b, CallShift* shift) {
  int found = 0;
  bool by_steps = false;
  Score best;
  const auto na = static_cast<int>(a.size()), nb = static_cast<int>(b.size());
  for (const int s : Candidates(a, b, &by_steps)) {
    const int from = std::max(0, -s), to = std::min(na, nb - s);
    if (to <= from || to - from < (std::min(na, nb) + 1) / 2) continue;
    Score score;
    if (!Rate(a, b, s, from, to, by_steps, &score)) continue;
    if (by_steps && score.steps_apart > MostApart(to - from)) continue;
    ++found;
    if (found > 1 && !(score < best)) continue;
    best = score;
    shift->calls = s;
    shift->spread_ns = score.spread;
  }
  shift->sure = by_steps ? best.steps_apart == 0 : found == 1 || (shift->calls == 0 && na == nb);
  return found > 0;
}

}  // namespace chakra::pytorch
