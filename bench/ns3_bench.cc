// Packet-hops a second of fabric `packet` and of ns-3, which alternate on the same flows.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "bench/measure.h"
#include "test/peers/ns3.h"
#include "test/peers/packets.h"

namespace chakra {
namespace {

// 64 devices on 8 leaves and 8 spines of 100 Gb/s; each sends to the device 8 places further. All flows cross
// 4 links, with windows of the path's bandwidth-delay product. Neither side's set-up is timed.
void Permutation(benchmark::State& state) {
  constexpr int kDevices = 64;
  const auto topology = peers::OneNetwork(
      "leaf_spine:k=16,link=12500MB/s,uplink=12500MB/s,latency=500ns,uplink_latency=500ns", kDevices);
  if (!topology.ok()) return state.SkipWithError("no topology");
  constexpr uint32_t kWindow = 17;  // 4 us and 4 full packets there at 12.5 GB/s
  const FabricOptions options = peers::PeerOptions(kWindow);
  std::vector<peers::Send> sends;
  for (int d = 0; d < kDevices; ++d) {
    const auto packets = static_cast<uint64_t>(state.range(0));
    sends.push_back({d, (d + 8) % kDevices, packets * options.Get<packet::PacketOptions>().mtu, Time::Nanos(d)});
  }
  const peers::Ns3Case what = peers::Ns3CaseOf(*topology, options, sends);
  std::vector<double> ours, devices, udp, x_devices, x_udp;
  for (auto _ : state) {
    const peers::PacketRun run = peers::RunPacket(*topology, options, sends);
    const peers::Ns3Result light = peers::RunNs3(what, peers::Ns3Stack::kDevices);
    const peers::Ns3Result usual = peers::RunNs3(what, peers::Ns3Stack::kUdp);
    const std::string error = run.error + light.error + usual.error;
    if (!error.empty()) return state.SkipWithError(error.c_str());
    if (run.hops != light.hops || run.hops != usual.hops)
      return state.SkipWithError("they count differently");
    for (size_t i = 0; i < sends.size(); ++i) {
      const auto a = static_cast<double>(run.received[i]), b = static_cast<double>(light.received[i]);
      if (std::abs(a - b) > 0.01 * b) return state.SkipWithError("they disagree");
    }
    const auto hops = static_cast<double>(run.hops);
    ours.push_back(hops / run.seconds);
    devices.push_back(hops / light.seconds);
    udp.push_back(hops / usual.seconds);
    x_devices.push_back(light.seconds / run.seconds);
    x_udp.push_back(usual.seconds / run.seconds);
    state.SetIterationTime(run.seconds);
  }
  state.counters["packet_hops_s"] = Median(ours);
  state.counters["devices_hops_s"] = Median(devices);
  state.counters["udp_hops_s"] = Median(udp);
  state.counters["x_devices"] = Median(x_devices);
  state.counters["x_udp"] = Median(x_udp);
}

BENCHMARK(Permutation)->Arg(300)->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chakra
