#include "trace/base/units.h"

#include <cmath>

#include "absl/strings/str_format.h"

namespace chakra {

Time Time::FromNanos(double ns) {
  const double ps = ns * 1000.0;
  if (!(ps < 9.2e18)) return Never();
  if (ps < -9.2e18) return Limit(true);
  return Picos(std::llround(ps));
}

Bandwidth Bandwidth::FromGigabytes(double gb_per_s) {
  const double bps = gb_per_s * 1e9;
  if (!(bps < 9.2e18)) return BytesPerSecond(std::numeric_limits<int64_t>::max());
  return BytesPerSecond(std::llround(bps));
}

std::string FormatTime(Time t) {
  const double s = t.seconds();
  const double a = std::fabs(s);
  if (t == Time::Never()) return "> 106 days";
  if (a == 0) return "0 s";
  if (a < 1e-9) return absl::StrFormat("%.4g ps", s * 1e12);
  if (a < 1e-6) return absl::StrFormat("%.4g ns", s * 1e9);
  if (a < 1e-3) return absl::StrFormat("%.4g us", s * 1e6);
  if (a < 1) return absl::StrFormat("%.4g ms", s * 1e3);
  return absl::StrFormat("%.4g s", s);
}

std::string FormatBytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double v = static_cast<double>(bytes);
  int u = 0;
  while (v >= 1024 && u < 6) {
    v /= 1024;
    ++u;
  }
  return u == 0 ? absl::StrFormat("%d B", bytes) : absl::StrFormat("%.4g %s", v, kUnits[u]);
}

}  // namespace chakra
