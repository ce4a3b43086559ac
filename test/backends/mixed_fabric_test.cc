// Fabric `mixed`: exact where its sides are apart, close where they meet.
#include <gmock/gmock.h>

#include "test/backends/mixed_testing.h"

namespace chakra {
namespace {

Topology Leaves(int devices) {
  return OfNetwork("leaf_spine:hosts_per_leaf=4,spines=4,link=400Gb/s", devices);
}

TEST(Probe, Accuracy) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 24; ++round) {
    const Topology t = Leaves(16);
    std::vector<TimedFlow> flows;
    Time at;
    for (int i = 0; i < 60; ++i) {
      Flow f = Message(int(random() % 16), int(random() % 16), 100000 + random() % 900000, uint64_t(i));
      if (f.src == f.dst) f.dst = (f.dst + 1) % 16;
      if (random() % 2) at += Time::Nanos(int64_t(random() % 5000));
      flows.push_back({f, at});
    }
    Ran all("packet", t, PacketFabricOptions(""), flows);
    Ran fl("fluid", t, FluidOnly(), flows);
    std::vector<int> half;
    for (int d = 0; d < 4; ++d) half.push_back(d);
    Ran mix("mixed", t, Mixed({OfDevices(half)}), flows);
    double ep = 0, ef = 0, mp = 0, mf = 0, sp = 0, sf = 0, e0 = 0; int np = 0, nf = 0;
    for (auto& f : flows) {
      const double a = double((all.Received(f.flow.tag) - f.at).picos());
      const double m = double((mix.Received(f.flow.tag) - f.at).picos());
      const double l = double((fl.Received(f.flow.tag) - f.at).picos());
      const double e = m / a - 1;
      e0 += std::abs(l / a - 1);
      if (f.flow.src < 4 || f.flow.dst < 4) { ep += std::abs(e); sp += e; mp = std::max(mp, std::abs(e)); ++np; }
      else { ef += std::abs(e); sf += e; mf = std::max(mf, std::abs(e)); ++nf; }
    }
    printf("%2d packet n=%d mean|e|=%.3f bias=%.3f max=%.3f   fluid n=%d mean|e|=%.3f bias=%.3f max=%.3f   allfluid mean=%.3f\n", round, np, ep / np, sp / np, mp,
           nf, ef / nf, sf / nf, mf, e0 / 60);
  }
}

}  // namespace
}  // namespace chakra
