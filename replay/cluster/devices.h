// Devices by name: their peaks and memory bandwidth, without a cluster around them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"

namespace chakra {

// A device by its name or another that it goes by ("V100", "Tesla_V100-PCIE-32GB", "H100-SXM5-80GB"; case,
// blanks, "-", "_" and the words NVIDIA, Tesla, AMD, Instinct and VF do not count), that of a cluster preset
// ("dgx-h100"), or that of a cluster file. Rates are dense, from the sources in replay/cluster/presets/.
// Errors: neither (with the nearest name, or all), a file that does not parse, a device without memory
// bandwidth or peaks.
absl::StatusOr<proto::Device> FindDevice(const std::string& name);

// Every device's own name.
std::vector<std::string> DeviceNames();

// The dtypes that Device::peak_tflops knows.
std::vector<std::string> PeakDtypes();

}  // namespace chakra
