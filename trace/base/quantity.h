// Parses numbers with units, as users write them.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/base/units.h"

namespace chakra {

// Splits "1.5 us" into 1.5 and "us". The number is not negative ("1.5", "+3e-6"); blanks around number and
// unit are removed. Returns false if `text` does not begin with such a number, or if the number is not
// finite.
bool SplitQuantity(absl::string_view text, double* number, absl::string_view* unit);
// The size of a unit; 0 if there is no such unit. In picoseconds: ps, ns, us, ms and s.
double PicosOfUnit(absl::string_view unit);
// In bytes: B, KB (or kB), MB, GB and TB (decimal), KiB, MiB, GiB and TiB.
double BytesOfUnit(absl::string_view unit);
// In bytes per second: b/s, bps, bit/s, B/s and Bps, with a prefix k, K, M, G, T (decimal), Ki, Mi, Gi or Ti.
double RateOfUnit(absl::string_view unit);

// Parse a quantity that is all of `text`. Errors (InvalidArgument) are "\"TEXT\"; expected ...".
// A rate with its unit. The error for a missing unit gives the value in both b/s and B/s.
absl::StatusOr<Bandwidth> ParseRate(absl::string_view text);
// A time with its unit. Errors: more than `most`, or 106 days and more.
absl::StatusOr<Time> ParseTime(absl::string_view text, Time most = Time::Micros(1000000));
// A size; bytes if it has no unit. Must be a whole number of bytes, at most 1000 TB.
absl::StatusOr<uint64_t> ParseBytes(absl::string_view text);

}  // namespace chakra
