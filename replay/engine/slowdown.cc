#include "replay/engine/slowdown.h"

#include <algorithm>
#include <cmath>

namespace chakra {
namespace {

Time Scale(Time t, int64_t by, int64_t of) {
  const auto product = static_cast<__int128>(t.picos()) * by;
  return Time::Picos(static_cast<int64_t>((product + of - 1) / of));
}

}  // namespace

Slowdown::Slowdown(double slowdown, size_t ranks) : factor_(kFull + std::llround(slowdown * kFull)) {
  if (on()) devices_.resize(ranks);
}

Time Slowdown::Begin(uint32_t rank, uint32_t row, Time work, Time now) {
  Device& d = devices_[rank];
  d.works.push_back({row, work, now, now + Scale(work, Pace(d), kFull)});
  return d.works.back().end;
}

bool Slowdown::Holds(uint32_t rank, uint32_t row, Time at) const {
  const std::vector<Work>& works = devices_[rank].works;
  return std::any_of(works.begin(), works.end(), [&](const Work& w) { return w.row == row && w.end == at; });
}

bool Slowdown::Ends(uint32_t rank, uint32_t row, Time now) {
  std::vector<Work>& works = devices_[rank].works;
  const auto work = std::find_if(works.begin(), works.end(), [&](const Work& w) { return w.row == row; });
  if (!Holds(rank, row, now)) return false;
  works.erase(work);
  return true;
}

const std::vector<Slowdown::End>& Slowdown::Change(uint32_t rank, bool begins, Time now) {
  ends_.clear();
  Device& d = devices_[rank];
  const int64_t before = Pace(d);
  d.collectives += begins ? 1 : -1;
  const int64_t after = Pace(d);
  if (before == after) return ends_;
  for (Work& w : d.works) {
    if (w.end <= now) continue;  // ends in this instant
    const auto elapsed = static_cast<__int128>((now - w.since).picos());
    const Time done = Time::Picos(static_cast<int64_t>(elapsed * kFull / before));
    w.left = std::max(Time::Zero(), w.left - done);
    w.since = now;
    w.end = now + Scale(w.left, after, kFull);
    ends_.push_back({w.row, w.end});
  }
  return ends_;
}

}  // namespace chakra
