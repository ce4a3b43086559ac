// Drafts the columns of a linked rank: what the rank alone tells, in place of its events. build.h adds what
// joining adds.
#pragma once

#include <cstdint>
#include <limits>

#include "trace/import/join/capture_rank.h"
#include "trace/import/timeline/column_draft.h"

namespace chakra::pytorch {

inline constexpr uint32_t kRootRow = 1;  // of the graph; row 0 names the groups

// Whether a time lies within the range of Time.
inline bool HoldsNs(int64_t ns) { return ns >= 0 && ns <= std::numeric_limits<int64_t>::max() / 1000; }

// Whether columns can hold the rank: times within the range of Time, dependencies on nodes before.
bool FitsColumns(const CaptureRank& rank);

// The columns of `rank`, of which FitsColumns() holds. `frames`: with the side table.
ColumnDraft DraftColumns(const CaptureRank& rank, bool frames);

// Leaves of `rank` what JoinRanks() and JoinColumns() need, where its columns are drafted: the nodes that
// carry calls, and where their events were (CaptureRank::calls). `draft`, which becomes CaptureRank::columns,
// keeps the steps.
void LeaveCalls(CaptureRank* rank, ColumnDraft draft);

}  // namespace chakra::pytorch
