// Strong types for the quantities that cross module boundaries.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>

namespace chakra {

// An instant or a span of simulated time: an integer count of picoseconds, up to 106 days. At 800 Gb/s a byte
// needs 10 ps, so a coarser unit would not be exact. Sums and products that are too large become Never()
// instead of wrapping around.
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time Picos(int64_t n) { return Time(n); }
  static constexpr Time Nanos(int64_t n) { return Time(1000) * n; }
  static constexpr Time Micros(int64_t n) { return Time(1000000) * n; }
  // Nearest picosecond.
  static Time FromNanos(double ns);
  static constexpr Time Zero() { return Time(0); }
  // Later than every instant of a run.
  static constexpr Time Never() { return Time(std::numeric_limits<int64_t>::max()); }

  constexpr int64_t picos() const { return ps_; }
  constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }

  constexpr Time operator+(Time o) const {
    int64_t sum = 0;
    return __builtin_add_overflow(ps_, o.ps_, &sum) ? Limit(o.ps_ < 0) : Time(sum);
  }
  constexpr Time operator-(Time o) const {
    int64_t rest = 0;
    return __builtin_sub_overflow(ps_, o.ps_, &rest) ? Limit(ps_ < 0) : Time(rest);
  }
  constexpr Time& operator+=(Time o) { return *this = *this + o; }
  constexpr Time& operator-=(Time o) { return *this = *this - o; }
  constexpr Time operator*(int64_t k) const {
    int64_t product = 0;
    return __builtin_mul_overflow(ps_, k, &product) ? Limit((ps_ < 0) != (k < 0)) : Time(product);
  }
  constexpr auto operator<=>(const Time&) const = default;

 private:
  explicit constexpr Time(int64_t ps) : ps_(ps) {}
  static constexpr Time Limit(bool negative) {
    return negative ? Time(std::numeric_limits<int64_t>::min()) : Never();
  }
  int64_t ps_ = 0;
};

// A transfer rate: an integer count of bytes per second, so that both ASTRA-sim's "GB/s" (2^30 bytes in 1e9
// ns) and decimal GB/s are exact.
class Bandwidth {
 public:
  constexpr Bandwidth() = default;
  static constexpr Bandwidth BytesPerSecond(int64_t n) { return Bandwidth(n); }
  static Bandwidth FromGigabytes(double gb_per_s);  // decimal; nearest B/s
  constexpr int64_t bytes_per_second() const { return bps_; }
  constexpr auto operator<=>(const Bandwidth&) const = default;

 private:
  explicit constexpr Bandwidth(int64_t bps) : bps_(bps) {}
  int64_t bps_ = 0;
};

// The time to move `bytes` at `rate`, rounded up to a whole picosecond. Saturates at Time::Never().
// Precondition: rate > 0.
inline Time TransferTime(uint64_t bytes, Bandwidth rate) {
  const uint64_t bps = static_cast<uint64_t>(rate.bytes_per_second());
  constexpr uint64_t kPicos = 1000000000000;
  if (bytes <= 9000000) {  // the numerator fits 63 bits: a much cheaper division
    return Time::Picos(static_cast<int64_t>((bytes * kPicos + bps - 1) / bps));
  }
  const unsigned __int128 ps = (static_cast<unsigned __int128>(bytes) * kPicos + bps - 1) / bps;
  if (ps > static_cast<unsigned __int128>(std::numeric_limits<int64_t>::max())) return Time::Never();
  return Time::Picos(static_cast<int64_t>(ps));
}

// "1.234 ms": at most four significant digits, in the unit that suits the size. "> 106 days" for Never().
std::string FormatTime(Time t);
// "1.5 GiB", binary units.
std::string FormatBytes(uint64_t bytes);

}  // namespace chakra
