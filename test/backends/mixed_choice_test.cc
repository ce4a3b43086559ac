// The choices of messages that fabric `mixed` sends by packets, and their errors.
#include <gmock/gmock.h>

#include "test/backends/mixed_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

Topology TwoLevels() {
  TopologyDimension inside = MakeDim(TopologyDimension::Kind::kSwitch, 4, 400, 25);
  inside.name = "nvlink";
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kNetwork;
  d.name = "net";
  d.network = std::make_shared<const Network>(
      MakeNetwork("leaf_spine:hosts_per_leaf=2,spines=2,link=400Gb/s,uplink=800Gb/s", 4));
  d.size = 4;
  d.each_rail = true;
  return MakeTopology({inside, d});
}

std::vector<std::string> Names(const Topology& t, const PacketChoice& c) {
  std::vector<std::string> names;
  const std::vector<bool> chosen = ChosenLinks(t, c);
  for (uint32_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) names.push_back(t.LinkName(i));
  }
  return names;
}

PacketChoice Links(const std::string& link, const std::string& link_class = "",
                   const std::string& dimension = "") {
  PacketChoice c;
  c.link = link;
  c.link_class = link_class;
  c.dimension = dimension;
  return c;
}

std::string Error(const Topology& t, const PacketChoice& c) {
  return std::string(CheckPacketChoices(t, {c}).message());
}

TEST(MixedChoice, ChoosesLinksByName) {
  const Topology t = OfNetwork("leaf_spine:hosts_per_leaf=2,spines=2,link=400Gb/s", 4);
  EXPECT_THAT(Names(t, Links("leaf.0 - spine.1")),
              UnorderedElementsAre("leaf.0 - spine.1 of net", "spine.1 - leaf.0 of net"));
  EXPECT_THAT(Names(t, Links("spine.1 - leaf.0 of net")), Names(t, Links("leaf.0 - spine.1")));
  EXPECT_EQ(Names(t, Links("leaf.0")).size(), 8u);
  EXPECT_EQ(Names(t, Links("leaf.?")).size(), 16u);
  EXPECT_EQ(Names(t, Links("*.0 - sp*e.1")).size(), 2u);
  EXPECT_EQ(Names(t, Links("device.* - leaf.*")).size(), 8u);
  EXPECT_EQ(Names(t, Links("*")).size(), 16u);
  EXPECT_THAT(Names(t, Links("leaf")), IsEmpty());
  EXPECT_THAT(Names(t, Links("leaf.0 - spine.1 of other")), IsEmpty());
}

TEST(MixedChoice, ChoosesLinksByClassAndDimension) {
  const Topology t = TwoLevels();
  EXPECT_EQ(Names(t, Links("", "", "nvlink")).size(), 32u);
  EXPECT_EQ(Names(t, Links("", "", "0")).size(), 32u);
  EXPECT_EQ(Names(t, Links("", "", "n*")).size(), t.links());
  EXPECT_THAT(Names(t, Links("device 3 - switch", "", "")),
              UnorderedElementsAre("device 3 - switch of nvlink", "switch - device 3 of nvlink"));
  // In all four rails, or in one of them.
  EXPECT_EQ(Names(t, Links("leaf.0 - spine.*")).size(), 16u);
  EXPECT_THAT(Names(t, Links("leaf.0 - spine.1 of net (2)")),
              UnorderedElementsAre("leaf.0 - spine.1 of net (2)", "spine.1 - leaf.0 of net (2)"));
  EXPECT_EQ(Names(t, Links("leaf.0", t.link_classes().back().name, "net")).size() +
                Names(t, Links("leaf.0", t.link_classes()[1].name, "net")).size(),
            32u);
  EXPECT_THAT(Names(t, Links("")), IsEmpty());
}

TEST(MixedChoice, RefusesInvalidChoices) {
  const Topology t = TwoLevels();
  PacketChoice none;
  EXPECT_THAT(Error(t, none), HasSubstr("by_packets[0] selects no message; expected link, class"));
  EXPECT_THAT(Error(t, Links("laef.0")),
              AllOf(HasSubstr("link is \"laef.0\", which none of the 96 links has"),
                    HasSubstr("did you mean 'leaf.0'?")));
  EXPECT_THAT(Error(t, Links("leaf.0 - spime.1")), HasSubstr("did you mean 'leaf.0 - spine.1'?"));
  EXPECT_THAT(Error(t, Links("leaf.0", "", "nvlink")), HasSubstr("none of the links of that class"));
  EXPECT_THAT(Error(t, Links("", "optic")), HasSubstr("class is the unknown \"optic\""));
  EXPECT_THAT(Error(t, Links("", "", "nvlnk")),
              AllOf(HasSubstr("unknown \"nvlnk\""), HasSubstr("did you mean 'nvlink'?")));
  EXPECT_THAT(Error(t, Links("", "", "2")), HasSubstr("By number: 0 to 1"));
  EXPECT_THAT(Error(t, OfDevices({3, 16})), HasSubstr("device 16; expected 0 to 15, the nearest is 15"));
  EXPECT_THAT(Error(t, OfDevices({-1})), HasSubstr("the nearest is 0"));
  EXPECT_THAT(Error(t, OfDevices({})), HasSubstr("no ranks"));
  EXPECT_THAT(Error(t, Within(Time::Micros(2), Time::Micros(2))), HasSubstr("expected more than after"));
  PacketChoice named = Links("x");
  named.label = "--mixed \"link=x\"";
  EXPECT_THAT(Error(t, named), StartsWith("--mixed \"link=x\": link is"));
  EXPECT_TRUE(CheckPacketChoices(t, {Links("leaf.1"), OfDevices({15})}).ok());
}

