// What a conversion tells of the ranks that it linked and joined.
#pragma once

#include "trace/import/join/capture_rank.h"
#include "trace/import/linked/linker.h"

namespace chakra::pytorch {

// Counts a linked rank's events, nodes and edges in rank->counts. Precondition: its events are there.
void CountRank(CaptureRank* rank);

// Fills capture->report from its ranks and from what joined them: groups, peers, ranks, repairs, warnings.
void ReportJoined(Capture* capture);

}  // namespace chakra::pytorch
