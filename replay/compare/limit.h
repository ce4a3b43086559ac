// --fail-over: checks how much slower B is than A.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/compare.pb.h"

namespace chakra {

// A limit such as "2%" or "5ms": B fails if it exceeds A by more than the limit.
struct SlowdownLimit {
  std::string text;      // as given
  bool relative = true;  // percent of A, else picoseconds
  double percent = 0;
  int64_t ps = 0;
};

// Reads a number >= 0 and a unit: "%", "s", "ms", "us", "ns" or "ps"; blanks between them are ignored.
// Errors: any other text.
absl::StatusOr<SlowdownLimit> ParseSlowdownLimit(absl::string_view text);

// The names that --fail-on accepts, for reports or for traces; the first is the default.
std::vector<std::string> LimitSubjects(bool reports);

// Fills `failure` and `limit` of `comparison`, which must list all changes. Each of `subjects` is a section
// whose time is checked: of reports "makespan", "jobs" (makespans), "ranks" (ends), "collectives",
// "operators", "lanes", "time_sources" (sums of times), "steps" (replayed); of traces (recorded times)
// "duration" (the sum), "span" (last end less first start), "ranks", "collectives", "operators", "lanes"
// (sums). A row fails if b - a, or with `both_ways` |b - a|, exceeds the limit. A row that one side lacks
// takes no time there. If a is 0, any larger b exceeds every percentage. Rows that a report may have left out
// (cut lists) are skipped. Errors: an unknown subject; the error suggests the nearest.
absl::Status CheckLimit(const SlowdownLimit& limit, const std::vector<std::string>& subjects, bool both_ways,
                        bool reports, proto::Comparison* comparison);

}  // namespace chakra
