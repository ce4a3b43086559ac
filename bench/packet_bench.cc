// Packet-hops a second of fabric `packet` by hosts, queue of events, transport and threads; and its memory.
#include <benchmark/benchmark.h>

#include <string>
#include <thread>
#include <vector>

#include "backends/packet/packet_fabric.h"
#include "bench/measure.h"
#include "test/validation/packet_curves.h"

namespace chakra {
namespace {

using packet::BucketEvents;
using packet::HeapEvents;

// Hops and seconds while every host sends to another, all at once. Each message has `rounds` consecutive
// parts, each to a different host.
template <typename Events>
class Permuted {
 public:
  Permuted(const Topology& topology, const FabricOptions& options, uint64_t packets, int rounds = 1)
      : hosts_(topology.devices()),
        rounds_(rounds),
        bytes_(packets * options.Get<packet::PacketOptions>().mtu / static_cast<uint64_t>(rounds)),
        fabric_(topology, options) {
    for (int i = 0; i < hosts_; ++i) Start(i, 0, Time::Zero());
  }
  // Stops at each end of a message and starts the next one, as the engine does.
  void Run() {
    std::vector<FlowEnd> ended;
    size_t seen = 0;
    for (Time t = fabric_.NextEvent(Time::Never()); t != Time::Never();
         t = fabric_.NextEvent(Time::Never())) {
      fabric_.AdvanceTo(t, &ended);
      for (; seen < ended.size(); ++seen) {
        const auto tag = static_cast<int>(ended[seen].tag);
        if (tag / hosts_ + 1 < rounds_) Start(tag % hosts_, tag / hosts_ + 1, t);
      }
    }
  }
  const packet::PacketFabricOf<Events>& fabric() const { return fabric_; }
  double hops() const { return static_cast<double>(fabric_.counters().hops); }

 private:
  void Start(int i, int round, Time at) {
    Flow f;
    f.src = i;
    f.dst = (i + hosts_ / 2 + 1 + round * 37) % hosts_;
    f.bytes = bytes_;
    f.tag = static_cast<uint64_t>(round * hosts_ + i);
    fabric_.Start(f, at);
  }

  int hosts_, rounds_;
  uint64_t bytes_;
  packet::PacketFabricOf<Events> fabric_;
};

template <typename Events>
double HopsPerSecond(const Topology& topology, const FabricOptions& options, uint64_t packets,
                     uint64_t* memory, uint64_t* in_flight) {
  Permuted<Events> run(topology, options, packets);
  const double seconds = SecondsOf([&] { run.Run(); });
  *memory = run.fabric().MemoryBytes();
  *in_flight = run.fabric().most_packets_in_flight();
  return run.hops() / seconds;
}

void Permutation(benchmark::State& state, const std::string& network, int hosts, uint64_t packets,
                 const std::string& options_text) {
  const auto topology = validation::CurveNetwork(network, hosts);
  if (!topology.ok()) return state.SkipWithError(topology.status().ToString().c_str());
  FabricOptions options;
  const auto packet = packet::ParsePacketOptions(options_text);
  if (!packet.ok()) return state.SkipWithError(packet.status().ToString().c_str());
  options.Set(*packet);
  std::vector<double> bucket, heap;
  uint64_t memory = 0, in_flight = 0;
  for (auto _ : state) {
    bucket.push_back(HopsPerSecond<packet::BucketEvents>(*topology, options, packets, &memory, &in_flight));
    heap.push_back(HopsPerSecond<packet::HeapEvents>(*topology, options, packets, &memory, &in_flight));
    state.SetIterationTime(1 / bucket.back());
  }
  state.counters["hops_s"] = Median(bucket);
  state.counters["heap_hops_s"] = Median(heap);
  state.counters["x_heap"] = Median(bucket) / Median(heap);
  state.counters["in_flight"] = static_cast<double>(in_flight);
  state.counters["MB"] = static_cast<double>(memory) / 1e6;
}

// The speed of two threads over one, by wall time: medians of alternating runs. `cores`: the cores of the two
// threads; far below 2, the machine was busy or one thread waited for the other. `x_apart`: two independent
// simulations at the same time against one of them, which shows the machine's gain for two threads of one
// process.
void Threads(benchmark::State& state, const std::string& network, int hosts, uint64_t packets, int rounds) {
  const auto topology = validation::CurveNetwork(network, hosts);
  if (!topology.ok()) return state.SkipWithError(topology.status().ToString().c_str());
  std::vector<double> seconds[2], cores, apart;
  double hops = 0;
  const auto alone = [&] {
    Permuted<packet::BucketEvents>(*topology, FabricOptions(), packets, rounds).Run();
  };
  for (auto _ : state) {
    const double one = WallSecondsOf(alone);
    const double two = WallSecondsOf([&] {
      std::thread other(alone);
      alone();
      other.join();
    });
    apart.push_back(2 * one / two);
    for (const int threads : {1, 2}) {
      FabricOptions options;
      options.threads = threads;
      Permuted<packet::BucketEvents> run(*topology, options, packets, rounds);
      double wall = 0;
      const double used =
          SecondsOf(CLOCK_PROCESS_CPUTIME_ID, [&] { wall = WallSecondsOf([&] { run.Run(); }); });
      seconds[threads - 1].push_back(wall);
      if (threads == 2) cores.push_back(used / wall);
      hops = run.hops();
    }
    state.SetIterationTime(seconds[1].back());
  }
  state.counters["hops_s"] = hops / Median(seconds[1]);
  state.counters["one_hops_s"] = hops / Median(seconds[0]);
  state.counters["x_one"] = Median(seconds[0]) / Median(seconds[1]);
  state.counters["cores"] = Median(cores);
  state.counters["x_apart"] = Median(apart);
}

const char kLeafSpine[] = "leaf_spine:leaves=8,hosts_per_leaf=8,spines=8";
const char kFatTree[] = "fat_tree:k=16";
BENCHMARK_CAPTURE(Permutation, hosts_64, kLeafSpine, 64, 1000, "")->Iterations(5)->UseManualTime();
BENCHMARK_CAPTURE(Permutation, hosts_64_dcqcn_pfc, kLeafSpine, 64, 1000,
                  "transport=dcqcn,flow_control=pfc,buffer=32MB")
    ->Iterations(5)
    ->UseManualTime();
BENCHMARK_CAPTURE(Permutation, hosts_64_hpcc_pfc, kLeafSpine, 64, 1000,
                  "transport=hpcc,flow_control=pfc,buffer=32MB")
    ->Iterations(5)
    ->UseManualTime();
BENCHMARK_CAPTURE(Permutation, hosts_64_nscc, kLeafSpine, 64, 1000, "transport=nscc,queue=400KB,trim=yes")
    ->Iterations(5)
    ->UseManualTime();
BENCHMARK_CAPTURE(Permutation, hosts_1024, kFatTree, 1024, 200, "")->Iterations(5)->UseManualTime();
BENCHMARK_CAPTURE(Threads, hosts_1024, kFatTree, 1024, 400, 1)->Iterations(5)->UseManualTime();
BENCHMARK_CAPTURE(Threads, hosts_1024_next_from_each, kFatTree, 1024, 400, 20)
    ->Iterations(5)
    ->UseManualTime();

}  // namespace
}  // namespace chakra
