// Clusters that change another one: proto::Cluster.base and change.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Puts `cluster` on top of its base: its own fields, then `change`. `base`: what its `base` names; empty
// where it names none. Errors name `where` and the field: a list that is given beside a base, an unknown
// device, and what SetField() refuses.
absl::Status PutOnBase(const std::string& where, proto::Cluster base, proto::Cluster* cluster);

}  // namespace chakra
