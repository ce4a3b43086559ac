// Profiles of emulated ranks (test/trace/pytorch/machine.h), read as a capture, and replayed with a change.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "replay/cluster/load.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "replay/run/cluster_model.h"
#include "test/trace/pytorch/machine.h"
#include "trace/import/reader.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {

inline std::vector<pytorch::KinetoBuilder> Profiles(const std::vector<pytorch::machine::Outcome>& outcomes) {
  std::vector<pytorch::KinetoBuilder> profiles;
  for (const pytorch::machine::Outcome& o : outcomes) profiles.push_back(o.profile);
  return profiles;
}

class Captured {
 public:
  explicit Captured(std::vector<pytorch::KinetoBuilder> profiles) {
    const auto n = static_cast<int>(profiles.size());
    for (int r = 0; r < n; ++r) folder_.Rank(r, profiles[static_cast<size_t>(r)].Rank(r, n));
    auto traces = ReadTraceSet({folder_.path()}, {});
    EXPECT_TRUE(traces.ok()) << traces.status();
    if (traces.ok()) traces_ = *std::move(traces);
    for (const RankTrace& rank : traces_.ranks) {
      auto& rows = rows_.emplace_back();
      for (uint32_t row = 0; row < rank.graph->size(); ++row)
        rows.try_emplace(std::string(rank.graph->name_of(row)), row);
    }
  }
  // The spans of a replay; node `name` of `rank`, if given, takes `more` time.
  NodeSpans Replayed(int rank = 0, const std::string& name = "", Time more = Time::Zero()) const {
    auto proto = LoadCluster("dgx-h100");
    auto cluster = BuildCluster(*proto, static_cast<int>(traces_.ranks.size()));
    auto fabric = MakeMachine("analytical", cluster->topology, {});
    ComputeModel model;
    model.time_sources = {TimeSource::kRecorded};
    model.zeros_recorded = true;
    ComputeNotes notes;
    std::vector<ComputeTimes> times;
    const DistinctGraphs distinct(traces_);
    for (const Graph* graph : distinct.graphs) times.push_back(*PriceGraph(*graph, model, &notes));
    if (!name.empty()) {
      times[distinct.of_rank[static_cast<size_t>(rank)]].time[RowOf(rank, name)] += more;
    }
    NodeSpans spans;
    EngineOptions options;
    options.recorded_comm = true;
    options.spans = &spans;
    auto metrics = Replay(traces_, times, **fabric, options);
    EXPECT_TRUE(metrics.ok()) << metrics.status();
    return spans;
  }
  // The first row with this name.
  uint32_t RowOf(int rank, const std::string& name) const {
    const auto& rows = rows_[static_cast<size_t>(rank)];
    const auto row = rows.find(name);
    EXPECT_NE(row, rows.end()) << "rank " << rank << ": no node " << name;
    return row == rows.end() ? 0 : row->second;
  }

  const TraceSet& traces() const { return traces_; }

 private:
  pytorch::CaptureFolder folder_;
  TraceSet traces_;
  std::vector<std::map<std::string, uint32_t>> rows_;  // by rank
};

}  // namespace chakra
