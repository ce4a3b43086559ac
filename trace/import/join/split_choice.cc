#include "trace/import/join/split_choice.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trace/base/median.h"

namespace chakra::pytorch {
namespace {

// A split must be better than another one by this many standard errors of the mean over calls, and by this
// much in the mean itself, which is that of log(1 + (off / scale)^2): 0.1 is 10 % of the square of the error.
constexpr double kClearly = 5.0, kSomewhat = 2.0, kLeastGain = 0.1;
// Begins that vary this many times as much as ends show waiting.
constexpr double kWaiting = 8.0;

double Cost(int64_t off, double scale) {
  const double x = static_cast<double>(off) / scale;
  return std::log1p(x * x);
}
Gain GainOver(const SplitFit& worse, const SplitFit& better, double scale) {
  const size_t ranks = better.off.size(), columns = better.off.empty() ? 0 : better.off[0].size();
  double sum = 0, squares = 0;
  for (size_t i = 0; i < columns; ++i) {
    double d = 0;
    for (size_t r = 0; r < ranks; ++r) d += Cost(worse.off[r][i], scale) - Cost(better.off[r][i], scale);
    d /= static_cast<double>(ranks);
    sum += d;
    squares += d * d;
  }
  const auto n = static_cast<double>(columns);
  const double mean = sum / n;
  const double variance = std::max(0.0, squares / n - mean * mean) * n / std::max(1.0, n - 1);
  return {mean / (std::sqrt(variance / n) + 1e-3), mean};
}

// Whether no group is predicted far worse than the groups are on the whole: one class may have calls of two
// kinds.
bool Even(const SplitFit& fit, const GroupSplit& split, int64_t middle) {
  constexpr int64_t kTimes = 4, kLittleNs = 3000;
  std::vector<std::vector<int64_t>> off(split.groups);
  for (size_t r = 0; r < fit.off.size(); ++r)
    off[split.group[r]].insert(off[split.group[r]].end(), fit.off[r].begin(), fit.off[r].end());
  return std::all_of(off.begin(), off.end(), [&](std::vector<int64_t>& group) {
    return Median(std::move(group)) <= kTimes * middle + kLittleNs;
  });
}

// The minimum, over the groups of `split`, of the mean gain over ranks that do not wait for each other.
double LeastGroupGain(const SplitFit& alone, const SplitFit& fit, const GroupSplit& split, double scale) {
  std::vector<double> gain(split.groups), calls(split.groups);
  for (size_t r = 0; r < fit.off.size(); ++r) {
    for (size_t i = 0; i < fit.off[r].size(); ++i) {
      gain[split.group[r]] += Cost(alone.off[r][i], scale) - Cost(fit.off[r][i], scale);
      calls[split.group[r]] += 1;
    }
  }
  double least = 1e9;
  for (size_t g = 0; g < gain.size(); ++g) least = std::min(least, gain[g] / std::max(1.0, calls[g]));
  return least;
}

// Whether each group of `fine` is inside one group of `coarse`.
bool Refines(const GroupSplit& fine, const GroupSplit& coarse) {
  std::vector<uint32_t> within(fine.groups, UINT32_MAX);
  for (size_t r = 0; r < fine.group.size(); ++r) {
    uint32_t& group = within[fine.group[r]];
    if (group == UINT32_MAX) group = coarse.group[r];
    if (group != coarse.group[r]) return false;
  }
  return true;
}

}  // namespace

int64_t MiddleOff(const SplitFit& fit) {
  std::vector<int64_t> all;
  for (const auto& row : fit.off) all.insert(all.end(), row.begin(), row.end());
  return Median(std::move(all));
}

bool Comparison::Clear() const {
  const bool predicts = alone.mean >= kLeastGain && even;
  if (others == 0) return predicts && alone.errors >= kClearly;
  if (least.errors >= 1e9) return waiting >= kWaiting || (predicts && alone.errors >= kSomewhat);
  return predicts && least.errors >= kClearly && least.mean >= kLeastGain && alone.errors >= kClearly;
}

const Held* Best(const std::vector<Held>& held) {
  const Held* best = nullptr;
  for (const Held& h : held) {
    if (h.contradicted || h.split->size == 1) continue;
    if (best == nullptr || h.middle < best->middle) best = &h;
  }
  return best;
}

Comparison Compare(const SharedCalls& shared, const std::vector<Held>& held, const Held& best,
                   int64_t tolerance) {
  Comparison out;
  out.largest = best.split;
  // Resolution of profilers; a smaller time is no difference.
  constexpr int64_t kResolutionNs = 500;
  const auto scale = static_cast<double>(std::max(best.middle, kResolutionNs));
  const SplitFit fit = FitSplit(shared, *best.split, tolerance);
  out.even = Even(fit, *best.split, best.middle);
  out.waiting = WaitingShown(shared, *best.split);
  for (const Held& h : held) {
    out.others += &h == &best || h.split->size == 1 ? 0 : 1;
    if (&h == &best || h.contradicted) continue;
    const SplitFit other = FitSplit(shared, *h.split, tolerance);
    const Gain gain = GainOver(other, fit, scale);
    if (h.split->size == 1) {
      out.alone = gain;
      if (LeastGroupGain(other, fit, *best.split, scale) < kLeastGain) out.even = false;
      continue;
    }
    out.least.errors = std::min(out.least.errors, gain.errors);
    out.least.mean = std::min(out.least.mean, gain.mean);
    if (gain.errors < kClearly && h.split->groups < out.largest->groups) out.largest = h.split;
  }
  return out;
}

namespace {

// The distance of two ranks' times for each call, minus its median if their clocks may differ.
std::vector<int64_t> Apart(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b,
                           int64_t StreamCall::*time, bool off) {
  std::vector<int64_t> apart;
  for (size_t i = 0; i < a.size(); ++i) apart.push_back(a[i].*time - b[i].*time);
  const int64_t middle = off ? Median(apart) : 0;
  for (int64_t& x : apart) x = std::abs(x - middle);
  return apart;
}

// The number of bits by which the ends of two ranks' calls are closer than their begins.
double BitsOf(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b, bool off) {
  constexpr double kResolutionNs = 500, kMostBits = 8;
  const std::vector<int64_t> begins = Apart(a, b, &StreamCall::begin, off),
                             ends = Apart(a, b, &StreamCall::end, off);
  double bits = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].waits_for_all) continue;
    bits += std::min(kMostBits, std::log2((static_cast<double>(begins[i]) + kResolutionNs) /
                                          (static_cast<double>(ends[i]) + kResolutionNs)));
  }
  return bits;
}

