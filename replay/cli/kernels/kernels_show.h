// `chakra-replay kernels show --device DEVICE --op OP`: the kernel model's times for common sizes of an op.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace chakra::cli {

// Prints a table (format "text") or rows of `kernels predict` ("csv"). `dtype` "": the op's default. Errors:
// an unknown device, op or dtype.
absl::Status ShowKernelModel(const std::string& device, const std::string& op, const std::string& dtype,
                             const std::string& format);

}  // namespace chakra::cli
