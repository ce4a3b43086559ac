// Settings: short forms, ranges, and descriptions of fields.
#include "trace/io/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "proto/cluster.pb.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const SettingDoc& DocOf(const std::string& key, const google::protobuf::Descriptor& type) {
  static std::vector<SettingDoc> docs;
  docs = DescribeSettings(type);
  for (const SettingDoc& d : docs) {
    if (d.key == key) return d;
  }
  ADD_FAILURE() << key;
  return docs[0];
}

TEST(Settings, ShortFormSetsNamedFields) {
  proto::PacketNetwork p;
  p.set_ack_every(4);
  p.set_xoff_us(3);
  ASSERT_TRUE(
      ReadSettings(" mtu=4KiB, weights = 1x3, switching=cut_through,xoff=64KB,series=0ns,trim=yes", "x", &p)
          .ok());
  EXPECT_EQ(p.mtu_bytes(), 4096u);
  EXPECT_THAT(p.weight(), ElementsAre(1, 3));
  EXPECT_EQ(p.switching(), proto::PacketNetwork::CUT_THROUGH);
  EXPECT_EQ(p.xoff_bytes(), 64000u);
  EXPECT_FALSE(p.has_xoff_us());
  EXPECT_TRUE(p.has_series_us());
  EXPECT_TRUE(p.trim());
  EXPECT_EQ(p.ack_every(), 4u);  // as before
  proto::LinkFault f;
  ASSERT_TRUE(ReadSettings("class=(up),share=0.5,after=10us,until=1ms,one_way=no", "x", &f).ok());
  EXPECT_EQ(f.link_class(), "up");
  EXPECT_EQ(f.after_us(), 10);
  EXPECT_EQ(f.until_us(), 1000);
}

TEST(Settings, ErrorsNameTheFaultAndChangeNothing) {
  proto::PacketNetwork p;
  const auto error = [&p](const std::string& text) {
    const absl::Status s = ReadSettings(text, "--packet", &p);
    EXPECT_EQ(p.ByteSizeLong(), 0u) << text;
    return std::string(s.message());
  };
  EXPECT_EQ(error("mtu=4096,mtu=1"), "--packet: mtu is given twice");
  EXPECT_EQ(error("mtu"), "--packet: \"mtu\"; expected KEY=VALUE");
  EXPECT_EQ(error("header=1,mtuu=4096"),
            "--packet: unknown key \"mtuu\"; did you mean 'mtu'? See `chakra-replay help packet`");
  EXPECT_THAT(error("options=mtu"), StartsWith("--packet: unknown key \"options\""));
  EXPECT_EQ(error("mtu=63"), "--packet: mtu is 63B; expected 64B to 65000B; the nearest is 64B");
  EXPECT_EQ(error("mtu=4Kb"),
            "--packet: mtu is \"4Kb\"; expected one of the units B, KB, MB, GB, TB, KiB, MiB, GiB and TiB "
            "(bytes, not bits)");
  EXPECT_EQ(error("timeout=2us,series=1ns"),
            "--packet: series is 1ns; expected 100ns to 1s, or 0s; the nearest is 100ns");
  EXPECT_EQ(error("timeout=500"), "--packet: timeout is \"500\"; expected a unit: ps, ns, us, ms or s");
  EXPECT_EQ(error("paths=0"),
            "--packet: paths is 0; expected a whole number from 1 to 256; the nearest is 1");
  EXPECT_EQ(error("paths=many"), "--packet: paths is \"many\"; expected a whole number from 1 to 256");
  EXPECT_EQ(error("alpha=nan"), "--packet: alpha is \"nan\"; expected a number");
  EXPECT_EQ(error("alpha=0"), "--packet: alpha is 0; expected > 0 and <= 1000");
  EXPECT_EQ(error("xoff=32"),
            "--packet: xoff is \"32\"; expected a size in bytes (not bits) or a time, with its unit, as "
            "400KB or 32us");
  EXPECT_EQ(error("spread=adaptve"),
            "--packet: spread is \"adaptve\"; expected connection, packet, transport, adaptive; did you mean "
            "'adaptive'?");
  EXPECT_EQ(error("weights=1xx"), "--packet: weights is \"\"; expected a whole number from 1 to 10000");
}

TEST(Settings, ChecksRangesOfAMessage) {
  proto::Cluster c;
  const auto error = [&c](const std::string& text) {
    EXPECT_TRUE(ParseTextMessage(text, "test", &c).ok());
    return std::string(CheckSettings(c, "cluster: ").message());
  };
  EXPECT_EQ(error("packet { mtu_bytes: 64 } topology { fault { loss: 0 } }"), "");
  EXPECT_EQ(error("packet { timeout_us: 0.5 }"),
            "cluster: packet.timeout_us is 0.5; expected 1 to 1000000; the nearest is 1");
  EXPECT_EQ(error("topology { fault { } fault { loss: 2 } }"),
            "cluster: topology.fault[1].loss is 2; expected >= 0 and < 1; 2 % is 0.02");
  EXPECT_EQ(error("topology { fault { loss: -1 label: 'cut' } }"),
            "cut: loss is -1; expected >= 0 and < 1; the nearest is 0");
  EXPECT_EQ(error("device { peak_tflops { key: 'b' value: -1 } peak_tflops { key: 'a' value: nan } }"),
            "cluster: device.peak_tflops[\"a\"] is nan; expected 0 to 1000000000");
  c.Clear();
  c.mutable_packet()->set_recovery(static_cast<proto::PacketNetwork::Recovery>(7));
  EXPECT_EQ(CheckSettings(c, "").message(), "packet.recovery is 7; expected GO_BACK_N, SELECTIVE");
}

TEST(Settings, DescribesFields) {
  const auto& packet = *proto::PacketNetwork::descriptor();
  EXPECT_EQ(DocOf("mtu", packet).fallback, "4096");
  EXPECT_EQ(DocOf("mtu", packet).doc, "payload of a full packet");
  EXPECT_EQ(DocOf("mtu", packet).values, "64B to 65000B");
  EXPECT_EQ(DocOf("xoff", packet).values, "0B to 1TB, or 0s to 1s");
  EXPECT_EQ(DocOf("skip", packet).values, "off, steady, repeats or all");
  EXPECT_EQ(DocOf("bias", *proto::Routing::descriptor()).values, "0 to 1000000000");
  // Defaults may be given.
  for (const auto* type : {&packet, proto::Routing::descriptor(), proto::LinkFault::descriptor(),
                           proto::PacketChoice::descriptor()}) {
    for (const SettingDoc& d : DescribeSettings(*type)) {
      EXPECT_GT(d.doc.size(), 5u) << d.key;
      if (d.fallback.empty()) continue;
      const auto* made = google::protobuf::MessageFactory::generated_factory()->GetPrototype(type);
      const std::unique_ptr<google::protobuf::Message> m(made->New());
      const absl::Status s = ReadSettings(absl::StrCat(d.key, "=", d.fallback), type->name(), m.get());
      EXPECT_TRUE(s.ok()) << s;
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
