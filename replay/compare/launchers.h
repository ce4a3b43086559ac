// Which operator of the host launched an operation of a device, as the graph of a capture tells it.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/model/trace.h"

namespace chakra {

// Whether a set of traces has operations of hosts and of devices, as captures have.
bool HasHostAndDevice(const TraceSet& traces);

// By row, the name (index into Graph::strings) of the operator that launched an operation of a device: what
// the launching thread was in when it made the call. 0: the launch was not recorded, or was in no operator;
// of rows of the host 0, too.
std::vector<uint32_t> LaunchingOperators(const Graph& graph);

}  // namespace chakra
