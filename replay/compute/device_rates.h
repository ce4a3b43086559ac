// Rates of devices by their data sheets, and what they allow a time to change between two devices.
#pragma once

#include <string>

#include "proto/cluster.pb.h"

namespace chakra {

// `default_dtype` of the device; "bf16" where it says none.
std::string DefaultDtype(const proto::Device& device);
// Of peaks and clock, what its power lets it hold; 1 where it says nothing.
double SustainedShare(const proto::Device& device);

// The rates that a device sustains for one dtype.
struct DeviceRates {
  double operations_per_us = 0;  // 0: the device has no peak, not even of its default dtype
  double bytes_per_us = 0;
  double doubt = 1;         // by what factor operations_per_us may be off
  bool other_peak = false;  // the dtype has no peak here; that of the default dtype stands in
};
DeviceRates RatesOf(const proto::Device& device, const std::string& dtype);

// Between what a time of unknown work changes: nothing, and the ratios of peaks and of bandwidths.
struct SheetRatios {
  double least = 1, most = 1;
};
// Both devices have a bandwidth and a peak of their default dtype.
SheetRatios RatiosOfSheets(const DeviceRates& from, const DeviceRates& to);

// Devices reach different shares of their rooflines. With this value, three quarters of the transfers between
// devices in test/validation/kernels.md are within the stated error; the value was chosen to achieve this.
inline constexpr double kTransferError = 0.25;

}  // namespace chakra
