// Assigns the nodes of a rank to tracks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/engine/measure/name_times.h"
#include "replay/engine/spans.h"

namespace chakra {

// A track. Its nodes do not overlap, and are in order of begin.
struct TimelineTrack {
  std::string name;
  std::vector<uint32_t> rows;
};

// The tracks of one rank, host first, with the `most` nodes that began first. Among nodes that began
// together, those that ended first, then those of lower rows, are kept.
std::vector<TimelineTrack> LayOutTracks(const NamedLanes& lanes, const std::vector<NodeSpan>& spans,
                                        size_t most);

}  // namespace chakra
