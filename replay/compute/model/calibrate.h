// Moves the law to one device by a few of its own measurements.
#pragma once

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/compute/model/predict.h"

namespace chakra {

// `device` with the kernel_scale under which the model comes nearest to the measured rows, in the mean of
// squared logarithms. Few rows move it a little: each scale is held near 1 as if by a row of a third of the
// weight. Errors (InvalidArgument): a row that the model refuses, no row with a measured time.
inline constexpr double kCalibrationSure = 0.33;
absl::StatusOr<proto::Device> CalibrateDevice(const proto::Device& device, const KernelRows& rows);

}  // namespace chakra
