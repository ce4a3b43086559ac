// How many rings of a group fit on links that join pairs of devices.
#pragma once

#include <vector>

namespace chakra {

// The largest number of directed rings through all `positions` found such that
// no link carries two in one direction. `links[a * devices + b]` are the
// parallel links of two devices, each of them full duplex. Where neighbours of
// a ring share no link, another device of the group may pass their data on, at
// the cost of two links (NCCL's NVB paths). Exhaustive up to 8 devices, where it is exact;
// 0 when there is no ring.
int RingsThatFit(const std::vector<int>& links, int devices, const std::vector<int>& positions);

}  // namespace chakra
