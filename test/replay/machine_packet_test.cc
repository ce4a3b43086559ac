// The packet network of a cluster: typed fields in both formats, then the text of --packet, which overrides
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "replay/cluster/options.h"
#include "replay/cluster/packet.h"
#include "replay/run/cluster_model.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kRing[] =
    "topology { dimension { kind: RING size: 2 bandwidth_gbytes_per_s: 50 latency_ns: 500 } } ";

proto::Cluster Cluster(const std::string& text) {
  proto::Cluster cluster;
  const absl::Status s = ParseMessage(text, "test", &cluster);
  EXPECT_TRUE(s.ok()) << s;
  return cluster;
}

absl::StatusOr<packet::PacketOptions> Build(const std::string& fields) {
  return BuildPacket(Cluster("packet { " + fields + " }").packet());
}

std::string Error(const std::string& fields) { return std::string(Build(fields).status().message()); }

TEST(MachinePacket, ReadsEveryField) {
  const auto o = Build(
      "mtu_bytes: 1000 header_bytes: 48 ack_bytes: 60 ack_every: 4 switching: CUT_THROUGH "
      "switch_latency_ns: 0.125 classes: 4 weight: [1, 3, 2] buffer_bytes: 32000000 alpha: 0.3 "
      "reserved_bytes: 4096 flow_control: PFC headroom_bytes: 50000 xoff_us: 1.5 xon_gap_bytes: 3072 ecn: "
      "true "
      "ecn_low_us: 32 ecn_high_us: 128.000001 ecn_probability: 0.2 ecn_at: ENQUEUE transport: "
      "\"window:bdp=2\" "
      "recovery: SELECTIVE timeout_us: 1000 paths: 8 spread: PACKET seed: 7 series_us: 10");
  ASSERT_TRUE(o.ok()) << o.status();
  EXPECT_EQ(o->mtu, 1000u);
  EXPECT_EQ(o->header, 48u);
  EXPECT_EQ(o->ack, 60u);
  EXPECT_EQ(o->ack_every, 4u);
  EXPECT_TRUE(o->cut_through);
  EXPECT_EQ(o->switch_latency, Time::Picos(125));
  EXPECT_EQ(o->classes, 4);
  EXPECT_THAT(o->weights, ElementsAre(1, 3, 2));
  EXPECT_EQ(o->buffer, 32000000u);
  EXPECT_EQ(o->alpha, 0.3);
  EXPECT_EQ(o->reserved, 4096u);
  EXPECT_EQ(o->flow_control, packet::PacketOptions::FlowControl::kPfc);
  EXPECT_EQ(o->headroom, 50000u);
  EXPECT_EQ(o->xoff.picos, 1.5e6);
  EXPECT_EQ(o->xon_gap, 3072);
  EXPECT_TRUE(o->ecn);
  EXPECT_EQ(o->ecn_low.picos, 32e6);
  EXPECT_EQ(o->ecn_high.picos, 128000001);
  EXPECT_EQ(o->ecn_probability, 0.2);
  EXPECT_TRUE(o->ecn_at_enqueue);
  EXPECT_EQ(std::get<packet::FixedWindow::Config>(o->transport).bdp, 2);
  EXPECT_EQ(o->recovery, packet::PacketOptions::Recovery::kSelective);
  EXPECT_EQ(o->timeout, Time::Micros(1000));
  EXPECT_EQ(o->paths, 8);
  EXPECT_EQ(o->spread, packet::PacketOptions::Spread::kPacket);
  EXPECT_EQ(o->seed, 7u);
  EXPECT_EQ(o->series, Time::Micros(10));

  const auto bytes = Build("queue_bytes: 500000 trim: true ecn_low_bytes: 1000 ecn_high_bytes: 400000");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->queue, 500000u);
  EXPECT_TRUE(bytes->trim);
  EXPECT_EQ(bytes->ecn_low.bytes, 1000);
  EXPECT_EQ(bytes->ecn_high.bytes, 400000);
  EXPECT_EQ(Build("flow_control: CREDIT credit_bytes: 65536")->credit, 65536u);
  EXPECT_EQ(Build("flow_control: PFC buffer_bytes: 1000000 xoff_bytes: 9000")->xoff.bytes, 9000);
  EXPECT_EQ(Build("")->mtu, packet::PacketOptions().mtu);
}

TEST(MachinePacket, ReadsFieldsFromJson) {
  const auto o = BuildPacket(
      Cluster(
          R"({"packet": {"mtuBytes": "9000", "flowControl": "PFC", "bufferBytes": "1000000", "trim": false}})")
          .packet());
  ASSERT_TRUE(o.ok()) << o.status();
  EXPECT_EQ(o->mtu, 9000u);
  EXPECT_EQ(o->flow_control, packet::PacketOptions::FlowControl::kPfc);
}

