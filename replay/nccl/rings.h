// Counts the rings of a group that fit on links between pairs of devices.
#pragma once

#include <vector>

namespace chakra {

// The number of directed rings through all `positions` such that no link carries two rings in one direction.
// links[a * devices + b] is the number of parallel links, each full duplex, between devices a and b. If
// neighbours in a ring share no link, another device of the group may forward their data, which uses two
// links (NCCL's NVB paths). For up to 8 positions, the result is the maximum that a search finds; it is exact
// unless 200,000 steps are not enough. For more positions, the result is the minimum number of links that a
// position has within the group, because there the devices' own rate is the limit. 0 if there is no ring, or
// if the links do not connect a larger group.
int RingsThatFit(const std::vector<int>& links, int devices, const std::vector<int>& positions);

}  // namespace chakra
