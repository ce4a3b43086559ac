#include "trace/import/join/clocks.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/base/median.h"
#include "trace/import/join/call_streams.h"

namespace chakra::pytorch {
namespace {

constexpr int64_t kClockNoiseNs = 20000;

class Aligner {
 public:
  Aligner(const std::vector<CaptureRank>& ranks, const std::vector<int>& machine,
          const std::vector<MatchedGroup>& groups)
      : ranks_(ranks), machine_(machine), groups_(groups), known_(ranks.size()), of_rank_(ranks.size()) {
    out_.offset_ns.resize(ranks.size());
    out_.one_with.resize(ranks.size());
    for (const CaptureRank& rank : ranks_) marks_.push_back(StepMarks(rank).marks());
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (const uint32_t r : groups_[g].members) {
        if (groups_[g].sure) of_rank_[r].push_back(g);
      }
    }
  }

  Clocks Run();

 private:
  struct Difference {
    int64_t middle = 0, spread = 0;
    uint32_t other = 0;  // the rank that the clock was compared with
  };
  int64_t Base(uint32_t r) const { return ranks_[r].device == nullptr ? 0 : ranks_[r].device->base_ns; }
  void Note(const char* kind, uint32_t r, const std::string& detail) {
    out_.notes.push_back({kind, ranks_[r].device_file, ranks_[r].rank, 1, 0, detail});
  }
  bool Measure(uint32_t r, Difference* d) const;
  void Settle(uint32_t r, int64_t offset);
  void SettleFrom(uint32_t first);
  bool PartsSteps(uint32_t r, const Difference& d) const;
  void Move(uint32_t r, const Difference& d);

  const std::vector<CaptureRank>& ranks_;
  const std::vector<int>& machine_;
  const std::vector<MatchedGroup>& groups_;
  Clocks out_;
  std::vector<bool> known_;
  uint32_t first_ = 0;                        // the rank whose clock the others are compared with
  std::vector<std::vector<size_t>> of_rank_;  // by rank: its groups in groups_ that are sure
  std::vector<std::vector<StepMarks::Mark>> marks_;
};

// Measures the difference between the clock of `r` and clocks that are known. False: no shared call.
bool Aligner::Measure(uint32_t r, Difference* d) const {
  std::vector<int64_t> differences;
  for (const size_t g : of_rank_[r]) {
    const MatchedGroup& group = groups_[g];
    size_t own = 0, other = group.members.size();
    for (size_t m = 0; m < group.members.size(); ++m) {
      if (group.members[m] == r) own = m;
      if (known_[group.members[m]] && other == group.members.size()) other = m;
    }
    if (other == group.members.size()) continue;
    d->other = group.members[other];
    for (size_t i = 0; i < group.calls[own].size(); ++i)
      differences.push_back(group.calls[other][i].end + out_.offset_ns[d->other] - group.calls[own][i].end);
  }
  if (differences.empty()) return false;
  d->middle = UpperMedian(differences);
  for (int64_t& x : differences) x = std::abs(x - d->middle);
  d->spread = UpperMedian(std::move(differences));
  return true;
}

// Whether moving the clock of `r` by d.middle would move its steps away from the steps with the same numbers.
bool Aligner::PartsSteps(uint32_t r, const Difference& d) const {
  std::map<int64_t, const StepMarks::Mark*> others;
  for (const StepMarks::Mark& mark : marks_[d.other]) others.emplace(mark.number, &mark);
  std::vector<int64_t> before, after, lengths;
  for (const StepMarks::Mark& mark : marks_[r]) {
    const auto it = others.find(mark.number);
    if (it == others.end()) continue;
    const int64_t apart = Base(r) + mark.begin - Base(d.other) - it->second->begin - out_.offset_ns[d.other];
    before.push_back(std::abs(apart));
    after.push_back(std::abs(apart + d.middle));
    lengths.push_back(std::min(mark.end - mark.begin, it->second->end - it->second->begin));
  }
  if (lengths.empty()) return false;
  const int64_t half = *std::min_element(lengths.begin(), lengths.end()) / 2;
  const bool together = UpperMedian(before) < half;
  return together ? std::abs(d.middle) >= half : UpperMedian(after) >= half;
}

// Sets the clock of all ranks on the machine of `r`.
void Aligner::Settle(uint32_t r, int64_t offset) {
  for (uint32_t x = 0; x < ranks_.size(); ++x) {
    if (x != r && (machine_[r] < 0 || machine_[x] != machine_[r])) continue;
    known_[x] = true;
    out_.offset_ns[x] = offset;
    out_.one_with[x] = first_;
  }
}

void Aligner::Move(uint32_t r, const Difference& d) {
  const std::string ends = absl::StrCat("their ends vary by ", d.spread, " ns");
  if (std::abs(d.middle) <= kClockNoiseNs + 4 * d.spread) return Settle(r, 0);
  if (PartsSteps(r, d)) {
    Note("clock_left", r,
         absl::StrCat("shared collectives end ", d.middle, " ns away from those of rank ",
                      ranks_[d.other].rank, ", which is half a step or more; the clock is used as recorded; ",
                      ends));
    return Settle(r, 0);
  }
  Settle(r, d.middle);
  Note("clock_aligned", r,
       absl::StrCat("the clock was moved by ", d.middle, " ns, so that shared collectives end together; ",
                    ends));
}

// Settles the clock of `first` and of all ranks that shared calls connect to it, directly or through other
// ranks.
void Aligner::SettleFrom(uint32_t first) {
  first_ = first;
  Settle(first, 0);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t r = first + 1; r < ranks_.size(); ++r) {
      Difference d;
      if (known_[r] || !Measure(r, &d)) continue;
      Move(r, d);
      again = true;
    }
  }
}

Clocks Aligner::Run() {
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    if (!known_[r]) SettleFrom(r);
  }
  for (uint32_t r = 1; r < ranks_.size(); ++r) {
    if (out_.one_with[r] != 0)
      Note("clock_not_aligned", r,
           absl::StrCat("no collective is shared with rank ", ranks_[0].rank,
                        ", or with ranks that share collectives with it; the clock is used as recorded"));
  }
  return std::move(out_);
}

}  // namespace

Clocks AlignClocks(const std::vector<CaptureRank>& ranks, const std::vector<int>& machine,
                   const std::vector<MatchedGroup>& groups) {
  return Aligner(ranks, machine, groups).Run();
}

}  // namespace chakra::pytorch
