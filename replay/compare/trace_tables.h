// Makes comparable tables of a set of traces.
#pragma once

#include <string>
#include <vector>

#include "replay/compare/table.h"
#include "trace/model/trace.h"

namespace chakra {

struct TraceTableOptions {
  bool merge_numbers = false;   // merge names of operators as by MergeNumbers()
  bool number_threads = false;  // name the second thread that a rank used "thread no. 2", whatever its id
  bool by_device = false;       // sections "kernels" and "kernels_by_operator" of what ran on devices, which
                                // "operators" is without
};

// Whether both sets use the same thread ids: the busiest thread of one is in the other, or one has no
// threads. Separate runs have different thread ids, so their threads can only be numbered.
bool ShareThreads(const TraceSet& a, const TraceSet& b);

// The sections that CompareTraces() lists, in its order, without "unpaired"; sections without rows are
// included.
std::vector<ComparedTable> TraceTables(const TraceSet& traces, const TraceTableOptions& options);

// Ranks in ascending order as text: "0-3,8".
std::string RankRanges(std::vector<int> ranks);

}  // namespace chakra
