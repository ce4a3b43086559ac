// Numbers with their units, as users write them.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/base/units.h"

namespace chakra {

// What a text begins with, a number that is not negative ("1.5", "+3e-6"), and the unit behind: "1.5 us"
// is 1.5 and "us". Blanks around both are left out. False: there is no such number, or none that is finite.
bool SplitQuantity(absl::string_view text, double* number, absl::string_view* unit);
// What one of a unit is, 0 where there is no such unit. Picoseconds of ps, ns, us, ms and s;
double PicosOfUnit(absl::string_view unit);
// bytes of B, KB (or kB), MB, GB and TB (decimal), KiB, MiB, GiB and TiB;
double BytesOfUnit(absl::string_view unit);
// bytes a second of b/s, bps, bit/s, B/s and Bps, with k, K, M, G or T (decimal), Ki, Mi, Gi or Ti before.
double RateOfUnit(absl::string_view unit);

// Whole quantities. Errors (InvalidArgument) are "\"TEXT\"; expected ...".
// A rate with its unit; a missing unit is told with what both b/s and B/s would mean.
absl::StatusOr<Bandwidth> ParseRate(absl::string_view text);
// A time with its unit. Errors: more than `most`; 106 days or more.
absl::StatusOr<Time> ParseTime(absl::string_view text, Time most = Time::Micros(1000000));
// A size, in bytes where it has no unit. Whole bytes, at most 1000 TB.
absl::StatusOr<uint64_t> ParseBytes(absl::string_view text);

}  // namespace chakra
