// Moves the law to one device by a few of its own measurements.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/compute/model/predict.h"

namespace chakra {

// `device` with the kernel_scale under which the model comes nearest to the measured rows, in the mean of
// squared logarithms. Few rows move it a little: each scale is held near 1 as if by a row of a third of the
// weight. Errors (InvalidArgument): a row that the model refuses, no row with a measured time.
absl::StatusOr<proto::Device> CalibrateDevice(const proto::Device& device, const KernelRows& rows);

// Scales of a start, a share of peak and a share of memory under which `misfit`, a sum of squared logarithms
// of measured rows, is least, with each held near 1 as above.
std::vector<double> FindScales(absl::FunctionRef<double(const std::vector<double>& scale)> misfit);

}  // namespace chakra
