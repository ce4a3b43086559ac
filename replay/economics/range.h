// Numbers with a minimum and a maximum.
#pragma once

#include "proto/energy.pb.h"
#include "replay/energy/model.h"

namespace chakra::economics {

struct Range {
  double low = 0, value = 0, high = 0;

  Range() = default;
  Range(double exact) : low(exact), value(exact), high(exact) {}  // NOLINT: numbers are ranges
  Range(double least, double middle, double most) : low(least), value(middle), high(most) {}
  explicit Range(const proto::Figure& f) : low(energy::Low(f)), value(f.value()), high(energy::High(f)) {}

  Range& operator+=(const Range& o) { return *this = {low + o.low, value + o.value, high + o.high}; }
};

// For numbers that are not negative.
inline Range operator+(Range a, const Range& b) { return a += b; }
inline Range operator*(const Range& a, const Range& b) {
  return {a.low * b.low, a.value * b.value, a.high * b.high};
}
// Requires `b` > 0.
inline Range operator/(const Range& a, const Range& b) {
  return {a.low / b.high, a.value / b.value, a.high / b.low};
}

}  // namespace chakra::economics
