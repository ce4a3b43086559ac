// Nodes and flows a second through the whole engine, and the fast path against
// the same collective flow by flow.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "bench/measure.h"
#include "replay/collectives/registry.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/fast_path.h"
#include "replay/nccl/planned_call.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/reader.h"
#include "trace/model/distinct_graphs.h"
#include "trace/model/graph_builder.h"

namespace chakra {
namespace {

std::unique_ptr<Machine> MakeRing(int ranks) {
  auto topology = Topology::Make(
      {{TopologyDimension::Kind::kRing, ranks, Bandwidth::FromGigabytes(50), Time::Nanos(500), "ring"}});
  if (!topology.ok()) return nullptr;
  auto fabric = MakeMachine("analytical", *topology, FabricOptions());
  return fabric.ok() ? *std::move(fabric) : nullptr;
}

// A chain of nodes; every `every`-th is an all-reduce of `bytes` on the rank's
// group (0: none).
std::shared_ptr<const Graph> Chain(uint32_t nodes, uint32_t every, uint64_t bytes) {
  GraphDraft g;
  g.dep_begin.push_back(0);
  const uint32_t name = g.strings.Intern("node");
  for (uint32_t i = 0; i < nodes; ++i) {
    const bool collective = every > 0 && i % every == every - 1;
    g.id.push_back(i);
    g.name.push_back(name);
    g.type.push_back(collective ? NodeType::kCollective : NodeType::kComp);
    g.flags.push_back(0);
    g.duration.push_back(Time::Nanos(collective ? 0 : 1000 + i % 13));
    g.payload.push_back(collective ? static_cast<uint32_t>(g.comm.size()) : kNoRow);
    if (collective) {
      Comm comm;
      comm.type = static_cast<uint8_t>(CollectiveType::kAllReduce);
      comm.bytes = bytes;
      comm.has_bytes = true;
      g.comm.push_back(comm);
    }
    if (i > 0) g.dep.push_back(i - 1);
    g.dep_begin.push_back(static_cast<uint32_t>(g.dep.size()));
  }
  GraphPool pool;
  auto graph = pool.Intern(&g, "chain");
  return graph.ok() ? *graph : nullptr;
}

struct Job {
  TraceSet traces;
  std::vector<ComputeTimes> compute;
};

// `ranks` ranks that share `graph`, in groups of `group` neighbours (0: all).
Job MakeJob(int ranks, std::shared_ptr<const Graph> graph, int group) {
  Job job;
  job.compute.push_back(
      {graph->duration.ToVector(), std::vector<TimeSource>(graph->size(), TimeSource::kRecorded)});
  for (int r = 0; r < ranks; ++r) {
    RankTrace trace;
    trace.rank = r;
    trace.file = "bench";
    trace.graph = graph;
    trace.group_names = {""};
    Peer peer;
    if (group > 0) {
      const std::string name = std::to_string(r / group);
      job.traces.groups[name].push_back(r);
      trace.group_names.push_back(name);
      peer.group = 1;
    }
    trace.peers = std::vector<Peer>(graph->comm.size(), peer);
    job.traces.ranks.push_back(std::move(trace));
  }
  return job;
}

// Runs one replay on a new fabric; returns its seconds, -1 after an error.
double ReplayOnce(const Job& job, bool fast_paths, Metrics* out) {
  const std::unique_ptr<Machine> fabric = MakeRing(static_cast<int>(job.traces.ranks.size()));
  EngineOptions options;
  options.fast_paths = fast_paths;
  double seconds = -1;
  if (fabric == nullptr) return seconds;
  bool ok = false;
  seconds = SecondsOf([&] {
    auto metrics = Replay(job.traces, job.compute, *fabric, options);
    ok = metrics.ok();
    if (ok) *out = *std::move(metrics);
  });
  return ok ? seconds : -1;
}

// Reads and replays the files of the job's ranks; returns seconds, -1 after an error.
double FromFiles(const std::string& folder, const Metrics& expected) {
  bool ok = false;
  const double seconds = SecondsOf([&] {
    const absl::StatusOr<TraceSet> traces = ReadTraceSet({folder}, ReadOptions());
    if (!traces.ok()) return;
    Job job;
    job.traces = *traces;
    for (const Graph* graph : DistinctGraphs(job.traces).graphs) {
      job.compute.push_back(
          {graph->duration.ToVector(), std::vector<TimeSource>(graph->size(), TimeSource::kRecorded)});
    }
    Metrics metrics;
    ok = ReplayOnce(job, true, &metrics) >= 0 && metrics.makespan == expected.makespan &&
         metrics.nodes == expected.nodes;
  });
  return ok ? seconds : -1;
}

// Writes each rank's file; returns the folder, "" after an error.
std::string WriteFiles(const Job& job) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("replay_bench_" + std::to_string(job.traces.ranks.size()));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const RankTrace& rank : job.traces.ranks) {
    const std::string name = "workload." + std::to_string(rank.rank) + ".et";
    if (!WriteTrace(rank, (folder / name).string()).ok()) return "";
  }
  return folder.string();
}

