// The time to plan and to price a collective.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "bench/measure.h"
#include "replay/cluster/load.h"
#include "replay/engine/price.h"
#include "replay/engine/simulated/collective_runner.h"
#include "replay/nccl/library.h"
#include "replay/nccl/planned_call.h"
#include "replay/nccl/planner.h"
#include "replay/run/cluster_model.h"

namespace chakra {
namespace {

using T = CollectiveType;

struct Setup {
  ClusterModel model;
  std::unique_ptr<Machine> fabric;
  std::vector<int> members;

  // dgx-h100 with one rule for all-reduce.
  static std::unique_ptr<Setup> Make(int ranks, const std::string& rule) {
    absl::StatusOr<proto::Cluster> cluster = LoadCluster("dgx-h100");
    if (!cluster.ok()) return nullptr;
    absl::StatusOr<ClusterModel> model = BuildCluster(*cluster, ranks);
    if (!model.ok()) return nullptr;
    auto library = std::make_shared<LibraryModel>(*model->collectives.library);
    library->choice = {{"all_reduce", rule}};
    model->collectives.library = std::move(library);
    absl::StatusOr<std::unique_ptr<Machine>> fabric = MakeMachine("analytical", model->topology, {});
    if (!fabric.ok()) return nullptr;
    auto machine = std::make_unique<Setup>(Setup{*std::move(model), *std::move(fabric), {}});
    machine->members.resize(static_cast<size_t>(ranks));
    std::iota(machine->members.begin(), machine->members.end(), 0);
    return machine;
  }
};

// One all-reduce on 8 ranks from the start: shape, tuner, plan, time.
void PlanAndPrice(benchmark::State& state, const char* rule, uint64_t bytes) {
  const std::unique_ptr<Setup> m = Setup::Make(8, rule);
  if (m == nullptr) return state.SkipWithError("no machine");
  Time now;
  for (auto _ : state) {
    const absl::StatusOr<PricedCall> priced =
        PriceCall(*m->fabric, m->model.collectives, T::kAllReduce, bytes, 0, m->members, &now);
    if (!priced.ok()) return state.SkipWithError(priced.status().ToString().c_str());
    benchmark::DoNotOptimize(priced->time);
  }
}

// The same call without its time; `warm`: a call of this kind, size and group was planned before.
void Plan8(benchmark::State& state, const char* rule, uint64_t bytes, bool warm) {
  const std::unique_ptr<Setup> m = Setup::Make(8, rule);
  if (m == nullptr) return state.SkipWithError("no machine");
  auto planner = std::make_unique<CollectivePlanner>(*m->fabric, m->model.collectives, PriceUncontended);
  for (auto _ : state) {
    if (!warm)
      planner = std::make_unique<CollectivePlanner>(*m->fabric, m->model.collectives, PriceUncontended);
    const absl::StatusOr<const PlannedCall*> call = planner->Get(T::kAllReduce, bytes, 0, m->members, "");
    if (!call.ok()) return state.SkipWithError(call.status().ToString().c_str());
    benchmark::DoNotOptimize(*call);
  }
}

// A call on a runner that has its plan: the cost of each later call in a replay.
void PriceWarm(benchmark::State& state, const char* rule, uint64_t bytes) {
  const std::unique_ptr<Setup> m = Setup::Make(8, rule);
  if (m == nullptr) return state.SkipWithError("no machine");
  constexpr uint32_t kCalls = 1000;
  Time begin;
  double seconds = 0;
  for (auto _ : state) {
    Matching matching;
    matching.groups.push_back({"", m->members, 8});
    matching.calls.assign(kCalls, {.type = T::kAllReduce, .bytes = bytes});
    CollectivePlanner planner(*m->fabric, m->model.collectives, PriceUncontended);
    CollectiveRunner runner(m->fabric.get(), m->model.collectives, matching, true, &planner);
    if (!runner.Prepare().ok()) return state.SkipWithError("no plan");
    const double took = SecondsOf([&] {
      for (uint32_t call = 0; call < kCalls; ++call) {
        for (uint32_t r = 0; r < 8; ++r) runner.Arrive(call, r, call, begin);
        for (const CollectiveRunner::Wake& w : std::vector<CollectiveRunner::Wake>(runner.wakes())) {
          runner.OnWake(w.active, w.stream, w.at);
        }
        runner.wakes().clear();
        runner.ended().clear();
      }
    });
    seconds += took;
    state.SetIterationTime(took);
  }
  state.counters["ns_a_call"] = seconds * 1e9 / kCalls / static_cast<double>(state.iterations());
}

// Runs a call flow by flow; returns the number of flows, 0 after an error.
uint64_t ByFlow(Setup& m, uint64_t bytes, Time* end) {
  Matching matching;
  matching.groups.push_back({"", m.members, static_cast<int>(m.members.size())});
  matching.calls.push_back({.type = T::kAllReduce, .bytes = bytes});
  CollectivePlanner planner(*m.fabric, m.model.collectives, PriceUncontended);
  CollectiveRunner runner(m.fabric.get(), m.model.collectives, matching, false, &planner);
  if (!runner.Prepare().ok()) return 0;
  const Time begin = *end;
  std::vector<CollectiveRunner::Wake> wakes;
  const auto drain = [&] {
    for (const CollectiveRunner::Ended& e : runner.ended()) *end = std::max(*end, e.at);
    runner.ended().clear();
    wakes.insert(wakes.end(), runner.wakes().begin(), runner.wakes().end());
    runner.wakes().clear();
  };
  for (uint32_t r = 0; r < m.members.size(); ++r) runner.Arrive(0, r, r, begin);
  drain();
  std::vector<FlowEnd> ended;
  // With protocol LL only the first step has wakes.
  std::vector<CollectiveRunner::Wake> first;
  first.swap(wakes);
  for (const CollectiveRunner::Wake& w : first) runner.OnWake(w.active, w.stream, w.at);
  drain();
  while (m.fabric->NextEvent() != Time::Never()) {
    const Time next = m.fabric->NextEvent();
    ended.clear();
    m.fabric->AdvanceTo(next, &ended);
    for (const FlowEnd& e : ended) runner.OnFlow(e, next);
    drain();
  }
  return wakes.empty() ? runner.flows() : 0;
}

// A ring of LL on all ranks, in closed form; x_flows: flows a second that the closed form replaces, over
// flows a second of 1,024 ranks flow by flow.
void LongRing(benchmark::State& state) {
  constexpr uint64_t kBytes = 1 << 20;
  const std::unique_ptr<Setup> m = Setup::Make(static_cast<int>(state.range(0)), "ring/ll");
  const std::unique_ptr<Setup> small = Setup::Make(1024, "ring/ll");
  if (m == nullptr || small == nullptr) return state.SkipWithError("no machine");
  Time closed, flows_end, check;
  const auto price = [&](Setup& machine, Time* now) {
    return PriceCall(*machine.fabric, machine.model.collectives, T::kAllReduce, kBytes, 0, machine.members,
                     now);
  };
  uint64_t flows = 0;
  const double by_flow = SecondsOf([&] { flows = ByFlow(*small, kBytes, &flows_end); });
  if (flows == 0) return state.SkipWithError("not run flow by flow");
  std::unique_ptr<Setup> again = Setup::Make(1024, "ring/ll");
  if (!price(*again, &check).ok() || check != flows_end) return state.SkipWithError("the two disagree");
  std::vector<double> seconds;
  for (auto _ : state) {
    bool ok = false;
    seconds.push_back(SecondsOf([&] { ok = price(*m, &closed).ok(); }));
    if (!ok) return state.SkipWithError("no price");
  }
  const auto n = static_cast<double>(state.range(0));
  state.counters["flows_per_s"] = static_cast<double>(flows) / by_flow;
  state.counters["x_flows"] = n * 2 * (n - 1) / Median(seconds) / (static_cast<double>(flows) / by_flow);
}

constexpr uint64_t kMiB = 1 << 20;
BENCHMARK_CAPTURE(PlanAndPrice, ring_simple_64MiB, "ring/simple", 64 * kMiB)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanAndPrice, ring_ll_64KiB, "ring/ll", kMiB / 16)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanAndPrice, auto_64KiB, "auto", kMiB / 16)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanAndPrice, nvls_4MiB, "nvls/simple", 4 * kMiB)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanAndPrice, tree_ll128_1MiB, "tree/ll128", kMiB)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanAndPrice, nvls_1GiB, "nvls/simple", 1024 * kMiB)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanAndPrice, tree_simple_1GiB, "tree/simple", 1024 * kMiB)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Plan8, ring_cold, "ring/simple", 64 * kMiB, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Plan8, nvls_cold, "nvls/simple", 4 * kMiB, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Plan8, ring_warm, "ring/simple", 64 * kMiB, true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PriceWarm, ring_simple, "ring/simple", 64 * kMiB)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(LongRing)->Arg(1024)->Arg(16384)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chakra