std::vector<std::vector<uint32_t>> MembersOf(const GroupSplit& split) {
  std::vector<std::vector<uint32_t>> members(split.groups);
  for (uint32_t r = 0; r < split.group.size(); ++r) members[split.group[r]].push_back(r);
  return members;
}

// Sum over groups of the minimum over the group's pairs, times the number of members beyond the first. In
// large groups, only pairs with the first member are used.
double BitsOf(const SharedCalls& shared, const GroupSplit& split) {
  constexpr size_t kAllPairs = 16;
  double sum = 0;
  for (const std::vector<uint32_t>& group : MembersOf(split)) {
    const size_t firsts = group.size() > kAllPairs ? 1 : group.size();
    double least = group.size() < 2 ? 0 : 1e9;
    for (size_t a = 0; a < firsts; ++a) {
      for (size_t b = a + 1; b < group.size(); ++b)
        least = std::min(least, BitsOf(shared.calls[group[a]], shared.calls[group[b]], false));
    }
    sum += least * static_cast<double>(group.size() - 1);
  }
  return sum;
}

// The median bits of pairs that are in one group of `coarse` and are (`in_one`) or are not in one group of
// `fine`. `off`: clocks may differ. In large groups, only a part of the pairs is used.
double MiddleBits(const SharedCalls& shared, const GroupSplit& fine, const GroupSplit& coarse, bool in_one,
                  bool off) {
  constexpr size_t kOthers = 8;
  std::vector<double> bits;
  for (const std::vector<uint32_t>& group : MembersOf(coarse)) {
    for (size_t a = 0; a < group.size(); ++a) {
      size_t looked = 0;
      for (size_t b = a + 1; b < group.size() && looked < kOthers; ++b) {
        if ((fine.group[group[a]] == fine.group[group[b]]) != in_one) continue;
        bits.push_back(BitsOf(shared.calls[group[a]], shared.calls[group[b]], off));
        ++looked;
      }
    }
  }
  return bits.empty() ? 0 : Median(std::move(bits));
}

}  // namespace

Coincidence Coinciding(const SharedCalls& shared, const std::vector<Held>& held) {
  Coincidence out;
  double best = 0, second = 0;  // each rank alone: no ends coincide
  for (const Held& h : held) {
    if (h.contradicted || h.split->size == 1) continue;
    const double bits = BitsOf(shared, *h.split);
    if (bits > best) {
      second = best;
      best = bits;
      out.split = h.split;
    } else {
      second = std::max(second, bits);
    }
  }
  out.bits = best - second;
  if (out.split == nullptr) return out;
  const auto all_rendezvous =
      static_cast<double>(shared.columns() * (shared.calls.size() - out.split->groups));
  out.by_call = best / std::max(1.0, all_rendezvous);
  out.one_clock =
      shared.machine[0] >= 0 && std::all_of(shared.machine.begin(), shared.machine.end(),
                                            [&](int machine) { return machine == shared.machine[0]; });
  // With fewer calls, differences between clocks cannot be measured.
  constexpr size_t kFewest = 4;
  const bool off = !out.one_clock && shared.columns() >= kFewest;
  constexpr double kMuch = 0.25;  // share of the bits of actual members
  const double much = kMuch * std::max(0.0, MiddleBits(shared, *out.split, *out.split, true, off));
  out.likely = std::none_of(held.begin(), held.end(), [&](const Held& h) {
    return !h.contradicted && h.split != out.split && h.split->size != 1 && Refines(*out.split, *h.split) &&
           MiddleBits(shared, *out.split, *h.split, false, off) > much;
  });
  return out;
}

const GroupSplit* Together(const SharedCalls& shared, const std::vector<Held>& held) {
  constexpr size_t kFewest = 6;
  const GroupSplit* largest = nullptr;
  for (const Held& h : held) {
    if (h.contradicted || h.split->size == 1) continue;
    if (largest == nullptr || h.split->groups < largest->groups) largest = h.split;
  }
  if (largest == nullptr || shared.columns() < kFewest) return nullptr;
  for (const Held& h : held) {
    if (!h.contradicted && !Refines(*h.split, *largest)) return nullptr;
  }
  return LeastWaitingShown(shared, *largest) >= kWaiting ? largest : nullptr;
}

}  // namespace chakra::pytorch
