// `chakra-replay kernels show --device DEVICE --op OP`: what the kernel model says of sizes that the op
// usually has.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace chakra::cli {

// Prints a table (format "text") or rows of `kernels predict` ("csv"). `dtype` "": what the op takes by
// default. Errors: a device, an op or a dtype that is not known.
absl::Status ShowKernelModel(const std::string& device, const std::string& op, const std::string& dtype,
                             const std::string& format);

}  // namespace chakra::cli
