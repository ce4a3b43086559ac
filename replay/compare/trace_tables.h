// Makes comparable tables of a set of traces.
#pragma once

#include <string>
#include <vector>

#include "replay/compare/table.h"
#include "trace/model/trace.h"

namespace chakra {

struct TraceTableOptions {
  bool merge_numbers = false;   // merge names of operators, as MergeNumbers() does
  bool number_threads = false;  // name the n-th thread that a rank used "thread no. N", whatever its id
  // Put operations of devices into the sections "kernels" and "kernels_by_operator" instead of "operators".
  bool by_device = false;
};

// Whether both sets use the same thread ids: the busiest thread of one is in the other, or one has no
// threads. Thread ids of separate runs differ, so their threads can only be numbered.
bool ShareThreads(const TraceSet& a, const TraceSet& b);

// The sections that CompareTraces() lists, in its order, without "unpaired"; sections without rows are
// included.
std::vector<ComparedTable> TraceTables(const TraceSet& traces, const TraceTableOptions& options);

// Ranks in ascending order as text: "0-3,8".
std::string RankRanges(std::vector<int> ranks);

}  // namespace chakra
