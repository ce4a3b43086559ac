// Flows a second of fabric `fluid` and of SimGrid's CM02, which alternate on the same flows.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "test/peers/sends.h"
#include "test/peers/simgrid.h"

namespace chakra {
namespace {

using peers::Send;

// Each iteration runs `fluid` and both modes of SimGrid (see RunSimGrid); set-up of platforms and fabrics is
// not timed. They must agree to 1e-4, because SimGrid runs at its default precision here.
void Compare(benchmark::State& state, const absl::StatusOr<Topology>& topology,
             const std::vector<Send>& sends) {
  if (!topology.ok()) return state.SkipWithError("no topology");
  double flows = 0;
  for (const Send& s : sends) flows += s.times;
  const peers::PeerCase what = peers::CaseOf(*topology, {}, sends);
  std::vector<double> ours, comms, actors, x_comms, x_actors, x_faster;
  const auto differ = [](double a, double b) { return std::abs(a - b) > 1e-4 * b; };
  const auto last = [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); };
  for (auto _ : state) {
    double seconds = 0;
    const std::vector<double> received = peers::RunFluid(*topology, {}, sends, &seconds);
    const peers::PeerResult light = peers::RunSimGrid(what, /*exact=*/false);
    const peers::PeerResult usual = peers::RunSimGrid(what, /*exact=*/false, /*actors=*/true);
    const std::string error = light.error + usual.error;
    if (!error.empty()) return state.SkipWithError(error.c_str());
    for (size_t i = 0; i < sends.size(); ++i) {
      if (differ(received[i], light.ended[i])) return state.SkipWithError("they disagree");
    }
    if (differ(last(received), last(usual.ended)))
      return state.SkipWithError("they disagree on the last end");
    ours.push_back(flows / seconds);
    comms.push_back(flows / light.seconds);
    actors.push_back(flows / usual.seconds);
    x_comms.push_back(light.seconds / seconds);
    x_actors.push_back(usual.seconds / seconds);
    x_faster.push_back(std::min(light.seconds, usual.seconds) / seconds);
    state.SetIterationTime(seconds);
  }
  state.counters["fluid_flows_s"] = Median(ours);
  state.counters["comms_flows_s"] = Median(comms);
  state.counters["x_comms"] = Median(x_comms);
  state.counters["actors_flows_s"] = Median(actors);
  state.counters["x_actors"] = Median(x_actors);
  state.counters["x_faster"] = Median(x_faster);  // over SimGrid's faster mode
}

// Every host of a star sends to every other at once; `spread` > 1: sizes are random.
void AllToAll(benchmark::State& state, uint64_t spread, Time latency) {
  const auto ranks = static_cast<int>(state.range(0));
  std::mt19937_64 random(1);
  std::vector<Send> sends;
  for (int s = 0; s < ranks; ++s) {
    for (int d = 0; d < ranks; ++d) {
      if (s != d) sends.push_back({s, d, (1 << 20) + random() % spread, Time::Zero()});
    }
  }
  Compare(state, peers::OneDimension(TopologyDimension::Kind::kSwitch, ranks, latency), sends);
}

// Every host sends to its neighbour 1,000 times, each time after the previous arrival.
void RingSteps(benchmark::State& state, Time latency) {
  const auto ranks = static_cast<int>(state.range(0));
  std::vector<Send> sends;
  for (int r = 0; r < ranks; ++r) sends.push_back({r, (r + 1) % ranks, 1 << 20, Time::Zero(), 1000});
  Compare(state, peers::OneDimension(TopologyDimension::Kind::kRing, ranks, latency), sends);
}

constexpr auto kMs = benchmark::kMillisecond;
constexpr uint64_t kSpread = 1 << 20;
BENCHMARK_CAPTURE(AllToAll, equal, 1, Time::Zero())->Arg(128)->Iterations(7)->UseManualTime()->Unit(kMs);
BENCHMARK_CAPTURE(AllToAll, latency, 1, Time::Nanos(500))
    ->Arg(128)
    ->Iterations(7)
    ->UseManualTime()
    ->Unit(kMs);
BENCHMARK_CAPTURE(AllToAll, random, kSpread, Time::Zero())
    ->Arg(32)
    ->Arg(64)
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(kMs);
BENCHMARK_CAPTURE(AllToAll, random, kSpread, Time::Zero())  // more than a minute
    ->Arg(128)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(kMs);
BENCHMARK_CAPTURE(RingSteps, equal, Time::Zero())->Arg(128)->Iterations(7)->UseManualTime()->Unit(kMs);
BENCHMARK_CAPTURE(RingSteps, latency, Time::Nanos(500))->Arg(128)->Iterations(7)->UseManualTime()->Unit(kMs);

}  // namespace
}  // namespace chakra
