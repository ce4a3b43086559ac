// Adapts the kernel model to one device by a few of its own measurements.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/compute/model/predict.h"

namespace chakra {

// Returns `device` with the kernel_scale that minimises the mean squared logarithm of modelled / measured
// time over the measured rows. Few rows change the scales only a little: each scale is held near 1 as if by a
// row of a third of the weight. Errors (InvalidArgument): a row that the model refuses, no row with a
// measured time.
absl::StatusOr<proto::Device> CalibrateDevice(const proto::Device& device, const KernelRows& rows);

// Returns the factors on start, share of peak and share of memory that minimise `misfit`, a sum of squared
// logarithms over measured rows. Each factor is held near 1 as in CalibrateDevice().
std::vector<double> FindScales(absl::FunctionRef<double(const std::vector<double>& scale)> misfit);

}  // namespace chakra
