// Rates of devices by their data sheets, and the range of the ratio between a time on one device and on
// another.
#pragma once

#include <string>

#include "proto/cluster.pb.h"

namespace chakra {

// `default_dtype` of the device; "bf16" if unset.
std::string DefaultDtype(const proto::Device& device);
// The share of its peak rates and clock that the power of the device lets it sustain; 1 if unknown.
double SustainedShare(const proto::Device& device);

// The rates that a device sustains for one dtype.
struct DeviceRates {
  double operations_per_us = 0;  // 0: the device has no peak, not even of its default dtype
  double bytes_per_us = 0;
  double doubt = 1;         // the factor by which operations_per_us may be off
  bool other_peak = false;  // the dtype has no peak here; the peak of the default dtype was used
};
DeviceRates RatesOf(const proto::Device& device, const std::string& dtype);

// The range of the factor by which a time of unknown work changes between two devices: the smallest and
// largest of 1 (no change), the ratio of peaks and the ratio of bandwidths.
struct SheetRatios {
  double least = 1, most = 1;
};
// Both devices must have a bandwidth and a peak of their default dtype.
SheetRatios RatiosOfSheets(const DeviceRates& from, const DeviceRates& to);

// The error of a transferred time, since devices reach different shares of their rooflines. The value was
// chosen so that three quarters of the transfers between devices in test/validation/kernels.md are within the
// stated error.
inline constexpr double kTransferError = 0.25;

}  // namespace chakra
