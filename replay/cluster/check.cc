#include "replay/cluster/check.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace chakra {
namespace {

constexpr double kMaxNanos = 1e9;

// `field` with what stands before it.
absl::Status Wrong(absl::string_view field, absl::string_view got, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(field, " is ", got, "; expected ", expected));
}

absl::Status WrongNumber(absl::string_view field, double v, double limit, bool required) {
  if (std::isfinite(v) && v >= 0 && v <= limit && !(required && v == 0)) return absl::OkStatus();
  return Wrong(field, absl::StrCat(v),
               absl::StrCat("a number ", required ? "> 0" : ">= 0", " and <= ", limit));
}

}  // namespace

absl::Status BadField(absl::string_view field, absl::string_view got, absl::string_view expected) {
  return Wrong(absl::StrCat("cluster: ", field), got, expected);
}

absl::Status CheckNumber(absl::string_view field, double v, double limit, bool required) {
  return WrongNumber(absl::StrCat("cluster: ", field), v, limit, required);
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

Labelled::Labelled(absl::string_view label, absl::string_view place)
    : labelled_(!label.empty()), name_(labelled_ ? std::string(label) : absl::StrCat("cluster: ", place)) {}

std::string Labelled::Field(absl::string_view name) const {
  return absl::StrCat(name_, labelled_ ? ": " : ".", name);
}

absl::Status Labelled::Error(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(name_, labelled_ ? ": " : " ", what));
}

absl::Status Labelled::Bad(absl::string_view name, absl::string_view got, absl::string_view expected) const {
  return Wrong(Field(name), got, expected);
}

absl::Status Labelled::CheckNumber(absl::string_view name, double v, double limit, bool required) const {
  return WrongNumber(Field(name), v, limit, required);
}

}  // namespace chakra
