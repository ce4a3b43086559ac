// Helpers for tests of the collective library: machines, and calls that run step by step without an engine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/registry.h"
#include "replay/cluster/load.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/price.h"
#include "replay/engine/simulated/collective_runner.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/library.h"
#include "replay/nccl/planner.h"
#include "replay/run/cluster_model.h"
#include "trace/io/proto_io.h"

namespace chakra {

struct TestMachine {
  ClusterModel model;
  std::unique_ptr<Machine> fabric;

  CollectiveCosts& costs() { return model.collectives; }
  const LibraryModel& library() const { return *model.collectives.library; }
  GroupShape Shape(const std::vector<int>& members) const {
    return ShapeOf(*fabric, model.collectives.library.get(), members);
  }
  std::vector<int> All() const {
    std::vector<int> members(static_cast<size_t>(model.topology.devices()));
    std::iota(members.begin(), members.end(), 0);
    return members;
  }
  // Replaces all choices of the library for `type` by `rule`.
  void Force(CollectiveType type, const std::string& rule) {
    auto library = std::make_shared<LibraryModel>(*model.collectives.library);
    library->choice = {{std::string(Name(type)), rule}};
    model.collectives.library = std::move(library);
  }
  void AnotherFabric(const std::string& name) {
    fabric = *MakeMachine(name, model.topology, FabricOptions());
  }
};

inline TestMachine MachineOf(const proto::Cluster& cluster, int ranks) {
  absl::StatusOr<ClusterModel> model = BuildCluster(cluster, ranks);
  EXPECT_TRUE(model.ok()) << model.status();
  TestMachine m{*std::move(model), nullptr};
  m.AnotherFabric("analytical");
  return m;
}

inline TestMachine Preset(const std::string& spec, int ranks) {
  absl::StatusOr<proto::Cluster> cluster = LoadCluster(spec);
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  return MachineOf(*cluster, ranks);
}

// Expects the same price of an isolated call on `fabric` from the fast path and from a simulation of each
// flow. `plans`: the fast path's cache.
inline void ExpectPricedAsFlows(TestMachine* m, const char* fabric, CollectiveType type, uint64_t bytes,
                                int root, PlanCache* plans) {
  const std::vector<int> members = m->All();
  Time first = Time::Nanos(3), second = Time::Nanos(3);
  m->AnotherFabric(fabric);
  const auto quick =
      PriceCall(*m->fabric, m->costs(), type, bytes, root, members, &first, nullptr, true, plans);
  m->AnotherFabric(fabric);
  const auto slow = PriceCall(*m->fabric, m->costs(), type, bytes, root, members, &second);
  ASSERT_TRUE(quick.ok() && slow.ok()) << quick.status();
  EXPECT_EQ(quick->time.picos(), slow->time.picos()) << bytes;
  EXPECT_EQ(quick->root_time.picos(), slow->root_time.picos()) << bytes;
  EXPECT_EQ(first, second);
}

inline proto::Cluster ClusterText(const std::string& text) {
  proto::Cluster cluster;
  const absl::Status read = ParseTextMessage(text, "cluster.txtpb", &cluster);
  EXPECT_TRUE(read.ok()) << read;
  return cluster;
}

// When each member of one call ends.
struct RunResult {
  std::vector<Time> end;
  uint64_t flows = 0;
  std::string algorithm, error;
};

// Runs one call that member m reaches at begin[m].
inline RunResult RunCall(TestMachine& m, CollectiveType type, uint64_t bytes, const std::vector<int>& members,
                         const std::vector<Time>& begin, bool fast, int root = 0) {
  RunResult out;
  Matching matching;
  matching.groups.push_back({"", members, static_cast<int>(members.size())});
  matching.calls.push_back({.type = type, .root = root, .bytes = bytes});
  CollectivePlanner planner(*m.fabric, m.costs(), PriceUncontended);
  CollectiveRunner runner(m.fabric.get(), m.costs(), matching, fast, &planner);
  if (const absl::Status s = runner.Prepare(); !s.ok()) {
    out.error = std::string(s.message());
    return out;
  }
  out.algorithm = runner.planned(0)->algorithm;
  out.end.resize(members.size());
  // Events by (instant, order): an arrival (stream < 0) or a wake.
  std::multimap<Time, std::pair<uint32_t, int64_t>> due;
  for (uint32_t i = 0; i < members.size(); ++i) due.insert({begin[i], {i, -1}});
  const auto drain = [&] {
    for (const CollectiveRunner::Ended& e : runner.ended()) out.end[e.row] = e.at;
    for (const CollectiveRunner::Wake& w : runner.wakes()) due.insert({w.at, {w.active, w.stream}});
    runner.ended().clear();
    runner.wakes().clear();
  };
  std::vector<FlowEnd> ended;
  while (true) {
    const Time next = std::min(m.fabric->NextEvent(), due.empty() ? Time::Never() : due.begin()->first);
    if (next == Time::Never()) break;
    ended.clear();
    m.fabric->AdvanceTo(next, &ended);
    for (const FlowEnd& e : ended) runner.OnFlow(e, next);
    drain();
    while (!due.empty() && due.begin()->first <= next) {
      const auto [id, stream] = due.begin()->second;
      due.erase(due.begin());
      if (stream < 0) {
        runner.Arrive(0, id, id, next);
      } else {
        runner.OnWake(id, static_cast<uint32_t>(stream), next);
      }
      drain();
    }
  }
  out.flows = runner.flows();
  Metrics metrics;
  runner.Report(&metrics);  // gives the fabric the bytes that were not simulated
  return out;
}

// The last end of a call that all members reach at 0. If the call cannot be planned, returns -1 and fails the
// test.
inline int64_t CallPicos(TestMachine& m, CollectiveType type, uint64_t bytes, bool fast = true) {
  const std::vector<int> members = m.All();
  m.AnotherFabric("analytical");
  const RunResult run = RunCall(m, type, bytes, members, std::vector<Time>(members.size()), fast);
  EXPECT_EQ(run.error, "");
  if (!run.error.empty()) return -1;
  return std::max_element(run.end.begin(), run.end.end())->picos();
}

}  // namespace chakra
