#include "replay/machine/check.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace chakra {
namespace {

constexpr double kMaxNanos = 1e9;

}  // namespace

absl::Status BadField(absl::string_view field, absl::string_view got, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("cluster: ", field, " is ", got, "; expected ", expected));
}

absl::Status CheckNumber(absl::string_view field, double v, double limit, bool required) {
  if (!std::isfinite(v) || v < 0 || v > limit || (required && v == 0)) {
    return BadField(field, absl::StrCat(v),
                    absl::StrCat("a number ", required ? "> 0" : ">= 0", " and <= ", limit));
  }
  return absl::OkStatus();
}

absl::StatusOr<Bandwidth> CheckBandwidth(absl::string_view field, double gigabytes_per_s, bool required) {
  if (absl::Status s = CheckNumber(field, gigabytes_per_s, kMaxGigabytesPerSecond, required); !s.ok())
    return s;
  const Bandwidth b = Bandwidth::FromGigabytes(gigabytes_per_s);
  if (gigabytes_per_s > 0 && b.bytes_per_second() < 1) {
    return BadField(field, absl::StrCat(gigabytes_per_s), "at least 1e-9 (1 B/s)");
  }
  return b;
}

absl::StatusOr<Time> CheckNanos(absl::string_view field, double ns) {
  if (absl::Status s = CheckNumber(field, ns, kMaxNanos, false); !s.ok()) return s;
  return Time::FromNanos(ns);
}

}  // namespace chakra
