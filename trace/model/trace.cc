#include "trace/model/trace.h"

#include <set>

namespace chakra {

absl::string_view Name(NodeType type) {
  static constexpr absl::string_view kNames[] = {"INVALID_NODE",   "METADATA_NODE", "MEM_LOAD_NODE",
                                                 "MEM_STORE_NODE", "COMP_NODE",     "COMM_SEND_NODE",
                                                 "COMM_RECV_NODE", "COMM_COLL_NODE"};
  const auto i = static_cast<size_t>(type);
  return i < kNodeTypes ? kNames[i] : "UNKNOWN_NODE";
}

absl::string_view Name(CollectiveType type) {
  static constexpr absl::string_view kNames[] = {
      "all_reduce", "reduce",         "all_gather",           "gather", "scatter", "broadcast",
      "all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier"};
  const auto i = static_cast<size_t>(type);
  return i < kCollectiveTypes ? kNames[i] : "unknown";
}

Time ReleasedAfter(Time duration, int64_t release) {
  if (release == kReleaseAtEnd) return duration;
  const __int128 part = static_cast<__int128>(duration.picos()) * release;
  return Time::Picos(static_cast<int64_t>((part + kReleaseAtEnd / 2) / kReleaseAtEnd));
}

uint64_t TraceSet::nodes() const {
  uint64_t n = 0;
  for (const RankTrace& r : ranks) n += r.graph->size();
  return n;
}

size_t TraceSet::distinct_graphs() const {
  std::set<const Graph*> seen;
  for (const RankTrace& r : ranks) seen.insert(r.graph.get());
  return seen.size();
}

}  // namespace chakra
