// Drafts the columns of a linked rank from what the rank alone shows, in place of its events. build.h adds
// what joining finds.
#pragma once

#include <cstdint>
#include <limits>

#include "trace/import/join/capture_rank.h"
#include "trace/import/timeline/column_draft.h"

namespace chakra::pytorch {

inline constexpr uint32_t kRootRow = 1;  // row of the graph; row 0 has the groups

// Whether `ns` is within the range of Time.
inline bool HoldsNs(int64_t ns) { return ns >= 0 && ns <= std::numeric_limits<int64_t>::max() / 1000; }

// Whether columns can hold the rank: times are within the range of Time, and dependencies are on earlier
// nodes.
bool FitsColumns(const CaptureRank& rank);

// The columns of `rank`. `frames`: with the side table. Precondition: FitsColumns().
ColumnDraft DraftColumns(const CaptureRank& rank, bool frames);

// Reduces `rank` to what JoinRanks() and JoinColumns() need once its columns are drafted: the nodes that
// carry calls, and facts about their events (CaptureRank::calls). `draft` becomes CaptureRank::columns and
// keeps the steps.
void LeaveCalls(CaptureRank* rank, ColumnDraft draft);

}  // namespace chakra::pytorch