TEST(MixedChoice, AllCriteriaMustHold) {
  const Topology t = OfNetwork("leaf_spine:hosts_per_leaf=2,spines=2,link=400Gb/s", 8);
  std::vector<TimedFlow> flows;
  for (int i = 0; i < 8; ++i) {
    for (int k = 1; k < 8; ++k) {
      flows.push_back({Message(i, (i + k) % 8, 1000, flows.size()), Time::Micros(i)});
    }
  }
  const auto chosen = [&](const std::vector<PacketChoice>& choices) {
    return Ran("mixed", t, Mixed(choices), flows).fabric->Packets().messages;
  };
  // Device 0 with all others, in both directions.
  EXPECT_EQ(chosen({OfDevices({0})}), 14u);
  EXPECT_EQ(chosen({OfLink("device.0")}), 14u);
  PacketChoice both = OfDevices({0});
  both.link = "device.1 - *";
  EXPECT_EQ(chosen({both}), 2u);
  both.until = Time::Micros(1);
  EXPECT_EQ(chosen({both}), 1u);
  EXPECT_EQ(chosen({OfDevices({0}), OfDevices({1})}), 26u);
  EXPECT_EQ(chosen({Within(Time::Micros(2), Time::Micros(4))}), 14u);
  // Messages that leave or enter leaf 0, without those inside the leaf.
  EXPECT_EQ(chosen({OfLink("leaf.0 - spine.*")}), 24u);
}

TEST(MixedChoice, AnyPathChoosesSprayedMessages) {
  const Topology t = OfNetwork("leaf_spine:hosts_per_leaf=2,spines=4,link=400Gb/s", 4);
  const auto chosen = [&](RoutingPolicy policy, const std::string& packet) {
    FabricOptions options = Mixed({OfLink("leaf.0 - spine.2")}, packet);
    options.routing.policy = policy;
    std::vector<Flow> flows;
    for (int i = 0; i < 4; ++i) flows.push_back(Message(i % 2, 2 + i / 2, 100000, 0));
    return Ran("mixed", t, options, AtOnce(flows)).fabric->Packets().messages;
  };
  EXPECT_LT(chosen(RoutingPolicy::kEcmp, ""), 4u);
  EXPECT_EQ(chosen(RoutingPolicy::kSpray, ""), 4u);
  EXPECT_EQ(chosen(RoutingPolicy::kEcmp, "transport=nscc"), 4u);
  EXPECT_EQ(chosen(RoutingPolicy::kFlowlet, ""), 4u);
}

TEST(MixedChoice, RefusesMisplacedOptions) {
  const Topology t = Star(4, 50, Time::Nanos(500));
  const auto error = [&](const char* fabric, const FabricOptions& options) {
    return std::string(MakeFabric(fabric, t, options).status().message());
  };
  EXPECT_THAT(error("mixed", PacketFabricOptions("")),
              HasSubstr("fabric mixed: nothing is chosen for packets"));
  for (const char* fabric : {"analytical", "analytical-fifo", "fluid", "packet"}) {
    FabricOptions options = Mixed({OfDevices({0})});
    options.Drop<PacketOptions>();
    EXPECT_THAT(error(fabric, options), HasSubstr("(--mixed, or `by_packets` of a cluster) are for mixed"))
        << fabric;
  }
  FabricOptions options = Mixed({OfDevices({0})});
  options.Ask<PathOptions>().store_and_forward = true;
  EXPECT_THAT(error("mixed", options), HasSubstr("store and forward"));
  options.Ask<PathOptions>().store_and_forward = false;
  options.routing.policy = RoutingPolicy::kUgal;
  EXPECT_THAT(error("mixed", options), HasSubstr("routing ugal"));
  options.routing.policy = RoutingPolicy::kEcmp;
  options.Ask<PacketOptions>().mtu = 10;
  EXPECT_THAT(error("mixed", options), HasSubstr("mtu"));
  options.Ask<PacketOptions>().mtu = 4096;
  EXPECT_EQ(error("mixed", options), "");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
