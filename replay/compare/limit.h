// --fail-over: how much slower B may be.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/compare.pb.h"

namespace chakra {

// "2%" or "5ms": B fails where it takes more than A by more than that.
struct SlowdownLimit {
  std::string text;      // as given
  bool relative = true;  // percent of A, else picoseconds
  double percent = 0;
  int64_t ps = 0;
};

// A number that is not negative, and "%", "s", "ms", "us", "ns" or "ps" (blanks
// between the two do not count). Errors: anything else.
absl::StatusOr<SlowdownLimit> ParseSlowdownLimit(absl::string_view text);

// What --fail-on may name of a comparison of reports, or of traces; the first
// is the default.
std::vector<std::string> LimitSubjects(bool reports);

// Fills `failure` and `limit` of `comparison`, which must list all changes. Each
// of `subjects` is a section whose time is checked: of reports "makespan", "jobs"
// (makespans), "ranks" (ends), "collectives", "operators", "lanes", "rungs" (sums
// of times), "steps" (replayed); of traces (recorded times) "duration" (the sum),
// "span" (last end less first start), "ranks", "collectives", "operators",
// "lanes" (sums). A row fails when b - a is more than the limit, or with
// `both_ways` when |b - a| is; what only one side has takes no time on the
// other, and where a is 0 any b above is more than any percentage. Rows that one
// report may only have left out (cut lists) are passed over.
// Errors: a subject that there is not, with the nearest.
absl::Status CheckLimit(const SlowdownLimit& limit, const std::vector<std::string>& subjects, bool both_ways,
                        bool reports, proto::Comparison* comparison);

}  // namespace chakra
