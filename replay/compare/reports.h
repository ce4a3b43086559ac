// What changed between two reports of `replay`.
#pragma once

#include <vector>

#include "proto/compare.pb.h"
#include "proto/report.pb.h"

namespace chakra {

// Every part of the reports that is a result, as one section each, sections
// without rows left out: "run", "last_rank" (where the rank that ends last spent
// its time: four shares that add up to its end), "jobs", "ranks", "collectives",
// "operators", "lanes", "steps", "rungs", "dimensions", "links", "packets",
// "flows", "unanswered", "repairs". What the runs were made of and with (inputs by
// their content, cluster, fabric, version, ...) are settings where they differ,
// and warnings of one of them. `a`, `b`, `limit` and `failure` are left alone.
// `merge_numbers`: operators whose names differ in their numbers alone are one, as
// they are where one of the reports has merged them.
proto::Comparison CompareReports(const proto::Report& a, const proto::Report& b, bool merge_numbers = false);

}  // namespace chakra
