// Sums the times of the nodes of each name, and of each lane, over all ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "trace/base/units.h"
#include "trace/model/distinct_graphs.h"
#include "trace/model/trace.h"

namespace chakra {

// The maximum number of rows that Metrics::operators and Metrics::lanes list one by one.
inline constexpr size_t kLongestNames = 500;

// `name` with "#" in place of each number.
std::string MergeNumbers(absl::string_view name);

// The lane that a node counts for. With LanePolicy::kRecorded, the thread or stream named in the trace
// ("thread 1", "stream 7"); else "host", "compute", "communication" or "storage", by the node's type; "" for
// nodes without work.
std::string LaneName(const Graph& graph, uint32_t row, LanePolicy policy);

// LaneName() of all rows.
struct NamedLanes {
  NamedLanes(const Graph& graph, LanePolicy policy);
  std::vector<std::string> names;  // distinct, in the order of their first rows
  std::vector<uint32_t> of_row;    // index into `names`
};

// A cache of NamedLanes. Graphs that share the columns which determine lanes share one NamedLanes.
// Thread-safe.
class LaneNames {
 public:
  // `graph` must outlive the object.
  std::shared_ptr<const NamedLanes> Of(const Graph& graph, LanePolicy policy);

 private:
  struct Known {
    const Graph* graph;
    LanePolicy policy;
    std::shared_ptr<const NamedLanes> lanes;
  };
  std::mutex mutex_;
  absl::flat_hash_map<std::pair<const void*, const void*>, std::vector<Known>> known_;  // key: two columns
};

// The engine reports the start and the end of each node. It does so for COMP nodes only if their times may
// differ from ComputeTimes. Ranks of one graph share their sums, so each node needs only the number of its
// lane.
class NameTimes {
 public:
  class OfGraph {
   public:
    // `ranks`: how many ranks run the node at the same time.
    void Begin(uint32_t row, Time now, int64_t ranks = 1) { Add(row, -__int128{now.picos()} * ranks); }
    void End(uint32_t row, Time now, int64_t ranks = 1) { Add(row, __int128{now.picos()} * ranks); }
    // Begin() and End() for a node of one rank whose time is known.
    void Ran(uint32_t row, int64_t ps) { Add(row, ps); }

   private:
    friend class NameTimes;
    void Add(uint32_t row, __int128 ps) {
      name_[graph_->name[row]] += ps;
      lane_[lane_of_[row]] += ps;
    }
    const Graph* graph_ = nullptr;
    uint64_t ranks_ = 0;
    std::vector<__int128> name_;               // by string: sum of ends minus sum of begins, running nodes
                                               // included
    std::vector<__int128> lane_;               // by lane: the same sum
    const uint32_t* lane_of_ = nullptr;        // lanes_->of_row
    std::shared_ptr<const NamedLanes> lanes_;  // graphs with the same columns share them
  };

  // `fixed`: the times of COMP nodes, by distinct graph; null: the engine calls Begin() and End() for COMP
  // nodes too. `lanes`: a cache of lanes; null: the object makes its own. The graphs and `fixed` must outlive
  // the object.
  void Prepare(const DistinctGraphs& graphs, LanePolicy policy, const std::vector<ComputeTimes>* fixed,
               LaneNames* lanes);
  OfGraph* of_graph(uint32_t graph) { return &graphs_[graph]; }

  // Call this when every node that began has ended. Fills Metrics::operators and Metrics::lanes, the longest
  // first, equal ones by name. Rows beyond kLongestNames become one row, "(others)". If there are more than
  // kLongestNames names of operators, names that differ only in numbers share a row. Sums beyond the range of
  // Time are Time::Never().
  void Report(Metrics* metrics) const;

 private:
  // How many nodes of a graph each name and each lane has.
  struct Counts {
    const Graph* graph = nullptr;
    std::shared_ptr<const NamedLanes> lanes;
    std::vector<uint64_t> of_name, of_lane;
  };
  static void Count(const OfGraph& of, Counts* counts);
  std::vector<OfGraph> graphs_;
  const std::vector<ComputeTimes>* fixed_ = nullptr;
};

}  // namespace chakra
