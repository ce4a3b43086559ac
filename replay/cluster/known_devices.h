// The devices that are built in, by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"

namespace chakra {

// A device by its name or another that it goes by ("V100", "Tesla_V100-PCIE-32GB", "H100-SXM5-80GB"; case,
// blanks, "-", "_" and the words NVIDIA, Tesla, AMD, Instinct and VF do not count); nullopt: none is known by
// it. Rates are dense, from the sources in replay/cluster/presets/.
absl::StatusOr<std::optional<proto::Device>> KnownDevice(absl::string_view name);

// Every device's own name.
std::vector<std::string> DeviceNames();

// The dtypes that Device::peak_tflops knows.
std::vector<std::string> PeakDtypes();

}  // namespace chakra
