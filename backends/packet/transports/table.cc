#include "backends/packet/transports/table.h"

#include <cmath>

namespace chakra::packet {
namespace {

// The value in the largest unit in which it is a whole number.
template <size_t n>
std::string Whole(double v, const std::pair<const char*, double> (&units)[n]) {
  for (const auto& [sign, scale] : units) {
    if (std::fmod(v, scale) == 0) return absl::StrCat(v / scale, sign);
  }
  return absl::StrCat(v, units[n - 1].first);
}

}  // namespace

std::string PrintRate(double bytes_per_pico) {
  constexpr std::pair<const char*, double> kUnits[] = {
      {"Gb/s", 1e9}, {"Mb/s", 1e6}, {"kb/s", 1e3}, {"b/s", 1}};
  return Whole(std::round(bytes_per_pico * 8e12), kUnits);
}

std::string PrintPicos(int64_t picos) {
  constexpr std::pair<const char*, double> kUnits[] = {
      {"s", 1e12}, {"ms", 1e9}, {"us", 1e6}, {"ns", 1e3}, {"ps", 1}};
  return Whole(static_cast<double>(picos), kUnits);
}

}  // namespace chakra::packet