TEST(MachinePacket, ErrorsNameTheClusterAndTheValue) {
  EXPECT_THAT(Error("mtu_bytes: 30"),
              AllOf(StartsWith("cluster: packet.mtu_bytes is 30;"), HasSubstr("the nearest is 64")));
  EXPECT_THAT(Error("mtu_bytes: 18446744073709551615"),
              HasSubstr("packet.mtu_bytes is 1.84467e+19; expected"));
  EXPECT_THAT(Error("timeout_us: 2e6"),
              HasSubstr("packet.timeout_us is 2000000; expected 1 to 1000000; the nearest is 1000000"));
  EXPECT_THAT(Error("switch_latency_ns: -1"), HasSubstr("packet.switch_latency_ns is -1"));
  EXPECT_THAT(Error("switch_latency_ns: nan"), HasSubstr("packet.switch_latency_ns is nan"));
  EXPECT_THAT(Error("alpha: nan buffer_bytes: 1000000"),
              HasSubstr("packet.alpha is nan; expected > 0 and <= 1000"));
  EXPECT_THAT(Error("alpha: 1e-320 buffer_bytes: 1000000 weight: 0"),
              HasSubstr("packet.weight[0] is 0; expected a whole number from 1 to 10000"));
  EXPECT_THAT(Error("transport: \"windo\""), HasSubstr("'window'"));
  EXPECT_THAT(Error("transport: \"window),mtu=(9000\""), HasSubstr("cluster: packet: transport"));
  EXPECT_THAT(Error("options: \"mtuu=1\""), AllOf(StartsWith("cluster: packet: "), HasSubstr("'mtu'")));
  proto::PacketNetwork odd;
  odd.set_recovery(static_cast<proto::PacketNetwork::Recovery>(7));
  EXPECT_THAT(std::string(BuildPacket(odd).status().message()),
              HasSubstr("packet.recovery is 7; expected GO_BACK_N, SELECTIVE"));
  // A level in two units is an error.
  proto::Cluster cluster;
  EXPECT_FALSE(ParseMessage("packet { ecn_low_us: 1 ecn_low_bytes: 1 }", "test", &cluster).ok());
  EXPECT_THAT(
      std::string(BuildCluster(Cluster(std::string(kRing) + "packet { paths: 300 }"), 2).status().message()),
      HasSubstr("packet.paths is 300; expected a whole number from 1 to 256; the nearest is 256"));
}

TEST(MachinePacket, FlagOverridesTheFile) {
  proto::Cluster cluster = Cluster(
      std::string(kRing) + "packet { options: \"paths=4,header=48\" mtu_bytes: 1000 ecn_low_bytes: 5000 }");
  std::vector<std::string> notes;
  TopologyOptions options;
  options.packet = "ecn_low=32us,paths=2,transport=(window:bytes=64KB,bdp=1)";
  absl::Status s = ApplyTopologyOptions(options, &cluster, &notes);
  ASSERT_TRUE(s.ok()) << s;
  const auto model = BuildCluster(cluster, 2);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(model->packet_given);
  EXPECT_EQ(model->packet.mtu, 1000u);
  EXPECT_EQ(model->packet.header, 48u);
  EXPECT_EQ(model->packet.paths, 2);
  EXPECT_EQ(model->packet.ecn_low.bytes, 0);
  EXPECT_EQ(model->packet.ecn_low.picos, 32e6);
  EXPECT_EQ(std::get<packet::FixedWindow::Config>(model->packet.transport).bytes, 64000);
  EXPECT_FALSE(BuildCluster(Cluster(kRing), 2)->packet_given);

  options.packet = "mtuu=4096";
  EXPECT_THAT(std::string(ApplyTopologyOptions(options, &cluster, &notes).message()),
              AllOf(StartsWith("--packet"), HasSubstr("did you mean 'mtu'?")));
  options.packet = "mtu";
  EXPECT_THAT(std::string(ApplyTopologyOptions(options, &cluster, &notes).message()),
              AllOf(StartsWith("--packet: "), HasSubstr("KEY=VALUE")));
}

// One order: the file, then --packet, then --set, key by key.
TEST(MachinePacket, SetOverridesFlagAndFile) {
  const auto mtu = [](const std::string& file, const std::string& packet,
                      const std::vector<std::string>& set) {
    proto::Cluster cluster = Cluster(std::string(kRing) + "packet { " + file + " }");
    TopologyOptions options;
    options.packet = packet;
    options.set = set;
    std::vector<std::string> notes;
    const absl::Status s = ApplyTopologyOptions(options, &cluster, &notes);
    const auto model = s.ok() ? BuildCluster(cluster, 2) : absl::StatusOr<ClusterModel>(s);
    if (!model.ok()) return std::string(model.status().message());
    return absl::StrCat(model->packet.mtu, " ", model->packet.header);
  };
  EXPECT_EQ(mtu("", "mtu=4KiB", {"packet.mtu_bytes=1000"}), "1000 64");
  EXPECT_EQ(mtu("options: \"mtu=9000,header=48\"", "", {"packet.mtu_bytes=1000"}), "1000 48");
  EXPECT_EQ(mtu("options: \"mtu=9000,header=48\"", "header=50", {"packet.mtu_bytes=1KiB"}), "1024 50");
  EXPECT_EQ(mtu("mtu_bytes: 1000", "header=48", {"packet.options=mtu=2000"}), "2000 48");
  EXPECT_EQ(mtu("options: \"mtu=9000,header=48\"", "", {"packet.options=header=50"}), "4096 50");
  EXPECT_EQ(
      mtu("", "mtu=1000", {"packet.mtu_bytes=1500", "packet.options=mtu=2000", "packet.header_bytes=1"}),
      "2000 1");
  EXPECT_EQ(mtu("", "mtu=4096B", {"packet.mtu_bytes=1"}),
            "--packet and the cluster: packet.mtu_bytes is 1; expected a whole number from 64 to 65000; the "
            "nearest is 64");
  // Settings that exclude each other are checked after all settings are applied.
  EXPECT_EQ(mtu("", "flow_control=pfc", {"packet.buffer_bytes=32MB"}), "4096 64");
  EXPECT_THAT(mtu("", "flow_control=pfc", {}),
              StartsWith("--packet and the cluster: packet: flow_control is pfc"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
