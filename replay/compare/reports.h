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
proto::Comparison CompareReports(const proto::Report& a, const proto::Report& b);

}  // namespace chakra
