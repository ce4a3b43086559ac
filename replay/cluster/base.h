// Clusters that change another cluster: proto::Cluster.base and change.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Puts `cluster` on top of its base: first its own fields, then `change`. `base`: the cluster that the field
// `base` names; empty if the field is. Errors name `where` and the field: a list that is set although there
// is a base, an unknown device, and errors of SetField().
absl::Status PutOnBase(const std::string& where, proto::Cluster base, proto::Cluster* cluster);

}  // namespace chakra
