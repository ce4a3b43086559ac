// Choices of fabric `mixed` from the command line and from a cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/cluster/mixed.h"
#include "replay/cluster/options.h"
#include "replay/run/cluster_model.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

proto::Cluster Cluster(const std::string& text) {
  proto::Cluster cluster;
  const absl::Status s = ParseMessage(text, "test", &cluster);
  EXPECT_TRUE(s.ok()) << s;
  return cluster;
}

absl::StatusOr<std::vector<PacketChoice>> Read(const std::string& text,
                                               const std::vector<int>& device_of = {}) {
  proto::Cluster cluster;
  if (absl::Status s = AddPacketChoice(text, &cluster); !s.ok()) return s;
  return BuildPacketChoices(cluster, 16, device_of);
}

std::string Error(const std::string& text) { return std::string(Read(text).status().message()); }

TEST(MixedMachine, ReadsEveryKey) {
  const auto c =
      Read("link=leaf.* - spine.0, class=up*, dimension=net, ranks=(3,8-10), after=1.5us, until=2ms");
  ASSERT_TRUE(c.ok()) << c.status();
  ASSERT_EQ(c->size(), 1u);
  EXPECT_EQ(c->front().link, "leaf.* - spine.0");
  EXPECT_EQ(c->front().link_class, "up*");
  EXPECT_EQ(c->front().dimension, "net");
  EXPECT_TRUE(c->front().by_device);
  EXPECT_THAT(c->front().devices, ElementsAre(3, 8, 9, 10));
  EXPECT_EQ(c->front().after, Time::Picos(1500000));
  EXPECT_EQ(c->front().until, Time::Micros(2000));
  EXPECT_FALSE(Read("link=leaf.0")->front().by_device);
  EXPECT_EQ(Read("ranks=2")->front().until, Time::Never());
  EXPECT_EQ(Read("ranks=all")->front().devices.size(), 16u);
}

TEST(MixedMachine, ReadsFieldsOfCluster) {
  const auto cluster = Cluster(
      "by_packets { link: \"leaf.0\" until_us: 1000 } by_packets { ranks: \"0-3\" dimension: \"1\" after_us: "
      "0.5 }");
  const auto c = BuildPacketChoices(cluster, 8, {7, 6, 5, 4, 3, 2, 1, 0});
  ASSERT_TRUE(c.ok()) << c.status();
  ASSERT_EQ(c->size(), 2u);
  EXPECT_EQ((*c)[0].until, Time::Micros(1000));
  EXPECT_EQ((*c)[1].dimension, "1");
  EXPECT_EQ((*c)[1].after, Time::Nanos(500));
  // The devices of the ranks.
  EXPECT_THAT((*c)[1].devices, ElementsAre(4, 5, 6, 7));
}

TEST(MixedMachine, RefusesBadChoices) {
  EXPECT_THAT(Error(""), StartsWith("--mixed \"\": no message is selected; expected key=value"));
  EXPECT_THAT(Error("links=leaf.0"), AllOf(StartsWith("--mixed \"links=leaf.0\": unknown key \"links\""),
                                           HasSubstr("did you mean 'link'?")));
  EXPECT_THAT(Error("leaf.0"), HasSubstr("expected KEY=VALUE"));
  EXPECT_THAT(Error("link="), HasSubstr("link is empty; expected text"));
  EXPECT_THAT(Error("ranks=()"), HasSubstr("ranks is empty"));
  EXPECT_THAT(Error("ranks=4-16"), HasSubstr("expected 0 to 15"));
  EXPECT_THAT(Error("ranks=3,8-15"), HasSubstr("\"8-15\"; expected KEY=VALUE"));
  EXPECT_THAT(Error("after=5"), HasSubstr("after is \"5\"; expected a unit"));
  EXPECT_THAT(Error("after=2us,until=1us"),
              HasSubstr("until_us is 1; expected more than after_us, which is 2"));
  EXPECT_THAT(Error("until=0us"), HasSubstr("until is 0; expected more than after"));
  EXPECT_THAT(Error("after=0us"), HasSubstr("selects no message"));
  const auto of = [](const std::string& fields) {
    return std::string(
        BuildPacketChoices(Cluster("by_packets { " + fields + " }"), 8, {}).status().message());
  };
  EXPECT_THAT(of(""), StartsWith("cluster: by_packets[0] selects no message"));
  EXPECT_THAT(of("after_us: -1"), HasSubstr("by_packets[0].after_us is -1"));
  EXPECT_THAT(of("until_us: nan"), HasSubstr("by_packets[0].until_us is nan"));
  EXPECT_THAT(of("ranks: \"9\""), HasSubstr("by_packets[0].ranks: rank 9"));
}

TEST(MixedMachine, CommandLineAddsToTheCluster) {
  proto::Cluster cluster = Cluster(
      "topology { dimension { kind: RING size: 4 bandwidth_gbytes_per_s: 50 latency_ns: 500 } } "
      "by_packets { ranks: \"0\" }");
  TopologyOptions options;
  options.mixed = {"ranks=1", "link=device 2"};
  std::vector<std::string> notes;
  ASSERT_TRUE(ApplyTopologyOptions(options, &cluster, &notes).ok());
  const auto model = BuildCluster(cluster, 4);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->choices.size(), 3u);
  EXPECT_EQ(model->choices[2].label, "--mixed \"link=device 2\"");
  EXPECT_TRUE(CheckPacketChoices(model->topology, model->choices).ok());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
