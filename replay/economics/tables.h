// Prices, grids and footprints: what is built in, and what files say instead.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/economics.pb.h"

namespace chakra::economics {

// "built-in": as they are built in; else a file whose fields replace those. Errors: ReadMessageFile()'s; a price that
// is missing, negative, or outside of its range; each by field.
absl::StatusOr<proto::Prices> LoadPrices(const std::string& file);

// A region ("iowa", "france"; case, blanks, "-" and "_" do not count) or a file. Errors: a name that is neither, with the nearest
// region; a negative intensity, a fab out of range, hours without a first hour; each by field.
absl::StatusOr<proto::Grid> LoadGrid(const std::string& region_or_file);

std::vector<std::string> Regions();

// Of a device; null: the tables have none of it. Devices go by the names that FindDevice() knows.
const proto::DevicePrice* PriceOf(const proto::Prices& prices, const std::string& device);
const proto::Embodied* EmbodiedOf(const proto::Grid& grid, const std::string& device);

// A moment as seconds since 1970: "2026-03-01T12:00:00Z". Errors: no such text.
absl::StatusOr<double> ParseMoment(const std::string& text);
// Mean g/kWh from `start` (seconds since 1970) for `seconds`: of the hours that the grid lists, else its constant.
double MeanIntensity(const proto::Grid& grid, double start, double seconds);

}  // namespace chakra::economics
