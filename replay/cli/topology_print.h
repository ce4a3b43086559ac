// The answers of `topology`, for people.
#pragma once

#include <string>

#include "proto/topology_report.pb.h"

namespace chakra::cli {

// Lines of at most 80 characters where words allow it.
std::string PrintNetworkList(const proto::NetworkList& list);
// One network, each of its parameters on lines of its own.
std::string PrintNetworkKind(const proto::NetworkKindReport& kind);

std::string PrintTopology(const proto::TopologyReport& report);
std::string PrintFindings(const proto::TopologyReport& report);

// The lines under the title of a drawing.
std::vector<std::string> DrawingFigures(const proto::TopologyReport& report);

}  // namespace chakra::cli
