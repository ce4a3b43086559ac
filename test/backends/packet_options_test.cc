// The text of packet options: defaults, defaults that follow the transport, and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/packet/options.h"
#include "backends/registry.h"
#include "test/backends/packet_testing.h"
#include "trace/io/settings.h"

namespace chakra::CHAKRA_FILE {
namespace {

using packet::FixedWindow;
using packet::KindOf;
using packet::TransportKind;
using packet::TransportKinds;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using FlowControl = PacketOptions::FlowControl;
using Recovery = PacketOptions::Recovery;
using Spread = PacketOptions::Spread;

PacketOptions Read(const std::string& text) {
  const auto o = ParsePacketOptions(text);
  EXPECT_TRUE(o.ok()) << text << ": " << o.status();
  return o.ok() ? *o : PacketOptions();
}

std::string Error(const std::string& text) {
  return std::string(ParsePacketOptions(text).status().message());
}

TEST(PacketOptions, EmptyTextGivesDefaults) {
  const PacketOptions o = Read(""), d;
  EXPECT_EQ(o.mtu, 4096u);
  EXPECT_EQ(o.Wire(), 4160u);
  EXPECT_EQ(o.mtu, d.mtu);
  EXPECT_EQ(o.header, d.header);
  EXPECT_EQ(o.ack, d.ack);
  EXPECT_EQ(o.ack_every, d.ack_every);
  EXPECT_EQ(o.cut_through, d.cut_through);
  EXPECT_EQ(o.switch_latency, d.switch_latency);
  EXPECT_EQ(o.classes, d.classes);
  EXPECT_EQ(o.weights, d.weights);
  EXPECT_EQ(o.queue, d.queue);
  EXPECT_EQ(o.trim, d.trim);
  EXPECT_EQ(o.buffer, d.buffer);
  EXPECT_EQ(o.alpha, d.alpha);
  EXPECT_EQ(o.reserved, d.reserved);
  EXPECT_EQ(o.flow_control, d.flow_control);
  EXPECT_EQ(o.headroom, d.headroom);
  EXPECT_EQ(o.xoff.bytes + o.xoff.picos, 0);
  EXPECT_EQ(o.xon_gap, d.xon_gap);
  EXPECT_EQ(o.credit, d.credit);
  EXPECT_EQ(o.ecn, d.ecn);
  EXPECT_EQ(o.ecn_probability, d.ecn_probability);
  EXPECT_EQ(o.ecn_at_enqueue, d.ecn_at_enqueue);
  EXPECT_EQ(o.recovery, d.recovery);
  EXPECT_EQ(o.timeout, d.timeout);
  EXPECT_EQ(o.paths, d.paths);
  EXPECT_EQ(o.spread, d.spread);
  EXPECT_EQ(o.seed, d.seed);
  EXPECT_EQ(o.series, d.series);
  const auto* window = std::get_if<FixedWindow::Config>(&o.transport);
  ASSERT_NE(window, nullptr);
  EXPECT_EQ(window->bdp, 1);
  EXPECT_EQ(window->bytes, 0);
  EXPECT_TRUE(o.Lossless());
  EXPECT_TRUE(CheckPacketOptions(d).ok());
}

TEST(PacketOptions, ReadsEveryKey) {
  const PacketOptions o = Read(
      "mtu=1000,header=48,ack=60,ack_every=4,switching=cut_through,switch_latency=300ns,classes=4,weights="
      "1x3x2,"
      "buffer=32MB,alpha=0.5,reserved=4KiB,flow_control=pfc,headroom=50KB,xoff=200KB,xon_gap=3KiB,"
      "ecn=yes,ecn_low=400KB,ecn_high=1600KB,ecn_probability=0.2,ecn_at=enqueue,transport=(window:bdp=2),"
      "recovery=selective,timeout=1ms,paths=8,spread=packet,seed=7,series=10us");
  EXPECT_EQ(o.mtu, 1000u);
  EXPECT_EQ(o.header, 48u);
  EXPECT_EQ(o.ack, 60u);
  EXPECT_EQ(o.ack_every, 4u);
  EXPECT_TRUE(o.cut_through);
  EXPECT_EQ(o.switch_latency, Time::Nanos(300));
  EXPECT_EQ(o.classes, 4);
  EXPECT_THAT(o.weights, ElementsAre(1, 3, 2));
  EXPECT_EQ(o.buffer, 32000000u);
  EXPECT_EQ(o.alpha, 0.5);
  EXPECT_EQ(o.reserved, 4096u);
  EXPECT_EQ(o.flow_control, FlowControl::kPfc);
  EXPECT_EQ(o.headroom, 50000u);
  EXPECT_EQ(o.xoff.bytes, 200000);
  EXPECT_EQ(o.xon_gap, 3072);
  EXPECT_TRUE(o.ecn);
  EXPECT_EQ(o.ecn_low.bytes, 400000);
  EXPECT_EQ(o.ecn_high.bytes, 1600000);
  EXPECT_EQ(o.ecn_high.picos, 0);
  EXPECT_EQ(o.ecn_probability, 0.2);
  EXPECT_TRUE(o.ecn_at_enqueue);
  EXPECT_EQ(std::get<FixedWindow::Config>(o.transport).bdp, 2);
  EXPECT_EQ(o.recovery, Recovery::kSelective);
  EXPECT_EQ(o.timeout, Time::Micros(1000));
  EXPECT_EQ(o.paths, 8);
  EXPECT_EQ(o.spread, Spread::kPacket);
  EXPECT_EQ(o.seed, 7u);
  EXPECT_EQ(o.series, Time::Micros(10));
  EXPECT_FALSE(o.Lossless());  // the headroom given may be too small

  const PacketOptions other = Read(" queue = 1MB , trim = yes ");
  EXPECT_EQ(other.queue, 1000000u);
  EXPECT_TRUE(other.trim);
  EXPECT_EQ(Read("flow_control=credit,credit=64KiB").credit, 65536u);
}

TEST(PacketOptions, ThresholdsAreBytesOrTime) {
  const PacketOptions o = Read("ecn_low=32us,ecn_high=128us");
  EXPECT_TRUE(o.ecn);
  // 25 Gb/s: 100 and 400 KB.
  EXPECT_DOUBLE_EQ(o.ecn_low.Of(0.003125), 100000);
  EXPECT_DOUBLE_EQ(o.ecn_high.Of(0.003125), 400000);
  EXPECT_EQ(o.ecn_probability, 1);
  // One threshold by itself is a step.
  const PacketOptions low = Read("ecn_low=30KB"), high = Read("ecn_high=24us");
  EXPECT_EQ(low.ecn_high.bytes, 30000);
  EXPECT_EQ(high.ecn_low.picos, 24e6);
  EXPECT_TRUE(high.ecn);
  // Switches do not mark by default, or with ecn=no.
  EXPECT_FALSE(Read("buffer=1MB").ecn);
  EXPECT_FALSE(Read("ecn=no").ecn);
}

TEST(PacketOptions, MarkDefaultsFollowTheTransport) {
  const PacketOptions dcqcn = Read("transport=dcqcn");
  EXPECT_TRUE(dcqcn.ecn);
  EXPECT_EQ(dcqcn.ecn_low.picos, 32e6);
  EXPECT_EQ(dcqcn.ecn_high.picos, 128e6);
  EXPECT_EQ(dcqcn.ecn_probability, 0.2);
  EXPECT_FALSE(dcqcn.ecn_at_enqueue);
  const PacketOptions dctcp = Read("transport=dctcp");
  EXPECT_DOUBLE_EQ(dctcp.ecn_low.Of(0.00125), 30000);  // 10 Gb/s
  EXPECT_EQ(dctcp.ecn_high.picos, dctcp.ecn_low.picos);
  EXPECT_EQ(dctcp.ecn_probability, 1);
  const PacketOptions nscc = Read("transport=nscc");
  EXPECT_EQ(nscc.ecn_low.picos, 2.4e6);
  EXPECT_EQ(nscc.ecn_high.picos, 9.6e6);
  EXPECT_EQ(nscc.ecn_probability, 1);
  // The user's values come first; the transport sets the others.
  const PacketOptions own = Read("transport=dcqcn,ecn_low=5KB,ecn_high=200KB");
  EXPECT_EQ(own.ecn_low.bytes, 5000);
  EXPECT_EQ(own.ecn_low.picos, 0);
  EXPECT_EQ(own.ecn_probability, 0.2);
  EXPECT_EQ(Read("transport=dcqcn,ecn_probability=0.01").ecn_probability, 0.01);
  EXPECT_EQ(Read("transport=dcqcn,ecn=yes").ecn_low.picos, 32e6);
}

TEST(PacketOptions, PathRecoveryAndTrimDefaultsFollowTheTransport) {
  const PacketOptions o = Read("transport=nscc");
  EXPECT_EQ(o.spread, Spread::kTransport);
  EXPECT_EQ(o.paths, 64);
  EXPECT_EQ(o.recovery, Recovery::kSelective);
  EXPECT_FALSE(o.trim);  // without a limit no packet needs to be trimmed
  EXPECT_TRUE(Read("transport=nscc,queue=150KB").trim);
  EXPECT_TRUE(Read("transport=nscc,buffer=64MB").trim);
  EXPECT_FALSE(Read("transport=nscc,queue=150KB,trim=no").trim);
  EXPECT_FALSE(Read("transport=nscc,buffer=64MB,flow_control=pfc").trim);
  EXPECT_EQ(Read("transport=nscc,paths=128").paths, 128);
  const PacketOptions one = Read("transport=nscc,spread=connection");
  EXPECT_EQ(one.paths, 1);
  EXPECT_EQ(one.recovery, Recovery::kSelective);
  const PacketOptions spray = Read("spread=packet");
  EXPECT_EQ(spray.paths, 64);
  EXPECT_EQ(spray.recovery, Recovery::kSelective);
  EXPECT_FALSE(Read("queue=1MB").trim);
}

TEST(PacketOptions, EveryTransportHasValidDefaults) {
  for (const TransportKind& kind : TransportKinds()) {
    for (const char* more : {"", ",queue=1MB", ",buffer=32MB", ",buffer=32MB,flow_control=pfc"}) {
      const auto o = ParsePacketOptions(absl::StrCat("transport=", kind.name, more));
      ASSERT_TRUE(o.ok()) << o.status();
      EXPECT_EQ(KindOf(o->transport).name, kind.name);
      EXPECT_EQ(o->ecn, kind.ecn);
      EXPECT_EQ(o->spread == Spread::kTransport, kind.sprays);
    }
  }
}

struct Refusal {
  const char* text;
  const char* names;
  const char* valid;
};

TEST(PacketOptions, ErrorsNameValidValues) {
  const Refusal kRefusals[] = {
      {"mtu", "\"mtu\"", "KEY=VALUE"},
      {"mtu=4096,mtu=9000", "mtu", "twice"},
      {"mtuu=4096", "\"mtuu\"", "did you mean 'mtu'?"},
      {"ecn_lo=4KB", "\"ecn_lo\"", "did you mean 'ecn_low'?"},
      {"mtu=63", "mtu is 63B", "the nearest is 64B"},
      {"mtu=65001", "mtu is 65001B", "the nearest is 65000B"},
      {"mtu=8GB", "mtu is 8000000000B", "64B to 65000B; the nearest is 65000B"},
      {"mtu=4Kb", "mtu is \"4Kb\"", "bytes, not bits"},
      {"header=1001", "header is 1001B", "the nearest is 1000B"},
      {"ack=0", "ack is 0B", "the nearest is 1B"},
      {"ack=4161", "ack is 4161B", "the nearest is 4160B"},
      {"ack=8GB", "ack is 8000000000B", "the nearest is 66000B"},
      {"ack_every=0", "ack_every is 0", "the nearest is 1"},
      {"ack_every=257", "ack_every is 257", "the nearest is 256"},
      {"ack_every=4,transport=(window:bytes=10000)", "ack_every is 4", "at most 2"},
      {"switching=cutthrough", "switching is \"cutthrough\"",
       "store_and_forward, cut_through; did you mean 'cut_through'?"},
      {"switch_latency=300", "switch_latency is \"300\"", "a unit: ps, ns"},
      {"switch_latency=2s", "switch_latency is \"2s\"", "at most 1s"},
      {"classes=1", "classes is 1", "the nearest is 2"},
      {"classes=9", "classes is 9", "the nearest is 8"},
      {"classes=3,weights=1x2x3", "weights is 1x2x3", "as 1x1"},
      {"weights=0", "weights is 0", "a whole number from 1 to 10000; the nearest is 1"},
      {"weights=10001", "weights is 10001", "the nearest is 10000"},
      {"queue=4159", "queue is 4159B", "at least 4160B"},
      {"queue=100,mtu=1000", "queue is 100B", "at least 1064B"},
      {"buffer=32", "buffer is 32B", "at least 4160B"},
      {"buffer=32Mb", "buffer is \"32Mb\"", "bytes, not bits"},
      {"buffer=10KB,reserved=11KB", "buffer is 10000B", "at least 11000B"},
      {"buffer=100KB,flow_control=pfc,headroom=90KB,reserved=20KB", "buffer is 100000B", "at least 110000B"},
      {"reserved=4KB", "reserved is 4000B", "buffer=32MB"},
      {"alpha=0,buffer=1MB", "alpha is 0", "> 0"},
      {"alpha=-1,buffer=1MB", "alpha is -1", "> 0 and <= 1000"},
      {"alpha=1", "alpha is 1", "a buffer"},
      {"trim=yes", "trim is yes", "queue=1MB"},
      {"trim=maybe", "trim is \"maybe\"", "yes or no"},
      {"trim=yes,buffer=1MB,flow_control=pfc", "trim is yes", "no with flow_control"},
      {"trim=yes,queue=1MB,flow_control=credit", "trim is yes", "no with flow_control"},
      {"flow_control=pcf", "flow_control is \"pcf\"", "none, pfc, credit; did you mean 'pfc'?"},
      {"flow_control=pfc", "flow_control is pfc", "buffer=32MB"},
      {"flow_control=pfc,buffer=1MB,headroom=8319", "headroom is 8319B", "at least 8320B"},
      {"headroom=50KB", "headroom is 50000B", "flow_control=pfc"},
      {"flow_control=pfc,buffer=1MB,xoff=1001KB", "xoff is 1001000B", "at most 1000000B"},
      {"flow_control=pfc,buffer=1MB,xoff=100", "xoff is \"100\"", "with its unit"},
      {"xoff=10us", "xoff is 10us", "flow_control=pfc"},
      {"flow_control=pfc,buffer=1MB,xon_gap=2MB", "xon_gap is 2e+06B", "1000000B"},
      {"flow_control=pfc,buffer=1MB,xoff=10KB,xon_gap=11KB", "xon_gap is 11000B", "at most 10000B"},
      {"xon_gap=1KB", "xon_gap is 1000B", "flow_control=pfc"},
      {"flow_control=credit,credit=4159", "credit is 4159B", "at least 4160B"},
      {"flow_control=credit,buffer=1MB", "buffer is 1000000B", "no buffer with flow_control=credit"},
      {"flow_control=pfc,buffer=1MB,credit=64KB", "credit is 64000B", "flow_control=credit"},
      {"ecn=yes", "ecn is yes", "ecn_low=32us"},
      {"ecn=no,ecn_low=10KB", "ecn_low is 10000B", "ecn=yes"},
      {"ecn_at=enqueue", "ecn_at is enqueue", "ecn=yes"},
      {"ecn_low=400Kb", "ecn_low is \"400Kb\"", "not bits"},
      {"ecn_low=32", "ecn_low is \"32\"", "as 400KB or 32us"},
      {"ecn_high=0B", "ecn_high is 0B", "more"},
      {"ecn_low=2KB,ecn_high=1KB", "ecn_low is 2000B", "at most ecn_high, 1000B"},
      {"ecn_low=20us,ecn_high=10us", "ecn_low is 20us", "at most ecn_high, 10us"},
      {"ecn_low=2KB,ecn_high=10us", "ecn_low is 2000B", "both in bytes or both in time"},
      {"ecn_high=101KB,queue=100KB", "ecn_high is 101000B", "at most 100000B, the queue"},
      {"ecn_high=2MB,buffer=1MB", "ecn_high is 2000000B", "at most 1000000B, the buffer"},
      {"ecn_low=10KB,ecn_probability=0", "ecn_probability is 0", "> 0 and <= 1"},
      {"ecn_low=10KB,ecn_probability=1.5", "ecn_probability is 1.5", "the nearest is 1"},
      {"ecn_low=10KB,ecn_at=dequeu", "ecn_at is \"dequeu\"", "'dequeue'"},
      {"transport=dcqcn,ecn=no", "ecn is no", "transport dcqcn needs"},
      {"transport=windo", "transport is \"windo\"", "'window'"},
      {"transport=(window:bdp=0)", "transport is \"window:bdp=0\"", "0.001"},
      {"transport=(window", "(", ")"},
      {"transport=", "transport is empty", "expected text"},
      {"recovery=gobackn", "recovery is \"gobackn\"", "go_back_n"},
      {"transport=nscc,recovery=go_back_n", "recovery is go_back_n", "selective"},
      {"spread=packet,recovery=go_back_n", "recovery is go_back_n", "selective"},
      {"spread=transport", "spread is transport", "connection, packet or adaptive"},
      {"spread=packet,paths=1", "paths is 1", "at least 2"},
      {"transport=dctcp,ecn=no", "ecn is no", "yes: transport dctcp needs the marks of switches"},
      {"transport=nscc,ecn=no", "ecn is no", "transport nscc needs"},
      {"transport=hpcc,spread=packet", "spread is packet", "transport hpcc follows the ports of one path"},
      {"transport=hpcc,spread=adaptive", "spread is adaptive", "expected connection"},
      {"paths=0", "paths is 0", "the nearest is 1"},
      {"paths=257", "paths is 257", "the nearest is 256"},
      {"timeout=999ns", "timeout is 999ns", "1us to 1s; the nearest is 1us"},
      {"timeout=500", "timeout is \"500\"", "ns"},
      {"timeout=2s", "timeout is \"2s\"", "at most 1s"},
      {"seed=0", "seed is 0", "the nearest is 1"},
      {"series=1ns", "series is 1ns", "100ns to 1s, or 0s"},
  };
  for (const Refusal& r : kRefusals) {
    EXPECT_THAT(Error(r.text), AllOf(StartsWith("packet: "), HasSubstr(r.names), HasSubstr(r.valid)))
        << r.text;
  }
}

TEST(PacketOptions, ChecksOptionsBuiltInCode) {
  const auto refused = [](auto change) {
    PacketOptions o;
    change(o);
    return std::string(CheckPacketOptions(o).message());
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refused([](auto& o) { o.alpha = kNan; }), HasSubstr("alpha is nan"));
  EXPECT_THAT(refused([](auto& o) { o.classes = 0; }), HasSubstr("classes is 0"));
  EXPECT_THAT(refused([](auto& o) { o.paths = -1; }), HasSubstr("the nearest is 1"));
  EXPECT_THAT(refused([](auto& o) { o.timeout = Time::Never(); }), HasSubstr("1us to 1s"));
  EXPECT_THAT(refused([](auto& o) { o.switch_latency = Time::Picos(-1); }),
              HasSubstr("switch_latency is -1ps; expected 0s to 1s"));
  EXPECT_THAT(refused([](auto& o) {
                o.ecn = true;
                o.ecn_low = o.ecn_high = {kNan, 0};
              }),
              HasSubstr("ecn_low is nan"));
  EXPECT_THAT(refused([](auto& o) {
                o.buffer = 1000000;
                o.reserved = 1000000000000;
                o.headroom = 1;
              }),
              HasSubstr("buffer is 1000000B"));
}

// Errors that depend on the links: four ports of 50 GB/s and 500 ns around a switch.
TEST(PacketOptions, RefusesOptionsThatDoNotFitTheLinks) {
  const Topology t = Star(4, 50, Time::Nanos(500));
  const Refusal refusals[] = {
      // Each port sets aside 2 * 25,000 bytes in flight, two packets and a pause.
      {"flow_control=pfc,buffer=200KB", "buffer is 200000B; the ports of switch of net set aside 233536B",
       "expected at least 241856B, or a smaller headroom"},
      {"flow_control=pfc,buffer=200KB,headroom=60KB", "set aside 240000B", "at least 248320B"},
      {"flow_control=pfc,buffer=1MB,reserved=200KB", "set aside 1033536B", "at least 1041856B"},
      {"flow_control=pfc,buffer=1MB,headroom=50KB,xoff=20us", "xoff is 1000000B on links link",
       "has 950000B without the headroom of one port: expected at most that, as xoff=475000B"},
      {"ecn_low=21us,ecn_high=30us,buffer=1MB",
       "ecn_low is 1050000B on links link; it is never reached in a buffer",
       "as ecn_low=200000B,ecn_high=500000B, or a larger buffer"},
      {"transport=dcqcn,queue=1MB", "ecn_low is 1600000B", "or a larger queue"},
      {"ecn_low=10us,ecn_high=21us,buffer=1MB",
       "ecn_high is 1050000B on links link and no less on others; it is never reached in a buffer",
       "as ecn_high=1000000B, or a larger buffer"},
  };
  for (const Refusal& r : refusals) {
    const absl::Status s = MakeFabric("packet", t, PacketFabricOptions(r.text)).status();
    EXPECT_THAT(std::string(s.message()),
                AllOf(StartsWith("packet: "), HasSubstr(r.names), HasSubstr(r.valid)))
        << r.text;
  }
  for (const char* fits :
       {"flow_control=pfc,buffer=241856", "flow_control=pfc,buffer=1MB,headroom=50KB,xoff=19us",
        "ecn_low=10us,ecn_high=20us,buffer=1MB", "transport=dcqcn,buffer=4MB,flow_control=pfc"}) {
    EXPECT_TRUE(MakeFabric("packet", t, PacketFabricOptions(fits)).ok()) << fits;
  }
}

TEST(PacketOptions, DocumentsEveryKeyOnce) {
  std::vector<std::string> keys;
  for (const SettingDoc& d : DescribeSettings(*proto::PacketNetwork::descriptor())) {
    EXPECT_GT(d.doc.size(), 10u) << d.key;
    keys.push_back(d.key);
    if (d.fallback.empty()) continue;
    // A fallback is a valid value; alpha needs a buffer, and ecn_at a threshold.
    const std::string text = absl::StrCat(d.key, "=", d.fallback);
    const auto o = ParsePacketOptions(d.key == "alpha"    ? text + ",buffer=1MB"
                                      : d.key == "ecn_at" ? text + ",ecn_low=10us"
                                                          : text);
    EXPECT_TRUE(o.ok()) << o.status();
  }
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
}

// The defaults in the proto message are those of the struct.
TEST(PacketOptions, DocumentedFallbacksMatchDefaults) {
  std::vector<std::string> all;
  for (const SettingDoc& d : DescribeSettings(*proto::PacketNetwork::descriptor())) {
    if (!d.fallback.empty() && d.key != "alpha" && d.key != "ecn_at")
      all.push_back(absl::StrCat(d.key, "=", d.fallback));
  }
  const PacketOptions o = Read(absl::StrJoin(all, ",")), d;
  EXPECT_EQ(std::make_tuple(o.mtu, o.header, o.ack, o.ack_every, o.cut_through, o.switch_latency, o.classes),
            std::make_tuple(d.mtu, d.header, d.ack, d.ack_every, d.cut_through, d.switch_latency, d.classes));
  EXPECT_EQ(std::make_tuple(o.queue, o.buffer, o.reserved, o.flow_control, o.headroom, o.xon_gap, o.credit),
            std::make_tuple(d.queue, d.buffer, d.reserved, d.flow_control, d.headroom, d.xon_gap, d.credit));
  EXPECT_EQ(std::make_tuple(o.timeout, o.seed, o.series, o.skip, o.skip_tolerance, o.transport.index()),
            std::make_tuple(d.timeout, d.seed, d.series, d.skip, d.skip_tolerance, d.transport.index()));
  EXPECT_EQ(Read("buffer=1MB").alpha, d.alpha);
}

TEST(PacketOptions, OtherFabricsRefusePacketOptions) {
  const auto two =
      Topology::Make({{TopologyDimension::Kind::kRing, 2, Bandwidth::FromGigabytes(1), Time::Zero(), "x"}});
  FabricOptions options;
  options.Ask<PacketOptions>();
  for (const char* name : {"analytical", "analytical-fifo", "fluid"}) {
    EXPECT_THAT(std::string(MakeFabric(name, *two, options).status().message()),
                AllOf(HasSubstr(name), HasSubstr("--packet")));
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
