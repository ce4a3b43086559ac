#include "replay/energy/curve.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace chakra::energy {
namespace {

// The end of step `i`.
Time EndOf(const PowerCurve& curve, size_t i) {
  return i + 1 < curve.steps().size() ? curve.steps()[i + 1].at : curve.end();
}

// The energy of `steps` in each cell of `width`, from time 0 on. The last step holds until `end`.
std::vector<Femtojoules> EnergyOfCells(const std::vector<PowerStep>& steps, Time end, Time width) {
  std::vector<Femtojoules> cells(static_cast<size_t>((end.picos() + width.picos() - 1) / width.picos()));
  for (size_t i = 0; i < steps.size(); ++i) {
    Time at = steps[i].at;
    const Time until = i + 1 < steps.size() ? steps[i + 1].at : end;
    while (at < until) {
      const auto cell = static_cast<size_t>(at.picos() / width.picos());
      const Time stop = std::min(until, width * static_cast<int64_t>(cell + 1));
      cells[cell] += EnergyOf(steps[i].power, (stop - at).picos());
      at = stop;
    }
  }
  return cells;
}

}  // namespace

// Widens the cells until there is room for as many new steps.
void PowerCurve::Join(Time end) {
  const Time least = Time::Picos(end.picos() / static_cast<int64_t>(most_ / 2) + 1);
  grain_ = std::max(grain_ * 2, least);
  const std::vector<Femtojoules> cells = EnergyOfCells(steps_, end, grain_);
  steps_.clear();
  for (size_t i = 0; i < cells.size(); ++i) {
    const Time at = grain_ * static_cast<int64_t>(i);
    const Time width = std::min(grain_, end - at);
    const auto mean = static_cast<Milliwatts>(cells[i] / width.picos());
    if (steps_.empty() || steps_.back().power != mean) steps_.push_back({at, mean});
  }
}

Milliwatts PowerBelow(const PowerCurve& curve, double share) {
  std::vector<std::pair<Milliwatts, int64_t>> held;
  for (size_t i = 0; i < curve.steps().size(); ++i)
    held.emplace_back(curve.steps()[i].power, (EndOf(curve, i) - curve.steps()[i].at).picos());
  std::sort(held.begin(), held.end());
  const double wanted = share * static_cast<double>(curve.end().picos());
  double sum = 0;
  for (const auto& [power, ps] : held) {
    sum += static_cast<double>(ps);
    if (sum >= wanted) return power;
  }
  return held.empty() ? curve.peak() : held.back().first;
}

// Two queues hold the candidates for the minimum and the maximum of the steps that touch the window, which
// ends at the start of step `i`.
Milliwatts SwingWithin(const PowerCurve& curve, Time window) {
  const std::vector<PowerStep>& steps = curve.steps();
  std::deque<size_t> least, most;
  Milliwatts swing = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Milliwatts power = steps[i].power;
    while (!least.empty() && steps[least.back()].power >= power) least.pop_back();
    while (!most.empty() && steps[most.back()].power <= power) most.pop_back();
    least.push_back(i);
    most.push_back(i);
    const auto gone = [&](size_t j) { return EndOf(curve, j) < steps[i].at - window; };
    while (gone(least.front())) least.pop_front();
    while (gone(most.front())) most.pop_front();
    swing = std::max(swing, steps[most.front()].power - steps[least.front()].power);
  }
  return swing;
}

std::vector<double> MeanOfBuckets(const PowerCurve& curve, int buckets) {
  std::vector<double> out;
  if (curve.end() == Time::Zero() || curve.steps().empty()) return out;
  const Time width = Time::Picos((curve.end().picos() + buckets - 1) / buckets);
  const std::vector<Femtojoules> cells = EnergyOfCells(curve.steps(), curve.end(), width);
  for (size_t i = 0; i < cells.size(); ++i) {
    const Time held = std::min(width, curve.end() - width * static_cast<int64_t>(i));
    out.push_back(static_cast<double>(cells[i]) / static_cast<double>(held.picos()) / 1000);
  }
  return out;
}

}  // namespace chakra::energy
