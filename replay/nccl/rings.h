// How many rings of a group fit on links that join pairs of devices.
#pragma once

#include <vector>

namespace chakra {

// The number of directed rings through all `positions` such that no link
// carries two in one direction. `links[a * devices + b]` are the parallel links
// of two devices, each of them full duplex. Where neighbours of a ring share no
// link, another device of the group may pass their data on, at the cost of two
// links (NCCL's NVB paths). Up to 8 positions: the most that a search finds,
// which is exact unless 200,000 steps of it do not suffice. More positions are
// not searched: they count as the links that each of them has within the group,
// at which the devices' own rate is the limit. 0 when there is no ring, or the
// links of a larger group leave it in pieces.
int RingsThatFit(const std::vector<int>& links, int devices, const std::vector<int>& positions);

}  // namespace chakra
