// Prices, grids and footprints: built-in tables, and files that override them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/economics.pb.h"

namespace chakra::economics {

// "built-in": the built-in prices; else a file, whose fields replace the built-in ones. Errors: those of
// ReadMessageFile(); a price that is missing, negative, or outside of its range. Errors name the field.
absl::StatusOr<proto::Prices> LoadPrices(const std::string& file);

// A region ("iowa", "france"; case, blanks, "-" and "_" are ignored) or a file, whose fields replace the
// built-in ones. Errors: a name that is neither, with the nearest region; a negative intensity, a fab out of
// range, hours without a first hour. Errors name the field.
absl::StatusOr<proto::Grid> LoadGrid(const std::string& region_or_file);

std::vector<std::string> Regions();

// The row of a device, under any of the names that FindDevice() knows; null: the tables do not have the
// device.
const proto::DevicePrice* PriceOf(const proto::Prices& prices, const std::string& device);
const proto::Embodied* EmbodiedOf(const proto::Grid& grid, const std::string& device);

// The seconds since 1970 of a text such as "2026-03-01T12:00:00Z". Errors: other texts.
absl::StatusOr<double> ParseMoment(const std::string& text);
// The mean g/kWh over `seconds` from `start` (seconds since 1970): of the hours that the grid lists, which
// repeat, else the grid's constant.
double MeanIntensity(const proto::Grid& grid, double start, double seconds);

}  // namespace chakra::economics
