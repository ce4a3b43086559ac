// Finds out why packets wait forever.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/packet/network/network.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/ways/path_table.h"

namespace chakra::packet {

// Finds ports among `ports` that wait for each other in a cycle: "deadlock: ports wait for each other in a
// cycle: ..."; "" if there is no cycle.
std::string FindDeadlock(const PacketNetwork& network, const PacketPool& pool, const PathTable& paths,
                         const std::vector<uint32_t>& ports, int classes);

}  // namespace chakra::packet
