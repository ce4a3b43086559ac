// The common part of the builders of grids: their parameters and the construction.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/topology/builders/common.h"
#include "backends/topology/builders/dimension_order.h"

namespace chakra {

constexpr int kMaxGridDimensions = 8;
constexpr uint64_t kMaxGridLinks = uint64_t{1} << 24;

// The `dims` sizes >= 1 with this product whose largest is minimal (then the second largest, and so on), in
// ascending order.
std::vector<int> MostCubic(int product, int dims);

// The parameters `shape`, `dims` (with the argument `dims` as fallback), `order`, `hosts`, `link`, `latency`,
// `host_link` and `host_latency`, followed by `more`.
std::vector<Parameter> GridParameters(const char* dims, std::vector<Parameter> more);

// Reads shape, hosts, devices and order from these parameters; the caller sets the joins. Errors: neither a
// shape nor devices; more devices than fit (the error suggests a shape); fewer devices than routers, if the
// devices are the routers.
absl::StatusOr<Grid> GridOf(const Parameters& p, int devices);

// Builds the network of `grid`. Its classes of links are "dim0", "dim1", ... (with one dimension: "link") and
// "host". The parameters `link` and `latency` have one value, or one for each dimension in parentheses.
// `any_rate`: see Parameters::Rate(). Errors: an invalid value; more than kMaxGridLinks links.
absl::StatusOr<Network> BuildGrid(const Parameters& p, const Grid& grid, bool any_rate);

// A network of one dimension, with the parameters of LineParameters().
absl::StatusOr<Network> BuildLine(const Parameters& p, int devices, Join join, int most);
std::vector<Parameter> LineParameters(const char* devices_doc);

}  // namespace chakra
