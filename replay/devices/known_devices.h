// The devices that are built in, by name. To add one: a file NAME.txtpb (proto::DeviceFile), and nothing
// else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/device.pb.h"

namespace chakra {

// A device by its name or another that it goes by ("V100", "Tesla_V100-PCIE-32GB", "H100-SXM5-80GB"; case,
// blanks, "-", "_" and the words NVIDIA, Tesla, AMD, Instinct and VF do not count); nullopt: none is known by
// it. Rates are dense.
absl::StatusOr<std::optional<proto::Device>> KnownDevice(absl::string_view name);

// All devices, by name. `device` of energy, price and footprint is filled. Parsed at the first call; the
// errors of a file, which a test excludes, leave an empty list.
const std::vector<proto::DeviceFile>& KnownDevices();

// Every device's own name, sorted.
std::vector<std::string> DeviceNames();

// The fields of the known device of that very name, as text, with their sources; "": there is none.
absl::string_view DeviceText(absl::string_view name);

// The dtypes that Device::peak_tflops knows.
std::vector<std::string> PeakDtypes();

}  // namespace chakra
