// Fills the report of a conversion.
#pragma once

#include "trace/import/join/capture_rank.h"
#include "trace/import/linked/linker.h"

namespace chakra::pytorch {

// Counts the events, nodes and edges of a linked rank in rank->counts. Precondition: the rank still has its
// events.
void CountRank(CaptureRank* rank);

// Fills capture->report with the capture's groups, peers, ranks, repairs and warnings.
void ReportJoined(Capture* capture);

}  // namespace chakra::pytorch
