#include "trace/base/quantity.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace chakra {
namespace {

struct Unit {
  absl::string_view name;
  double size;
};
constexpr Unit kTimes[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
constexpr Unit kSizes[] = {{"B", 1},    {"KB", 1e3},      {"kB", 1e3},      {"MB", 1e6},
                           {"GB", 1e9}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
constexpr Unit kRates[] = {{"b/s", 0.125}, {"bps", 0.125}, {"bit/s", 0.125}, {"B/s", 1}, {"Bps", 1}};
constexpr Unit kPrefixes[] = {{"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"k", 1e3},
                              {"K", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12}};

template <size_t n>
double SizeOf(const Unit (&units)[n], absl::string_view name) {
  for (const Unit& u : units) {
    if (u.name == name) return u.size;
  }
  return 0;
}

}  // namespace

bool SplitQuantity(absl::string_view text, double* number, absl::string_view* unit) {
  text = absl::StripAsciiWhitespace(text);
  absl::ConsumePrefix(&text, "+");
  const auto is_digit = [&](size_t i) {
    return i < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[i]));
  };
  size_t n = 0;
  while (is_digit(n) || (n < text.size() && text[n] == '.')) ++n;
  if (n > 0 && n < text.size() && (text[n] == 'e' || text[n] == 'E')) {
    const size_t sign = n + 1 < text.size() && (text[n + 1] == '-' || text[n + 1] == '+') ? 1 : 0;
    size_t end = n + 1 + sign;
    while (is_digit(end)) ++end;
    if (end > n + 1 + sign) n = end;
  }
  *unit = absl::StripAsciiWhitespace(text.substr(n));
  return n > 0 && absl::SimpleAtod(text.substr(0, n), number) && std::isfinite(*number);
}

double PicosOfUnit(absl::string_view unit) { return SizeOf(kTimes, unit); }

double BytesOfUnit(absl::string_view unit) { return SizeOf(kSizes, unit); }

double RateOfUnit(absl::string_view unit) {
  if (const double plain = SizeOf(kRates, unit); plain > 0) return plain;
  for (const Unit& prefix : kPrefixes) {
    absl::string_view base = unit;
    if (absl::ConsumePrefix(&base, prefix.name)) return prefix.size * SizeOf(kRates, base);
  }
  return 0;
}

}  // namespace chakra
