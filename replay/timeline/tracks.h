// Assigns the nodes of a rank to tracks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/engine/measure/name_times.h"
#include "replay/engine/spans.h"

namespace chakra {

// A track. Its nodes do not overlap, and are in the order of their begins.
struct TimelineTrack {
  std::string name;
  std::vector<uint32_t> rows;
};

// The tracks of one rank, host first, with the `most` nodes that began first; of nodes that began together,
// the lower rows.
std::vector<TimelineTrack> LayOutTracks(const NamedLanes& lanes, const std::vector<NodeSpan>& spans,
                                        size_t most);

}  // namespace chakra
