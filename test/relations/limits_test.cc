// On every fabric, the limit of a flow is a rate: it adds no bytes, and other flows get the rest of the link.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "test/folders.h"

namespace chakra::CHAKRA_FILE {
namespace {

using Kind = TopologyDimension::Kind;

Flow Message(int src, int dst, uint64_t bytes, double limit_gbytes_per_s, uint64_t tag) {
  Flow flow;
  flow.src = src;
  flow.dst = dst;
  flow.bytes = bytes;
  flow.tag = tag;
  flow.want_sent = true;
  flow.limit = Bandwidth::FromGigabytes(limit_gbytes_per_s);
  return flow;
}

// When messages that start together are received, by tag.
std::map<uint64_t, Time> Received(Machine& machine, const std::vector<Flow>& flows) {
  for (const Flow& flow : flows) machine.Start(flow, Time::Zero());
  std::map<uint64_t, Time> at;
  std::vector<FlowEnd> ends;
  for (Time next = machine.NextEvent(); next != Time::Never(); next = machine.NextEvent()) {
    ends.clear();
    machine.AdvanceTo(next, &ends);
    for (const FlowEnd& end : ends) {
      if (end.kind == FlowEnd::kReceived) at[end.tag] = end.at;
    }
  }
  return at;
}

std::unique_ptr<Machine> Switch(const std::string& fabric, int devices) {
  const auto topology =
      Topology::Make({{Kind::kSwitch, devices, Bandwidth::FromGigabytes(100), Time::Nanos(500), "d"}});
  auto machine = MakeMachine(fabric, *topology, FabricOptions());
  return machine.ok() ? *std::move(machine) : nullptr;
}

TEST(Limits, OneFlowRunsAtTheLowerOfLinkAndLimit) {
  constexpr uint64_t kBytes = 40 << 20;
  for (const char* fabric : {"analytical", "analytical-fifo", "fluid"}) {
    for (const double limit : {0.0, 25.0, 99.0, 150.0}) {
      const auto machine = Switch(fabric, 4);
      ASSERT_NE(machine, nullptr) << fabric;
      const Bandwidth rate = Bandwidth::FromGigabytes(limit > 0 && limit < 100 ? limit : 100);
      EXPECT_EQ(Received(*machine, {Message(0, 1, kBytes, limit, 7)})[7],
                Time::Micros(1) + TransferTime(kBytes, rate))
          << fabric << " " << limit;
    }
  }
}

TEST(Limits, PacketsArePaced) {
  constexpr uint64_t kBytes = 4096 * 1000;
  const auto machine = Switch("packet", 4);
  ASSERT_NE(machine, nullptr);
  const double us = Received(*machine, {Message(0, 1, kBytes, 10, 7)})[7].seconds() * 1e6;
  EXPECT_NEAR(us, 409.6 + 1, 1);
}

// Two limited flows take no more of a link than their limits; a third flow has the rest.
TEST(Limits, OthersGetTheRestOfTheLink) {
  constexpr uint64_t kBytes = 10 << 20;
  const auto machine = Switch("fluid", 4);
  auto at = Received(*machine, {Message(0, 1, kBytes, 10, 1), Message(0, 2, kBytes, 20, 2),
                                Message(0, 3, 7 * kBytes, 0, 3)});
  const auto us = [](uint64_t bytes, double rate) { return static_cast<double>(bytes) * 1e-3 / rate + 1; };
  EXPECT_NEAR(at[1].seconds() * 1e6, us(kBytes, 10), 1e-3);
  EXPECT_NEAR(at[2].seconds() * 1e6, us(kBytes, 20), 1e-3);
  // 70 GB/s until the second ends, then 90.
  const double first = us(kBytes, 20) - 1;
  EXPECT_NEAR(at[3].seconds() * 1e6, first + (7.0 * kBytes * 1e-3 - 70 * first) / 90 + 1, 1e-3);
}

// A flow with a limit shares no link; then another flow joins.
TEST(Limits, HoldWhenOthersJoin) {
  constexpr uint64_t kBytes = 10 << 20;
  const auto machine = Switch("fluid", 4);
  machine->Start(Message(0, 1, kBytes, 30, 1), Time::Zero());
  machine->NextEvent();
  std::vector<FlowEnd> ends;
  machine->AdvanceTo(Time::Micros(10), &ends);
  machine->Start(Message(0, 2, 20 * kBytes, 0, 2), Time::Micros(10));
  Time first;
  for (Time next = machine->NextEvent(); next != Time::Never(); next = machine->NextEvent()) {
    ends.clear();
    machine->AdvanceTo(next, &ends);
    for (const FlowEnd& end : ends) {
      if (end.tag == 1 && end.kind == FlowEnd::kReceived) first = end.at;
    }
  }
  EXPECT_NEAR(first.seconds() * 1e6, static_cast<double>(kBytes) * 1e-3 / 30 + 1, 1e-3);
  const LinkUses uses = machine->Links(100);
  double bytes = 0;
  for (const LinkUse& use : uses.busiest) bytes += static_cast<double>(use.bytes);
  EXPECT_EQ(uses.links, 3u);
  EXPECT_EQ(bytes, 2 * 21.0 * kBytes);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
