// The flows that fabric `mixed` simulates by packets: from the command line and the proto to the fabric's
// options.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/mixed/choice.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Adds a choice to the cluster, from "key=value,..." of --mixed. The keys are link, class, dimension, ranks
// ("ranks=8-15", "ranks=(3,8-15)"), after and until (with their units). The choice's label is "--mixed" and
// the text; errors begin with it: an unknown key (with the nearest one), an invalid value, or no key at all.
absl::Status AddPacketChoice(const std::string& text, proto::Cluster* cluster);

// `device_of`: by rank; empty: rank r is on device r. Errors name the choice (by its label, if it has one),
// the field, and what was expected. Links are checked later, when the fabric is made.
absl::StatusOr<std::vector<PacketChoice>> BuildPacketChoices(const proto::Cluster& cluster, int ranks,
                                                             const std::vector<int>& device_of);

}  // namespace chakra
