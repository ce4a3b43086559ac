// Power over time, and the statistics that a site's operator needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replay/energy/amounts.h"
#include "trace/base/units.h"

namespace chakra::energy {

// A power that holds from `at` until the next step.
struct PowerStep {
  Time at;
  Milliwatts power = 0;
};

// Energy and extremes of a power, added span by span.
class PowerSums {
 public:
  // Adds `power` held for `span`, which must be longer than zero.
  void Add(Milliwatts power, Time span) {
    energy_ += EnergyOf(power, span.picos());
    peak_ = std::max(peak_, power);
    least_ = std::min(least_, power);
  }
  Femtojoules energy() const { return energy_; }
  // The maximum of the powers that held for some time; `now` if there are none.
  Milliwatts peak(Milliwatts now) const { return peak_ < least_ ? now : peak_; }
  Milliwatts least(Milliwatts now) const { return peak_ < least_ ? now : least_; }

 private:
  Femtojoules energy_ = 0;
  Milliwatts peak_ = INT64_MIN, least_ = INT64_MAX;
};

// A sum of powers whose changes come in order of time. A power that holds for no time is ignored.
class PowerCurve {
 public:
  // Beyond this number of steps, neighbours are joined to their mean; peak, least and energy stay exact.
  static constexpr size_t kMostSteps = size_t{1} << 18;

  // `keep`: keeps the steps, not only their extremes.
  explicit PowerCurve(Milliwatts start = 0, bool keep = false, size_t most_steps = kMostSteps)
      : power_(start), keep_(keep), most_(most_steps) {}

  void Change(Milliwatts by, Time now) {
    if (now > since_) Settle(now);
    power_ += by;
  }
  // Ends the curve. There must be no change after it.
  void End(Time now) {
    if (now > since_) Settle(now);
  }

  Milliwatts peak() const { return sums_.peak(power_); }
  Milliwatts least() const { return sums_.least(power_); }
  Femtojoules energy() const { return sums_.energy(); }
  Time end() const { return since_; }
  // In order of time; the last step holds until end().
  const std::vector<PowerStep>& steps() const { return steps_; }
  // The width of the joined steps; 0: nothing was joined.
  Time grain() const { return grain_; }

 private:
  void Settle(Time now) {
    sums_.Add(power_, now - since_);
    if (keep_ && (steps_.empty() || steps_.back().power != power_)) {
      if (steps_.size() >= most_) Join(since_);
      steps_.push_back({since_, power_});
    }
    since_ = now;
  }
  void Join(Time end);

  Milliwatts power_;
  PowerSums sums_;
  Time since_;
  bool keep_;
  size_t most_;
  Time grain_;
  std::vector<PowerStep> steps_;
};

// The power that the curve is at or below for `share` of its time.
Milliwatts PowerBelow(const PowerCurve& curve, double share);
// The largest difference of power between two instants that are at most `window` apart.
Milliwatts SwingWithin(const PowerCurve& curve, Time window);
// The mean of each of `buckets` equal parts of the curve's time, in watts.
std::vector<double> MeanOfBuckets(const PowerCurve& curve, int buckets);

}  // namespace chakra::energy
