// How long the nodes of each name, and of each lane, took over all ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "trace/base/units.h"
#include "trace/model/distinct_graphs.h"
#include "trace/model/trace.h"

namespace chakra {

// Rows that Metrics::operators and Metrics::lanes list one by one.
inline constexpr size_t kLongestNames = 500;

// `name` with each number as "#".
std::string MergeNumbers(absl::string_view name);

// What lane a node is counted for: the thread or stream that the trace names
// ("thread 1", "stream 7"; with LanePolicy::kRecorded), else "host", "compute",
// "communication" or "storage" by its type; "" for nodes that do nothing.
std::string LaneName(const Graph& graph, uint32_t row, LanePolicy policy);

// LaneName() of all rows.
struct NamedLanes {
  NamedLanes(const Graph& graph, LanePolicy policy);
  std::vector<std::string> names;  // in the order of their first rows, each once
  std::vector<uint32_t> of_row;    // in names
};

// Told of each node's begin and end, of COMP nodes only where they do not take
// just their ComputeTimes; ranks of one graph share their sums, so that nothing
// is kept by node but the number of its lane.
class NameTimes {
 public:
  class OfGraph {
   public:
    void Begin(uint32_t row, Time now) { Add(row, -__int128{now.picos()}); }
    void End(uint32_t row, Time now) { Add(row, now.picos()); }

   private:
    friend class NameTimes;
    void Add(uint32_t row, __int128 ps) {
      name_[graph_->name[row]] += ps;
      lane_[lane_of_[row]] += ps;
    }
    const Graph* graph_ = nullptr;
    uint64_t ranks_ = 0;
    std::vector<__int128> name_;     // by string, less the begins of nodes that run
    std::vector<__int128> lane_;     // likewise
    std::vector<uint32_t> lane_of_;  // by row
    std::vector<std::string> lane_names_;
  };

  // `fixed`: what COMP nodes take, by distinct graph; null: Begin() and End()
  // are called of these, too. The graphs and `fixed` must outlive this.
  void Prepare(const DistinctGraphs& graphs, LanePolicy policy, const std::vector<ComputeTimes>* fixed);
  OfGraph* of_graph(uint32_t graph) { return &graphs_[graph]; }

  // Once all that began has ended: fills Metrics::operators and
  // Metrics::lanes, the longest first, equals by name; what is beyond
  // kLongestNames is one row, "(others)". Of more names of operators than that,
  // those that differ in their numbers alone are one row. Sums beyond the range
  // of Time are Time::Never().
  void Report(Metrics* metrics) const;

 private:
  std::vector<OfGraph> graphs_;
  const std::vector<ComputeTimes>* fixed_ = nullptr;
};

}  // namespace chakra
