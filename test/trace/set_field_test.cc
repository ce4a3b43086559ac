#include "trace/io/set_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/cluster.pb.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

class SetField : public testing::Test {
 protected:
  SetField() {
    const char* text =
        "topology { dimension { kind: SWITCH size: 8 name: 'nvlink' bandwidth_bytes_per_s: 450000000000 }"
        " dimension { kind: SWITCH size: 4 name: 'nic' bandwidth_gbytes_per_s: 50 } }"
        "collectives { algorithm { key: 'all_reduce' value: 'ring' } program: 'a' program: 'b' }"
        "device { memory_gbytes_per_s: 2000 }";
    EXPECT_TRUE(ParseTextMessage(text, "cluster", &cluster_).ok());
    before_ = cluster_.DebugString();
  }
  void Set(const std::string& text) {
    const absl::Status s = SetFieldFromText(text, &cluster_);
    EXPECT_TRUE(s.ok()) << s;
  }
  // Expects an error with that text, and nothing changed.
  void Refuse(const std::string& text, const std::string& message) {
    const absl::Status s = SetFieldFromText(text, &cluster_);
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(s.message()), HasSubstr(message));
    EXPECT_THAT(std::string(s.message()), HasSubstr(text.substr(0, text.find('='))));
    EXPECT_EQ(cluster_.DebugString(), before_);
  }

  proto::Cluster cluster_;
  std::string before_;
};

TEST_F(SetField, SetsScalarsListsMapsEnumsAndMessages) {
  Set("device.memory_gbytes_per_s=3350");
  EXPECT_EQ(cluster_.device().memory_gbytes_per_s(), 3350);
  Set("topology.dimension[1].latency_ns=1.5e3");
  EXPECT_EQ(cluster_.topology().dimension(1).latency_ns(), 1500);
  Set("topology.dimension[-1].size=16");
  EXPECT_EQ(cluster_.topology().dimension(1).size(), 16);
  Set("topology.dimension[nvlink].kind=RING");
  EXPECT_EQ(cluster_.topology().dimension(0).kind(), proto::Dimension::RING);
  Set("collectives.algorithm[all_reduce]=tree");
  Set("collectives.algorithm[all_gather]=direct");
  EXPECT_EQ(cluster_.collectives().algorithm().at("all_reduce"), "tree");
  EXPECT_EQ(cluster_.collectives().algorithm_size(), 2);
  Set("device.peak_tflops[bf16]=990");
  EXPECT_EQ(cluster_.device().peak_tflops().at("bf16"), 990);
  Set("collectives.program+=c,d");
  EXPECT_EQ(cluster_.collectives().program_size(), 4);
  Set("collectives.program=x");
  EXPECT_EQ(cluster_.collectives().program_size(), 1);
  Set("collectives.program[0]=y");
  EXPECT_EQ(cluster_.collectives().program(0), "y");
  Set("packet.ecn=true");
  EXPECT_TRUE(cluster_.packet().ecn());
  Set("packet.weight=1,2,3");
  EXPECT_EQ(cluster_.packet().weight(2), 3u);
  Set("topology.routing=policy: 'ugal' paths: 4");
  EXPECT_EQ(cluster_.topology().routing().paths(), 4);
  Set("variation.seed=18446744073709551615");
  EXPECT_EQ(cluster_.variation().seed(), 18446744073709551615u);
}

// Values are converted to the unit that ends the field's name.
TEST_F(SetField, ValuesMayHaveTheirUnits) {
  Set("device.memory_gbytes_per_s=3.35TB/s");
  EXPECT_EQ(cluster_.device().memory_gbytes_per_s(), 3350);
  Set("topology.dimension[1].bandwidth_gbytes_per_s=400Gb/s");
  EXPECT_EQ(cluster_.topology().dimension(1).bandwidth_gbytes_per_s(), 50);
  Set("topology.dimension[1].bandwidth_bytes_per_s=1GB/s");
  EXPECT_EQ(cluster_.topology().dimension(1).bandwidth_bytes_per_s(), 1000000000);
  Set("topology.dimension[1].latency_ns=2us");
  EXPECT_EQ(cluster_.topology().dimension(1).latency_ns(), 2000);
  Set("packet.mtu_bytes=4KiB");
  EXPECT_EQ(cluster_.packet().mtu_bytes(), 4096u);
  Set("packet.timeout_us=1500ns");
  EXPECT_EQ(cluster_.packet().timeout_us(), 1.5);
  Set("packet.switching=cut_through");
  EXPECT_EQ(cluster_.packet().switching(), proto::PacketNetwork::CUT_THROUGH);
  Set("topology.dimension[0].size=1e1");
  EXPECT_EQ(cluster_.topology().dimension(0).size(), 10);
}

// A short form that would take precedence over the field becomes fields.
TEST_F(SetField, ShortFormBecomesFields) {
  Set("packet.options=mtu=9000,weights=1x3,transport=(window:bdp=2)");
  EXPECT_FALSE(cluster_.packet().has_mtu_bytes());
  Set("packet.mtu_bytes=1000");
  EXPECT_EQ(cluster_.packet().mtu_bytes(), 1000u);
  EXPECT_EQ(cluster_.packet().weight_size(), 2);
  EXPECT_EQ(cluster_.packet().transport(), "window:bdp=2");
  EXPECT_EQ(cluster_.packet().options(), "");
  Set("packet.options=mtuu=9000");
  before_ = cluster_.DebugString();
  Refuse("packet.weight=1", "options: unknown key \"mtuu\"; did you mean 'mtu'?");
}

