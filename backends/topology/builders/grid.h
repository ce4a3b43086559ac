// What the builders of grids share: their parameters, and the building.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/topology/builders/common.h"
#include "backends/topology/builders/dimension_order.h"

namespace chakra {

constexpr int kMaxGridDimensions = 8;
constexpr uint64_t kMaxGridLinks = uint64_t{1} << 24;

// The `dims` sizes >= 1 with that product of which the largest is the least
// (then the second largest, ...), in ascending order.
std::vector<int> MostCubic(int product, int dims);

// The parameters `shape`, `dims` (`dims` the fallback), `order`, `hosts`, `link`,
// `latency`, `host_link` and `host_latency`, and `more`.
std::vector<Parameter> GridParameters(const char* dims, std::vector<Parameter> more);

// The shape, the hosts, the devices and the order by these parameters; the joins
// are left to the caller. Errors: no shape and no devices, or more devices than
// fit (with a shape into which they do), fewer where they are the routers.
absl::StatusOr<Grid> GridOf(const Parameters& p, int devices);

// Of the links in `grid`, classes "dim0", "dim1", ... (with one dimension:
// "link") by the parameters `link` and `latency`, each one value or one for
// each dimension in parentheses, and "host". `any_rate`: see Parameters::Rate.
// Errors: a value, or more than kMaxGridLinks links.
absl::StatusOr<Network> BuildGrid(const Parameters& p, const Grid& grid, bool any_rate);

// A network of one dimension, with the parameters of LineParameters().
absl::StatusOr<Network> BuildLine(const Parameters& p, int devices, Join join, int most);
std::vector<Parameter> LineParameters(const char* devices_doc);

}  // namespace chakra
