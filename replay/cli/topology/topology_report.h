// The answers of `topology` as the message of proto/topology_report.proto.
#pragma once

#include "backends/topology/measure.h"
#include "proto/topology_report.pb.h"
#include "replay/cli/topology/topology_input.h"

namespace chakra::cli {

proto::TopologyReport ReportTopology(const TopologyInput& input, const NetworkFigures& figures);

}  // namespace chakra::cli
