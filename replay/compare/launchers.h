// Which operator of the host launched an operation of a device, as a capture tells it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/model/trace.h"

namespace chakra {

// Whether a set of traces has operations of hosts and of devices, as captures have.
bool HasHostAndDevice(const TraceSet& traces);

// The operators of a rank's device operations.
struct DeviceOperators {
  std::vector<std::string> names;  // 0 is "": not known, or none
  std::vector<uint32_t> of_row;    // by row: an index into `names`; of rows of the host 0
};

// The attribute "op" of nodes, where frames were kept; else the operator that the launching thread was in
// when it made the call. What a graph launched goes by the name of that call where nothing tells its
// operator.
DeviceOperators OperatorsOfDevice(const RankTrace& rank);

}  // namespace chakra
