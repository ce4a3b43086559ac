// `chakra-replay topology` on the command line.
#include <gmock/gmock.h>

#include "proto/topology_report.pb.h"
#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TopologyCli : public Bench {
 protected:
  proto::TopologyReport Shown(const std::string& arguments, int status = 0) const {
    proto::TopologyReport report;
    const Outcome r = Run("topology " + arguments + " --format json");
    EXPECT_EQ(r.status, status) << arguments << "\n" << r.err;
    const absl::Status read = ParseMessage(r.out, "report", &report);
    EXPECT_TRUE(read.ok()) << read << "\n" << r.out;
    return report;
  }
};

TEST_F(TopologyCli, ListsNetworksAndClusters) {
  const Outcome r = Run("topology list");
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("switch"));
  EXPECT_THAT(r.out, HasSubstr("link=400Gb/s"));
  EXPECT_THAT(r.out, HasSubstr("dgx-h100"));
  size_t begin = 0;
  for (size_t end = r.out.find('\n'); end != std::string::npos; end = r.out.find('\n', begin)) {
    EXPECT_LE(end - begin, 80u) << r.out.substr(begin, end - begin);
    begin = end + 1;
  }
  const Outcome one = Run("topology list switch");
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, StartsWith("switch: "));
  EXPECT_THAT(one.out, HasSubstr("source: "));
  EXPECT_THAT(one.out, HasSubstr("planes=1"));
  proto::NetworkList list;
  ASSERT_TRUE(ParseMessage(Run("topology list --format json").out, "list", &list).ok());
  EXPECT_GT(list.network_size(), 5);
  EXPECT_GT(list.cluster_size(), 5);
  for (const auto& kind : list.network()) EXPECT_NE(kind.source(), "") << kind.name();
}

TEST_F(TopologyCli, ShowsANetwork) {
  const Outcome r = Run("topology show switch:devices=16,planes=2");
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, StartsWith("switch:devices=16,planes=2\n"));
  EXPECT_THAT(
      r.out,
      HasSubstr("devices     16\ninjection   800 Gb/s a device, in 2 ports\nswitches    2, 32 ports in use\n"
                "links       32\n"));
  EXPECT_THAT(r.out, HasSubstr("diameter    2 links between devices, on average 2\n"));
  EXPECT_THAT(r.out, HasSubstr("at most 6.4 Tb/s, 100 % of what half of the devices can send"));
  const proto::TopologyReport report = Shown("show switch --devices 8");
  EXPECT_EQ(report.devices(), 8u);
  EXPECT_EQ(report.links(), 8u);
  EXPECT_EQ(report.diameter(), 2);
  EXPECT_TRUE(report.distances_exact());
  EXPECT_EQ(report.bisection_bytes_per_s(), 4 * 50e9);
  EXPECT_EQ(report.group_size(), 2);
  EXPECT_EQ(report.link_class(0).latency_ps(), 500000);
}

TEST_F(TopologyCli, ShowsAWholeCluster) {
  const proto::TopologyReport node = Shown("show dgx-h100");
  EXPECT_EQ(node.devices(), 8u);
  EXPECT_EQ(node.dimension_size(), 1);
  EXPECT_EQ(node.dimension(0).kind(), "switch");
  const proto::TopologyReport two = Shown("show dgx-h100 --devices 16");
  EXPECT_EQ(two.devices(), 16u);
  EXPECT_EQ(two.dimension_size(), 2);
  EXPECT_EQ(two.diameter(), 4);  // in the node, then over the network
  EXPECT_EQ(two.bisection_bytes_per_s(), 8 * 50e9);
  EXPECT_EQ(Shown("show " + At("ring4.txtpb")).diameter(), 2);
}

TEST_F(TopologyCli, ChecksAndFailsOnErrors) {
  const Outcome fine = Run("topology check switch:devices=8");
  EXPECT_EQ(fine.status, 0) << fine.err;
  EXPECT_THAT(fine.out, HasSubstr("0 errors, 0 notes; every device reaches every other"));
  const Outcome rate = Run("topology check switch:devices=8,link=450Gb/s");
  EXPECT_EQ(rate.status, 0);
  EXPECT_THAT(rate.out, HasSubstr("note: links"));
  const proto::TopologyReport radix = Shown("check switch:devices=8 --radix 4", 1);
  ASSERT_EQ(radix.finding_size(), 1);
  EXPECT_EQ(radix.finding(0).severity(), "error");
}

TEST_F(TopologyCli, FindsUnreachableDevicesOfFile) {
  const std::string file =
      Write("cut.txtpb",
            "vertices { name: 'device' kind: DEVICE count: 4 }\n"
            "vertices { name: 'leaf' count: 2 tier: 1 }\n"
            "links { from: 'device' to: 'leaf' scheme: BLOCKS bandwidth_gbits_per_s: 400 }\n");
  EXPECT_EQ(Shown("show " + file).unreachable_pairs(), 8u);
  const Outcome r = Run("topology check " + file);
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.out, HasSubstr("device.0 to device.2"));
  EXPECT_THAT(r.out, HasSubstr("error: 8 ordered pairs of devices have no path"));
  Refused("topology show " + file + " --devices 3", {"--devices is 3", "4 devices"});
}

TEST_F(TopologyCli, DrawsByFileExtension) {
  for (const char* name : {"x.svg", "x.dot", "x.gv", "x.DOT", "y", "z.txt --format dot"}) {
    const Outcome r = Run(std::string("topology draw switch:devices=4 -o ") + name);
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_EQ(r.out, "");
  }
  EXPECT_THAT(Content(At("x.svg")), StartsWith("<svg "));
  EXPECT_THAT(Content(At("x.svg")), HasSubstr("switch:devices=4"));
  EXPECT_THAT(Content(At("x.dot")), StartsWith("graph {"));
  EXPECT_THAT(Content(At("x.gv")), StartsWith("graph {"));
  EXPECT_THAT(Content(At("x.DOT")), StartsWith("graph {"));
  EXPECT_THAT(Content(At("y")), StartsWith("<svg "));
  EXPECT_THAT(Content(At("z.txt")), StartsWith("graph {"));
  Refused("topology draw switch:devices=4 -o x.png",
          {"--output x.png", "\".png\"", ".svg, .dot or .gv, or --format svg"}, 2);
  EXPECT_EQ(Content(At("x.png")), "");
  EXPECT_THAT(Run("topology draw switch:devices=4 --format dot").out, StartsWith("graph {"));
}

TEST_F(TopologyCli, RefusesBadArguments) {
  Refused("topology", {"expected list, show, check, draw, preset or transport"}, 2);
  Refused("topology shwo switch", {"\"topology shwo\"", "did you mean 'show'?"}, 2);
  Refused("topology show", {"expected a TOPOLOGY"}, 2);
  Refused("topology show swich:devices=4",
          {"there is no network, cluster preset or file", "did you mean 'switch'?"});
  Refused("topology show dgx-h10", {"did you mean 'dgx-h100'?"});
  Refused("topology show nothing/here.yaml", {"nothing/here.yaml", "topology list"});
  Refused("topology list swich", {"did you mean 'switch'?"});
  Refused("topology show switch:device=4", {"device", "did you mean"});
  Refused("topology draw switch:devices=4 -o none/x.svg", {"none"});
  Refused("topology draw switch:devices=4 -o .", {"folder"});
  Refused("topology draw switch:devices=4 --layout grit", {"did you mean 'grid'?"});
  Refused("topology draw switch:devices=4 --layout ring", {"layout \"ring\" does not fit"});
  Refused("topology show switch --devices 0", {"--devices"}, 2);
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
