// A set of traces as tables that can be compared.
#pragma once

#include <string>
#include <vector>

#include "replay/compare/table.h"
#include "trace/model/trace.h"

namespace chakra {

struct TraceTableOptions {
  bool merge_numbers = false;   // in names of operators, as MergeNumbers()
  bool number_threads = false;  // "thread no. 2" is the second that the rank used, whatever its id
};

// Whether the thread with the most nodes of one is in the other, or either has
// none. Runs of their own have threads of their own ids, which can only be
// numbered.
bool ShareThreads(const TraceSet& a, const TraceSet& b);

// The sections that CompareTraces() lists, in its order, without
// "unpaired"; those without rows are there, too.
std::vector<ComparedTable> TraceTables(const TraceSet& traces, const TraceTableOptions& options);

// "0-3,8" of ranks in ascending order.
std::string RankRanges(std::vector<int> ranks);

}  // namespace chakra
