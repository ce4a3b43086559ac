// Reads the network file of ASTRA-sim's analytical back end.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Adds the dimensions in `content`, which is YAML. Errors name `file`, line, column and key.
absl::Status ReadAstraSimNetwork(const std::string& content, const std::string& file,
                                 proto::Cluster* cluster);

}  // namespace chakra