// range(0) ranks of range(1) nodes; every range(2)-th node is an all-reduce of
// 1 MiB on groups of 8.
void Nodes(benchmark::State& state) {
  const auto every = static_cast<uint32_t>(state.range(2));
  const Job job = MakeJob(static_cast<int>(state.range(0)),
                          Chain(static_cast<uint32_t>(state.range(1)), every, 1 << 20), every > 0 ? 8 : 0);
  std::vector<double> seconds;
  Metrics metrics;
  for (auto _ : state) {
    seconds.push_back(ReplayOnce(job, true, &metrics));
    if (seconds.back() < 0) return state.SkipWithError("the replay failed");
    state.SetIterationTime(seconds.back());
  }
  state.counters["nodes/s"] = static_cast<double>(metrics.nodes) / Median(seconds);
}

// The same from files: reading, matching and the replay, as in ASTRA-sim's published rate. That rate is for
// its whole process, and was not measured here: ../shared/reference/astra-sim-results.md, "Feeding and
// compute".
void NodesFromFiles(benchmark::State& state) {
  constexpr double kAstraSimNodes = 56e3;  // a second
  const Job job =
      MakeJob(static_cast<int>(state.range(0)), Chain(static_cast<uint32_t>(state.range(1)), 0, 0), 0);
  Metrics metrics;
  const std::string folder = WriteFiles(job);
  if (folder.empty() || ReplayOnce(job, true, &metrics) < 0) return state.SkipWithError("no files");
  std::vector<double> seconds;
  for (auto _ : state) {
    seconds.push_back(FromFiles(folder, metrics));
    if (seconds.back() < 0) return state.SkipWithError("the replay of the files failed, or differs");
    state.SetIterationTime(seconds.back());
  }
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  const double rate = static_cast<double>(metrics.nodes) / Median(seconds);
  state.counters["nodes/s"] = rate;
  state.counters["x_astra_sim_published"] = rate / kAstraSimNodes;
}

constexpr int kRingRanks = 1024;
constexpr uint64_t kRingBytes = uint64_t{1} << 30;

constexpr uint32_t kMore = 32;

// A ring all-reduce of 1 GiB on 1,024 ranks, flow by flow, against the closed
// form. x_flow_by_flow: through Replay() with the whole set-up of a run.
// x_further_call: the time that each later call and its nodes add to a run.
// x_evaluate_first and x_evaluate_again: only the evaluation, its first call
// with the pricing of every message and a later one.
void RingAllReduce(benchmark::State& state) {
  const Job job = MakeJob(kRingRanks, Chain(1, 1, kRingBytes), 0);
  const Job long_job = MakeJob(kRingRanks, Chain(1 + kMore, 1, kRingBytes), 0);
  const std::unique_ptr<Machine> fabric = MakeRing(kRingRanks);
  auto plan = BuildPlan({.algorithm = "ring", .members = kRingRanks});
  if (!plan.ok() || fabric == nullptr) return state.SkipWithError("no plan");
  std::vector<int> members(kRingRanks);
  std::iota(members.begin(), members.end(), 0);
  const std::vector<Time> begin(kRingRanks);
  std::vector<Time> end;
  std::vector<double> slow, fast, further, first, again;
  Metrics by_flow, closed, longer;
  for (auto _ : state) {
    slow.push_back(ReplayOnce(job, false, &by_flow));
    fast.push_back(ReplayOnce(job, true, &closed));
    const double many = ReplayOnce(long_job, true, &longer);
    if (slow.back() < 0 || fast.back() < 0 || many < 0) return state.SkipWithError("the replay failed");
    if (closed.makespan != by_flow.makespan) return state.SkipWithError("the makespans differ");
    if (longer.makespan != by_flow.makespan * (1 + kMore)) return state.SkipWithError("the makespans differ");
    further.push_back((many - fast.back()) / kMore);
    if (by_flow.flows == 0 || closed.flows != 0) return state.SkipWithError("the wrong path answered");
    FastPath path(fabric.get(), CollectiveCosts());
    PlannedCall call;
    call.plan = &*plan;
    if (!path.Applies(call, kRingBytes)) return state.SkipWithError("no fast path");
    const auto evaluate = [&] { path.Evaluate(call, 0, members, kRingBytes, begin, &end); };
    first.push_back(SecondsOf(evaluate));
    again.push_back(SecondsOf(evaluate));
    if (end[0] != by_flow.makespan) return state.SkipWithError("the ends differ");
    state.SetIterationTime(slow.back());
  }
  state.counters["flows/s"] = static_cast<double>(by_flow.flows) / Median(slow);
  state.counters["x_flow_by_flow"] = Median(slow) / Median(fast);
  state.counters["x_further_call"] = Median(slow) / Median(further);
  state.counters["x_evaluate_first"] = Median(slow) / Median(first);
  state.counters["x_evaluate_again"] = Median(slow) / Median(again);
}

constexpr auto kMs = benchmark::kMillisecond;
BENCHMARK(Nodes)->Args({8, 100000, 0})->Args({64, 10000, 0})->UseManualTime()->Unit(kMs)->Iterations(7);
BENCHMARK(Nodes)->Args({64, 10000, 8})->Args({256, 2500, 32})->UseManualTime()->Unit(kMs)->Iterations(7);
BENCHMARK(NodesFromFiles)->Args({8, 100000})->Args({64, 10000})->UseManualTime()->Unit(kMs)->Iterations(5);
BENCHMARK(RingAllReduce)->UseManualTime()->Unit(kMs)->Iterations(5);

}  // namespace
}  // namespace chakra
