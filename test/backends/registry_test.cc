#include "backends/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mixed/choice.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

Topology Two() {
  return *Topology::Make(
      {{TopologyDimension::Kind::kRing, 2, Bandwidth::FromGigabytes(1), Time::Zero(), "x"}});
}

TEST(Registry, MakesEveryNameItLists) {
  EXPECT_THAT(FabricNames(),
              testing::ElementsAre("analytical", "analytical-fifo", "loggps", "fluid", "packet", "mixed"));
  for (const std::string& name : FabricNames()) {
    FabricOptions options;
    if (name == "mixed") {
      options.Ask<PacketChoices>().any_of.emplace_back();
      options.Ask<PacketChoices>().any_of[0].link = "device 0";
    }
    const auto fabric = MakeMachine(name, Two(), options);
    ASSERT_TRUE(fabric.ok()) << fabric.status();
    EXPECT_EQ((*fabric)->devices(), 2);
    EXPECT_EQ((*fabric)->contention_free(), name == "analytical" || name == "loggps");
  }
}

TEST(Registry, UnknownNamesGetTheNearestNameAndTheList) {
  const absl::Status s = MakeMachine("analytic-fifo", Two(), {}).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("\"analytic-fifo\"; did you mean \"analytical-fifo\"?"));
  EXPECT_THAT(std::string(s.message()), HasSubstr("analytical, analytical-fifo"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
