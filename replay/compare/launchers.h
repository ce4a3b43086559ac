// Finds the host operator that launched an operation of a device, from a capture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/model/trace.h"

namespace chakra {

// Whether a set of traces has operations of hosts and of devices, as captures have.
bool HasHostAndDevice(const TraceSet& traces);

// The operators that launched a rank's device operations.
struct DeviceOperators {
  std::vector<std::string> names;  // 0 is "": unknown, or none
  std::vector<uint32_t> of_row;    // by row: an index into `names`; 0 for rows of the host
};

// The operator is the attribute "op" of the node, if frames were kept; else the operator that the launching
// thread was in at its call. Operations that a graph launched, and whose operator is unknown, get the name of
// the launch call.
DeviceOperators OperatorsOfDevice(const RankTrace& rank);

}  // namespace chakra