TEST_F(SetField, AddsElementsAndClearsFields) {
  Set("topology.fault[0].vertex=leaf.3");
  Set("topology.fault+=vertex: 'leaf.4'");
  ASSERT_EQ(cluster_.topology().fault_size(), 2);
  EXPECT_EQ(cluster_.topology().fault(1).vertex(), "leaf.4");
  Set("topology.fault=");
  EXPECT_EQ(cluster_.topology().fault_size(), 0);
  Set("collectives.algorithm=");
  EXPECT_EQ(cluster_.collectives().algorithm_size(), 0);
  Set("collectives=");
  EXPECT_FALSE(cluster_.has_collectives());
  Set("name=");
  EXPECT_EQ(cluster_.name(), "");
}

// The exact bandwidth would take precedence, and the setting would have no effect.
TEST_F(SetField, BandwidthClearsTheExactBandwidth) {
  Set("topology.dimension[0].bandwidth_gbytes_per_s=900");
  EXPECT_EQ(cluster_.topology().dimension(0).bandwidth_gbytes_per_s(), 900);
  EXPECT_EQ(cluster_.topology().dimension(0).bandwidth_bytes_per_s(), 0);
}

TEST_F(SetField, SuggestsTheNearestField) {
  Refuse("device.memory_gbyte_per_s=1", "did you mean 'memory_gbytes_per_s'?");
  Refuse("device.memory_gbyte_per_s=1", "unknown field device.memory_gbyte_per_s; did you mean");
  Refuse("devise.name=x", "unknown field devise; did you mean 'device'?");
  Refuse("topology.dimension[0].bandwith_gbytes_per_s=1",
         "unknown field topology.dimension.bandwith_gbytes_per_s; did you mean 'bandwidth_gbytes_per_s'?");
  Refuse("device.zzzz=1", "unknown field device.zzzz; known: name, peak_tflops");
  Refuse("packet.mtu_byts=1",
         "unknown field packet.mtu_byts; did you mean 'mtu_bytes'? See `chakra-replay help packet`");
}

TEST_F(SetField, RefusesValuesOfAnotherTypeOrRange) {
  Refuse("device.memory_gbytes_per_s=3350GB",
         "memory_gbytes_per_s is \"3350GB\"; expected a rate in b/s or B/s");
  Refuse("device.memory_gbytes_per_s=nan", "expected a number");
  Refuse("device.memory_gbytes_per_s=", "expected a number");
  Refuse("topology.dimension[0].size=8.5", "size is \"8.5\"; expected a whole number from 0 to 4194304");
  Refuse("topology.dimension[0].size=3000000000", "expected a whole number");
  Refuse("packet.mtu_bytes=-1", "mtu_bytes is \"-1\"; expected 64B to 65000B");
  Refuse("packet.mtu_bytes=4Kb", "expected one of the units B, KB");
  Refuse("packet.timeout_us=5 lightyears", "expected one of the units ps, ns, us, ms and s");
  Refuse("packet.timeout_us=soon", "timeout_us is \"soon\"; expected a number (of us), or one with its unit");
  Refuse("topology.dimension[0].kind=SWICH",
         "kind is \"SWICH\"; expected ring, fully_connected, switch, network; did you mean 'switch'?");
  Refuse("packet.ecn=maybe", "ecn is \"maybe\"; expected yes or no");
  Refuse("packet.weight=1,x", "weight is \"x\"; expected a whole number from 1 to 10000");
}

TEST_F(SetField, RefusesBadPaths) {
  Refuse("device=5", "it is a group of fields; expected one of them (name, ");
  Refuse("topology.dimension.size=4", "dimension is a list; expected dimension[0]");
  Refuse("topology.dimension[7].size=4", "dimension has 2 elements, but the position is 7; expected 0 to 2");
  Refuse("topology.dimension[-3].size=4", "expected 0 to 2, or -1 for the last");
  Refuse("topology.dimension[nvlnk].size=4", "did you mean 'nvlink'?");
  Refuse("device[0].name=x", "device is a single field");
  Refuse("device.name.x=1", "name has no fields of its own");
  Refuse("collectives.algorithm=ring", "it is a map; expected algorithm[KEY]");
  Refuse("collectives.algorithm[x].y=ring", "algorithm has no fields of its own");
  Refuse("device.name+=x", "expected = in place of +=");
  Refuse("topology.dimension[0=4", "is never closed");
  Refuse("topology..dimension=4", "expected names of fields");
  Refuse("topology.dimension[0]size=4", "expected a dot before");
  Refuse("topology.routing=policy: 3", "topology.routing");
  EXPECT_FALSE(SetFieldFromText("device.name", &cluster_).ok());
  EXPECT_FALSE(SetFieldFromText("=x", &cluster_).ok());
}

TEST_F(SetField, ChecksFieldsWithoutAMachine) {
  EXPECT_TRUE(CheckField("topology.dimension[3].size", "4", cluster_).ok());
  EXPECT_TRUE(CheckField("topology.dimension[nic].size", "4", cluster_).ok());
  EXPECT_FALSE(CheckField("topology.dimension[3].size", "four", cluster_).ok());
  EXPECT_FALSE(CheckField("topology.dimension[3].siz", "4", cluster_).ok());
  EXPECT_EQ(cluster_.DebugString(), before_);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
