// What fabric `mixed` sends by packets: from the command line and the proto to
// what the fabric takes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/mixed/choice.h"
#include "proto/cluster.pb.h"

namespace chakra {

// --mixed: "key=value,..." with link, class, dimension, ranks ("ranks=8-15", "ranks=(3,8-15)"), after and
// until (with their units). One more choice of the cluster; its label is "--mixed" and the text, with which
// errors begin: an unknown key with the nearest one, a value that is none, nothing chosen.
absl::Status AddPacketChoice(const std::string& text, proto::Cluster* cluster);

// `device_of`: by rank; empty: its own number. Errors name the choice (by its label, where it has one), the
// field, and what was expected. Links are looked at when the fabric is made.
absl::StatusOr<std::vector<PacketChoice>> BuildPacketChoices(const proto::Cluster& cluster, int ranks,
                                                             const std::vector<int>& device_of);

}  // namespace chakra
