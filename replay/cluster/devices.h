// Devices by name: their peaks and memory bandwidth, without a cluster.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/devices/known_devices.h"

namespace chakra {

// A known device, the device of a cluster preset ("dgx-h100"), or the device of a cluster file. Errors: no
// such name (with the nearest name, or all names), a file that does not parse, a device without memory
// bandwidth or peaks.
absl::StatusOr<proto::Device> FindDevice(const std::string& name);

}  // namespace chakra
