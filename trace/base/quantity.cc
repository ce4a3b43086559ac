#include "trace/base/quantity.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace chakra {
namespace {

struct Unit {
  absl::string_view name;
  double size;
};
constexpr Unit kTimes[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
constexpr Unit kSizes[] = {{"B", 1},     {"KB", 1e3},     {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
                           {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
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

std::string Digits(double v) { return absl::StrCat(v); }

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

absl::StatusOr<Bandwidth> ParseRate(absl::string_view text) {
  double v = 0;
  absl::string_view unit;
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\"; expected ", what));
  };
  if (!SplitQuantity(text, &v, &unit)) return bad("a rate with its unit, as 400Gb/s or 50GB/s");
  if (unit.empty()) {
    return bad(absl::StrCat("a unit: ", Digits(v), "Gb/s (", Digits(v / 8), " GB/s) or ", Digits(v), "GB/s (",
                            Digits(v * 8), " Gb/s)?"));
  }
  const double scale = RateOfUnit(unit);
  if (scale == 0) return bad("a rate in b/s or B/s with k, M, G or T before it, as 400Gb/s or 50GB/s");
  const double bytes = std::round(v * scale);
  if (bytes < 1 || bytes > 1e18) return bad("1 B/s to 1e18 B/s");
  return Bandwidth::BytesPerSecond(static_cast<int64_t>(bytes));
}

absl::StatusOr<Time> ParseTime(absl::string_view text, Time most) {
  double v = 0;
  absl::string_view unit;
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\"; expected ", what));
  };
  if (!SplitQuantity(text, &v, &unit)) return bad("a time with its unit, as 500ns or 1.5us");
  if (const double picos = PicosOfUnit(unit); picos > 0) {
    const double ps = std::round(v * picos);
    if (ps > 9.2e18) return bad("at most 106 days");
    if (ps > static_cast<double>(most.picos())) return bad(absl::StrCat("at most ", most.seconds(), "s"));
    return Time::Picos(static_cast<int64_t>(ps));
  }
  return bad(unit.empty() ? "a unit: ps, ns, us, ms or s" : "one of the units ps, ns, us, ms and s");
}

absl::StatusOr<uint64_t> ParseBytes(absl::string_view text) {
  double v = 0;
  absl::string_view unit;
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\"; expected ", what));
  };
  if (!SplitQuantity(text, &v, &unit)) return bad("a size, as 4096, 400KB or 32MiB");
  if (const double bytes = unit.empty() ? 1 : BytesOfUnit(unit); bytes > 0) {
    const double n = v * bytes;
    if (n != std::floor(n)) return bad("whole bytes");
    if (n > 1e15) return bad("at most 1000TB");
    return static_cast<uint64_t>(n);
  }
  return bad("one of the units B, KB, MB, GB, TB, KiB, MiB, GiB and TiB (bytes, not bits)");
}

}  // namespace chakra
