// The network of an ASTRA-sim analytical back end.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Adds the dimensions that `content`, YAML, lists. Errors name `file`, line, column and key.
absl::Status ReadAstraSimNetwork(const std::string& content, const std::string& file,
                                 proto::Cluster* cluster);

}  // namespace chakra
