#include "trace/import/join/split_fit.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "trace/base/median.h"

namespace chakra::pytorch {
namespace {

// Ranks of one group that share a clock.
using Clock = std::vector<uint32_t>;

// The clocks of each group; the clock of the group's first rank comes first.
std::vector<std::vector<Clock>> ClocksOf(const SharedCalls& shared, const GroupSplit& split) {
  std::vector<std::vector<Clock>> clocks(split.groups);
  std::map<std::pair<uint32_t, int>, size_t> place;  // by group and machine
  for (uint32_t r = 0; r < split.group.size(); ++r) {
    std::vector<Clock>& own = clocks[split.group[r]];
    const int machine = shared.machine[r];
    const auto [it, fresh] = machine < 0 ? std::make_pair(place.end(), true)
                                         : place.try_emplace({split.group[r], machine}, own.size());
    if (fresh) {
      own.push_back({r});
    } else {
      own[it->second].push_back(r);
    }
  }
  return clocks;
}

class Fitter {
 public:
  Fitter(const SharedCalls& shared, const GroupSplit& split, int64_t tolerance)
      : s_(shared), split_(split), tolerance_(tolerance) {
    std::map<uint64_t, uint32_t> numbers;
    for (size_t i = 0; i < s_.columns(); ++i)
      key_.push_back(
          numbers.try_emplace(s_.calls[0][i].key, static_cast<uint32_t>(numbers.size())).first->second);
    after_.resize(numbers.size());
  }

  SplitFit Run() {
    const std::vector<std::vector<Clock>> groups = ClocksOf(s_, split_);
    for (const std::vector<Clock>& clocks : groups) {
      Hold(clocks);
      if (fit_.contradicted) return std::move(fit_);
    }
    fit_.off.assign(s_.calls.size(), std::vector<int64_t>(s_.columns()));
    for (const std::vector<Clock>& clocks : groups) Predict(clocks);
    std::vector<int64_t> middle;
    for (std::vector<int64_t>& times : after_) middle.push_back(Median(std::move(times)));
    for (std::vector<int64_t>& row : fit_.off) {
      for (size_t i = 0; i < row.size(); ++i) row[i] = std::abs(row[i] - middle[key_[i]]);
    }
    return std::move(fit_);
  }

 private:
  void Contradict(int64_t ns) {
    if (ns <= tolerance_) return;
    fit_.contradicted = true;
    fit_.by_ns = std::max(fit_.by_ns, ns);
  }
  int64_t LastBegin(const Clock& clock, size_t i) const {
    int64_t last = INT64_MIN;
    for (const uint32_t r : clock) last = std::max(last, s_.calls[r][i].begin);
    return last;
  }
  int64_t FirstEnd(const Clock& clock, size_t i) const {
    int64_t first = INT64_MAX;
    for (const uint32_t r : clock) first = std::min(first, s_.calls[r][i].end);
    return first;
  }
  void Hold(const std::vector<Clock>& clocks);
  void Predict(const std::vector<Clock>& clocks);

  const SharedCalls& s_;
  const GroupSplit& split_;
  const int64_t tolerance_;
  SplitFit fit_;
  std::vector<uint32_t> key_;                // by column
  std::vector<std::vector<int64_t>> after_;  // by key: times from the last begin to the ends
};

// Checks whether a member ended before another one began. Between two clocks, only both directions together
// can show that.
void Fitter::Hold(const std::vector<Clock>& clocks) {
  const Clock& first = clocks[0];
  for (const Clock& clock : clocks) {
    int64_t own = INT64_MIN, ahead = INT64_MIN, behind = INT64_MIN;
    for (size_t i = 0; i < s_.columns(); ++i) {
      if (!s_.calls[first[0]][i].waits_for_all) continue;
      own = std::max(own, LastBegin(clock, i) - FirstEnd(clock, i));
      if (&clock == &first) continue;
      ahead = std::max(ahead, LastBegin(first, i) - FirstEnd(clock, i));
      behind = std::max(behind, LastBegin(clock, i) - FirstEnd(first, i));
    }
    if (own != INT64_MIN) Contradict(own);
    if (ahead != INT64_MIN) Contradict(ahead + behind);
    if (fit_.contradicted) return;
  }
}

void Fitter::Predict(const std::vector<Clock>& clocks) {
  std::vector<int64_t> offset;  // by clock: what to add to it
  for (const Clock& clock : clocks) {
    std::vector<int64_t> differences;
    for (size_t i = 0; i < s_.columns(); ++i)
      differences.push_back(s_.calls[clocks[0][0]][i].end - s_.calls[clock[0]][i].end);
    offset.push_back(&clock == &clocks[0] ? 0 : Median(std::move(differences)));
  }
  for (size_t i = 0; i < s_.columns(); ++i) {
    int64_t last = INT64_MIN;
    for (size_t c = 0; c < clocks.size(); ++c) last = std::max(last, LastBegin(clocks[c], i) + offset[c]);
    for (size_t c = 0; c < clocks.size(); ++c) {
      for (const uint32_t r : clocks[c]) {
        fit_.off[r][i] = s_.calls[r][i].end + offset[c] - last;
        after_[key_[i]].push_back(fit_.off[r][i]);
      }
    }
  }
}

// The median deviation of the differences of two ranks' begins, or ends.
double Deviation(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b,
                 int64_t StreamCall::*time) {
  std::vector<int64_t> differences;
  for (size_t i = 0; i < a.size(); ++i) differences.push_back(a[i].*time - b[i].*time);
  const int64_t middle = Median(differences);
  for (int64_t& d : differences) d = std::abs(d - middle);
  return static_cast<double>(Median(std::move(differences)));
}

// How much more the begins of two ranks vary against each other than their ends do.
double BeginsByEnds(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b) {
  constexpr double kResolutionNs = 500;
  return Deviation(a, b, &StreamCall::begin) / std::max(Deviation(a, b, &StreamCall::end), kResolutionNs);
}

}  // namespace

double WaitingShown(const SharedCalls& shared, const GroupSplit& split) {
  std::vector<uint32_t> first(split.groups, UINT32_MAX);
  std::vector<std::vector<double>> shown(split.groups);
  for (uint32_t r = 0; r < split.group.size(); ++r) {
    uint32_t& leader = first[split.group[r]];
    if (leader == UINT32_MAX) {
      leader = r;
      continue;
    }
    shown[split.group[r]].push_back(BeginsByEnds(shared.calls[leader], shared.calls[r]));
  }
  double least = 1e9;
  for (std::vector<double>& group : shown)
    least = std::min(least, group.empty() ? 0 : Median(std::move(group)));
  return least;
}

double LeastWaitingShown(const SharedCalls& shared, const GroupSplit& split) {
  std::vector<std::vector<uint32_t>> members(split.groups);
  for (uint32_t r = 0; r < split.group.size(); ++r) members[split.group[r]].push_back(r);
  double least = 1e9;
  for (const std::vector<uint32_t>& group : members) {
    if (group.size() < 2 || group.size() > kMostPaired) return 0;
    for (size_t a = 0; a < group.size(); ++a) {
      for (size_t b = a + 1; b < group.size(); ++b)
        least = std::min(least, BeginsByEnds(shared.calls[group[a]], shared.calls[group[b]]));
    }
  }
  return least;
}

SplitFit FitSplit(const SharedCalls& shared, const GroupSplit& split, int64_t tolerance_ns) {
  return Fitter(shared, split, tolerance_ns).Run();
}

}  // namespace chakra::pytorch
