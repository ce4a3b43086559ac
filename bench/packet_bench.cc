// Packet-hops a second of fabric `packet`: by the number of hosts, by the queue of events, by transport; and
// its memory.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "backends/packet/packet_fabric.h"
#include "bench/measure.h"
#include "test/validation/packet_curves.h"

namespace chakra {
namespace {

// Every host sends to another one, all at once: hops and seconds.
template <typename Events>
double HopsPerSecond(const Topology& topology, const FabricOptions& options, uint64_t packets,
                     uint64_t* memory, uint64_t* in_flight) {
  PacketFabricOf<Events> fabric(topology, options);
  for (int i = 0; i < topology.devices(); ++i) {
    Flow f;
    f.src = i;
    f.dst = (i + topology.devices() / 2 + 1) % topology.devices();
    f.bytes = packets * options.packet.mtu;
    f.tag = static_cast<uint64_t>(i);
    fabric.Start(f, Time::Zero());
  }
  std::vector<FlowEnd> ended;
  const double seconds = SecondsOf([&] {
    for (Time t = fabric.NextEvent(Time::Never()); t != Time::Never(); t = fabric.NextEvent(Time::Never())) {
      fabric.AdvanceTo(t, &ended);
    }
  });
  *memory = fabric.MemoryBytes();
  *in_flight = fabric.most_packets_in_flight();
  return static_cast<double>(fabric.counters().hops) / seconds;
}

void Permutation(benchmark::State& state, const std::string& network, int hosts, uint64_t packets,
                 const std::string& options_text) {
  const auto topology = validation::CurveNetwork(network, hosts);
  if (!topology.ok()) return state.SkipWithError(topology.status().ToString().c_str());
  FabricOptions options;
  const auto packet = ParsePacketOptions(options_text);
  if (!packet.ok()) return state.SkipWithError(packet.status().ToString().c_str());
  options.packet = *packet;
  std::vector<double> bucket, heap;
  uint64_t memory = 0, in_flight = 0;
  for (auto _ : state) {
    bucket.push_back(HopsPerSecond<BucketEvents>(*topology, options, packets, &memory, &in_flight));
    heap.push_back(HopsPerSecond<HeapEvents>(*topology, options, packets, &memory, &in_flight));
    state.SetIterationTime(1 / bucket.back());
  }
  state.counters["hops_s"] = Median(bucket);
  state.counters["heap_hops_s"] = Median(heap);
  state.counters["x_heap"] = Median(bucket) / Median(heap);
  state.counters["in_flight"] = static_cast<double>(in_flight);
  state.counters["MB"] = static_cast<double>(memory) / 1e6;
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

}  // namespace
}  // namespace chakra
