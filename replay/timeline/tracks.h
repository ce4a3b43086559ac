// Which node of a rank is on which track.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/engine/measure/name_times.h"
#include "replay/engine/spans.h"

namespace chakra {

// Nodes of one track do not overlap. They are in the order of their begins.
struct TimelineTrack {
  std::string name;
  std::vector<uint32_t> rows;
};

// Tracks of one rank, host first. Of its nodes the `most` that began first, equals by row.
std::vector<TimelineTrack> LayOutTracks(const NamedLanes& lanes, const std::vector<NodeSpan>& spans,
                                        size_t most);

}  // namespace chakra
