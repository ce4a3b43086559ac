// Compares two reports of `replay`.
#pragma once

#include <vector>

#include "proto/compare.pb.h"
#include "proto/report.pb.h"

namespace chakra {

// Each result in the reports becomes a section; sections without rows are left out. The sections: "run",
// "last_rank" (where the rank that ends last spent its time: four shares that add up to its end), "jobs",
// "ranks", "fixed_time", "collectives", "operators", "lanes", "steps", "time_sources", "dimensions", "links",
// "packets", "flows", "unanswered", "repairs", "energy", "energy by cause", "cost", "cost by part", "carbon",
// "carbon by part", "goodput". Differences in what the runs were made from (inputs by content, cluster,
// fabric, version,
// ...), and warnings of only one run, become settings. The fields `a`, `b`, `limit` and `failure` are not
// set. Operators whose names differ only in numbers are merged if `merge_numbers` is set, or if one of the
// reports has merged them.
proto::Comparison CompareReports(const proto::Report& a, const proto::Report& b, bool merge_numbers = false);

}  // namespace chakra
