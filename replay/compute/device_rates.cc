#include "replay/compute/device_rates.h"

#include <algorithm>

namespace chakra {

std::string DefaultDtype(const proto::Device& device) {
  return device.default_dtype().empty() ? "bf16" : device.default_dtype();
}

double SustainedShare(const proto::Device& device) {
  return device.sustained_share() > 0 ? device.sustained_share() : 1;
}

DeviceRates RatesOf(const proto::Device& device, const std::string& dtype) {
  const double sustained = SustainedShare(device);
  DeviceRates rates;
  rates.bytes_per_us = device.memory_gbytes_per_s() * 1e3;  // 1 GB/s is 1e3 bytes per microsecond
  rates.doubt = 1 / sustained;
  for (const std::string& d : {dtype, DefaultDtype(device)}) {
    const auto it = device.peak_tflops().find(d);
    if (it != device.peak_tflops().end() && it->second > 0) {
      rates.operations_per_us = it->second * sustained * 1e6;  // 1 TFLOP/s is 1e6 operations per microsecond
      return rates;
    }
    rates.other_peak = true;
  }
  return rates;
}

SheetRatios RatiosOfSheets(const DeviceRates& from, const DeviceRates& to) {
  const double peaks = from.operations_per_us / to.operations_per_us;
  const double bandwidths = from.bytes_per_us / to.bytes_per_us;
  return {std::min({1.0, peaks, bandwidths}), std::max({1.0, peaks, bandwidths})};
}

}  // namespace chakra
