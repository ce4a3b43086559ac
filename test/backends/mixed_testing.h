// Runs for the tests of fabric `mixed`.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/mixed/mixed_fabric.h"
#include "test/backends/packet_testing.h"

namespace chakra {

inline PacketChoice OfLink(const std::string& link) {
  PacketChoice c;
  c.link = link;
  return c;
}
inline PacketChoice OfDevices(const std::vector<int>& devices) {
  PacketChoice c;
  c.devices = devices;
  c.by_device = true;
  return c;
}
inline PacketChoice Within(Time after, Time until) {
  PacketChoice c;
  c.after = after;
  c.until = until;
  return c;
}
inline std::vector<int> Range(int from, int to) {
  std::vector<int> all;
  for (int i = from; i < to; ++i) all.push_back(i);
  return all;
}
inline FabricOptions Mixed(std::vector<PacketChoice> choices, const std::string& packet = "") {
  FabricOptions options = PacketFabricOptions(packet);
  options.Ask<PacketChoices>().any_of = std::move(choices);
  return options;
}
inline FabricOptions FluidOnly() { return FabricOptions(); }

inline std::unique_ptr<Machine> Make(const std::string& name, const Topology& t,
                                     const FabricOptions& options) {
  auto fabric = MakeMachine(name, t, options);
  EXPECT_TRUE(fabric.ok()) << fabric.status();
  return fabric.ok() ? *std::move(fabric) : nullptr;
}

// A fabric and the ends of its flows.
struct Ran {
  std::unique_ptr<Machine> fabric;
  std::vector<FlowEnd> ended;
  Ran(const std::string& name, const Topology& t, const FabricOptions& options,
      const std::vector<TimedFlow>& flows)
      : fabric(Make(name, t, options)), ended(Drive(fabric.get(), flows)) {}
  const MixedFabric& mixed() const { return static_cast<const MixedFabric&>(fabric->fabric()); }
  Time Received(uint64_t tag) const { return ReceivedAt(ended, tag); }
};

inline void ExpectSameEnds(const std::vector<FlowEnd>& got, const std::vector<FlowEnd>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].tag, expected[i].tag) << i;
    ASSERT_EQ(got[i].at, expected[i].at) << i << " tag " << got[i].tag;
    ASSERT_EQ(got[i].kind, expected[i].kind) << i << " tag " << got[i].tag;
  }
}

}  // namespace chakra
