// Traces over fabric `packet`: the engine, the report, the binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "backends/packet/options.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/options.h"
#include "replay/report/report.h"
#include "replay/run/description.h"
#include "test/replay/engine_testing.h"
#include "test/replay/run_binary.h"
#include "trace/base/stop.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Topology Of(TopologyDimension::Kind kind, int devices) {
  TopologyDimension d;
  d.kind = kind;
  d.name = "net";
  d.size = devices;
  d.bandwidth = kWire.bandwidth;
  d.latency = kWire.latency;
  return *Topology::Make({d});
}

std::unique_ptr<Machine> Packets(const Topology& topology, const std::string& text) {
  FabricOptions options;
  auto packet = packet::ParsePacketOptions(text);
  EXPECT_TRUE(packet.ok()) << packet.status();
  options.Set(*packet);
  auto fabric = MakeMachine("packet", topology, options);
  EXPECT_TRUE(fabric.ok()) << fabric.status();
  return *std::move(fabric);
}

void AddMessage(int src, int dst, int64_t bytes, TraceBuilder* b) {
  b->Send(src, dst, bytes, src);
  b->Recv(dst, src, bytes, src);
}

// Forwards all calls, and counts them.
class Counted final : public Fabric {
 public:
  explicit Counted(std::unique_ptr<Fabric> inner) : inner_(std::move(inner)) {}
  FlowId Start(const Flow& flow, Time now) override { return inner_->Start(flow, now); }
  Time NextEvent() override { return NextEvent(Time::Zero()); }
  Time NextEvent(Time limit) override {
    ++asked;
    return inner_->NextEvent(limit);
  }
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override {
    ++advanced;
    inner_->AdvanceTo(t, ended);
  }

  int asked = 0, advanced = 0;

 private:
  std::unique_ptr<Fabric> inner_;
};

TEST(PacketReplay, MessageTakesTheTimeOfItsPackets) {
  TraceBuilder b(2);
  AddMessage(0, 1, 2 * 4096, &b);
  // Two packets of 4,160 bytes at 20 ps a byte, then the wire.
  EXPECT_EQ(Makespan(b, {}, "packet"), 2 * 83200 + 500000);
}

TEST(PacketReplay, EngineDoesNotWakeForPackets) {
  TraceBuilder b(2);
  AddMessage(0, 1, 1 << 20, &b);  // 256 packets
  for (int i = 0; i < 5; ++i) b.Comp(1, 1);
  const TraceSet traces = *b.Build();
  const auto fabric = Packets(Mesh(2), "");
  const Counted* counted = nullptr;
  fabric->Wrap([&](std::unique_ptr<Fabric> inner) {
    auto around = std::make_unique<Counted>(std::move(inner));
    counted = around.get();
    return around;
  });
  const auto metrics = Replay(traces, Recorded(traces), *fabric, EngineOptions());
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_EQ(metrics->makespan.picos(), (int64_t{1 << 20} + 256 * 64) * 20 + 500000);
  EXPECT_GE(fabric->Packets().events, 256u);
  EXPECT_LE(counted->advanced, 2);  // sent, received
  EXPECT_LE(counted->asked, 40);
}

// The flag stops a run even while the ranks only wait for packets.
TEST(PacketReplay, StopFlagEndsLongRuns) {
  for (const char* how : {"", "skip=repeats"}) {
    TraceBuilder b(8);
    for (int r = 0; r < 4; ++r) AddMessage(r, r + 4, int64_t{100} << 30, &b);  // 100 million packets
    const TraceSet traces = *b.Build();
    const auto fabric = Packets(Of(TopologyDimension::Kind::kSwitch, 8), how);
    std::atomic<bool> stop = false;
    std::thread later([&stop] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      stop = true;
    });
    const StopScope scope(&stop);
    EngineOptions options;
    options.stop = &stop;
    const auto metrics = Replay(traces, Recorded(traces), *fabric, options);
    later.join();
    EXPECT_EQ(metrics.status().code(), absl::StatusCode::kCancelled) << how << metrics.status();
    EXPECT_LT(fabric->Packets().events, 100'000'000u) << how;
  }
}

TEST(PacketReplay, ComputationDoesNotChangePackets) {
  TraceBuilder alone(4), busy(4);
  for (TraceBuilder* b : {&alone, &busy}) {
    for (int r = 1; r < 4; ++r) AddMessage(r, 0, 100000, b);
  }
  uint64_t last = busy.Comp(3, 1).id();
  for (int i = 0; i < 20; ++i) last = busy.Comp(3, 1, {last}).id();
  const Topology net = Of(TopologyDimension::Kind::kSwitch, 4);
  std::vector<PacketTotals> totals;
  std::vector<Time> ends;
  for (const TraceBuilder* b : {&alone, &busy}) {
    const TraceSet traces = *b->Build();
    const auto fabric = Packets(net, "transport=dcqcn,ecn_low=20KB,ecn_high=40KB");
    const auto metrics = Replay(traces, Recorded(traces), *fabric, EngineOptions());
    ASSERT_TRUE(metrics.ok()) << metrics.status();
    totals.push_back(fabric->Packets());
    ends.push_back(metrics->ranks[0].end);
  }
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_EQ(totals[0].marks, totals[1].marks);
  EXPECT_EQ(totals[0].hops, totals[1].hops);
  EXPECT_GT(totals[0].marks, 0u);
}

// Each rank sends over two hops of a ring whose buffers hold two packets.
TEST(PacketReplay, DeadlockNamesItsCycle) {
  TraceBuilder b(4);
  for (int r = 0; r < 4; ++r) AddMessage(r, (r + 2) % 4, 1000000, &b);
  const TraceSet traces = *b.Build();
  const auto fabric = Packets(Of(TopologyDimension::Kind::kRing, 4), "flow_control=credit,credit=9KB");
  const auto metrics = Replay(traces, Recorded(traces), *fabric, EngineOptions());
  EXPECT_EQ(metrics.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(metrics.status().message()),
              AllOf(HasSubstr("8 of 8 nodes wait for the network: deadlock: ports wait for each other"),
                    HasSubstr("device 0 - device 1 of net"), HasSubstr("rank 0 has 2 nodes left"),
                    Not(HasSubstr("--lanes"))));
}

proto::Report ReportOf(const TraceBuilder& b, Machine* fabric) {
  const TraceSet traces = *b.Build();
  const std::vector<ComputeTimes> times = Recorded(traces);
  const auto metrics = Replay(traces, times, *fabric, EngineOptions());
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  RunDescription run;
  run.fabric = "of the test";
  run.traces = &traces;
  run.times = &times;
  run.links = fabric->Links(4);
  run.packets = fabric->Packets();
  return MakeReport(*metrics, run);
}

TEST(PacketReplay, ReportsPacketCounters) {
  TraceBuilder b(5);
  for (int r = 1; r < 5; ++r) AddMessage(r, 0, 50 * 4096, &b);
  const auto fabric = Packets(Of(TopologyDimension::Kind::kSwitch, 5), "queue=9KB,recovery=selective");
  const proto::Report report = ReportOf(b, fabric.get());
  ASSERT_TRUE(report.has_packet());
  const proto::PacketReport& p = report.packet();
  EXPECT_EQ(p.transport(), "window");
  EXPECT_GT(p.drops(), 0u);
  EXPECT_EQ(p.packets(), 4 * 50 + p.sent_again());
  EXPECT_GE(p.sent_again(), p.drops());
  EXPECT_GT(p.acknowledgements(), 0u);
  EXPECT_GT(p.packet_hops(), p.packets());
  EXPECT_GT(p.events(), p.packet_hops() / 2);
  ASSERT_EQ(report.link_size(), 4);
  const proto::LinkReport& busiest = report.link(0);
  EXPECT_EQ(busiest.name(), "switch - device 0 of net");
  EXPECT_EQ(busiest.drops(), p.drops());
  EXPECT_GT(busiest.most_queued(), 4096u);
  EXPECT_LE(busiest.most_queued(), 9000u + 64 * p.packets());
  EXPECT_EQ(busiest.packets(), 4u * 50 + (p.sent_again() - p.drops()));
  EXPECT_THAT(*PrintReport(report, ReportFormat::kText),
              AllOf(HasSubstr("Packets (transport window)"), HasSubstr("most queued"),
                    HasSubstr(absl::StrCat(p.drops(), " drops, 0 trims"))));
  EXPECT_THAT(*PrintReport(report, ReportFormat::kJson),
              HasSubstr(absl::StrCat("\"sent_again\": \"", p.sent_again(), "\"")));
}

TEST(PacketReplay, ReportsPacketCountersOverTime) {
  TraceBuilder b(5);
  for (int r = 1; r < 5; ++r) AddMessage(r, 0, 1 << 20, &b);
  const auto sum = [](const auto& values) {
    return std::accumulate(values.begin(), values.end(), uint64_t{0});
  };
  const auto fits = [](const auto& values, uint64_t total, const proto::LinkReport& l) {
    EXPECT_EQ(values.size(), total > 0 ? l.series_size() : 0) << l.name();
  };
  proto::PacketReport seen;
  for (const char* text : {"transport=(window:bytes=1MB),buffer=2MB,flow_control=pfc,xoff=50KB",
                           "transport=nscc,queue=30KB,trim=yes,ecn_low=5KB,ecn_high=20KB",
                           "queue=9KB,recovery=selective,timeout=50us"}) {
    SCOPED_TRACE(text);
    const auto fabric = Packets(Of(TopologyDimension::Kind::kSwitch, 5), absl::StrCat("series=1us,", text));
    const proto::Report report = ReportOf(b, fabric.get());
    for (const proto::LinkReport& l : report.link()) {
      EXPECT_EQ(sum(l.marks_series()), l.marks()) << l.name();
      EXPECT_EQ(sum(l.drops_series()), l.drops()) << l.name();
      EXPECT_EQ(sum(l.trims_series()), l.trims()) << l.name();
      EXPECT_EQ(sum(l.pauses_series()), l.pauses()) << l.name();
      EXPECT_EQ(sum(l.paused_ps_series()), static_cast<uint64_t>(l.paused_ps())) << l.name();
      EXPECT_EQ(l.lost_series_size(), 0) << l.name();
      fits(l.marks_series(), l.marks(), l);
      fits(l.drops_series(), l.drops(), l);
      fits(l.pauses_series(), l.pauses(), l);
    }
    const proto::PacketReport& p = report.packet();
    EXPECT_EQ(PrintReport(report, ReportFormat::kText)->find(" paused\n") != std::string::npos,
              p.pauses() > 0);
    EXPECT_THAT(*PrintReport(report, ReportFormat::kJson), HasSubstr("\"lost_series\": [],"));
    seen.set_marks(seen.marks() + p.marks());
    seen.set_drops(seen.drops() + p.drops());
    seen.set_trims(seen.trims() + p.trims());
    seen.set_pauses(seen.pauses() + p.pauses());
  }
  EXPECT_GT(std::min({seen.marks(), seen.drops(), seen.trims(), seen.pauses()}), 4u);
}

TEST(PacketReplay, OtherFabricsReportNoPackets) {
  TraceBuilder b(2);
  AddMessage(0, 1, 100000, &b);
  const auto fabric = MakeMachine("fluid", Mesh(2), FabricOptions());
  const proto::Report report = ReportOf(b, fabric->get());
  EXPECT_FALSE(report.has_packet());
  EXPECT_THAT(*PrintReport(report, ReportFormat::kText),
              AllOf(Not(HasSubstr("Packets (")), HasSubstr("of makespan")));
}

TEST(PacketReplay, ReportsQueuesOverTime) {
  TraceBuilder b(5);
  for (int r = 1; r < 5; ++r) AddMessage(r, 0, 1 << 20, &b);
  const auto fabric = Packets(Of(TopologyDimension::Kind::kSwitch, 5), "series=10us");
  const proto::Report report = ReportOf(b, fabric.get());
  EXPECT_EQ(report.link_bucket_ps(), 10 * kUs);
  const proto::LinkReport& busiest = report.link(0);
  ASSERT_EQ(busiest.name(), "switch - device 0 of net");
  ASSERT_GE(busiest.series_size(), 9);
  EXPECT_EQ(busiest.queued_size(), busiest.series_size());
  EXPECT_NEAR(busiest.series(4), 1, 0.01);  // one port takes from four
  EXPECT_GT(busiest.queued(4), 0u);
}

TEST(PacketReplay, OutputIsEqualForAnyThreads) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "packet_replay_test";
  std::filesystem::create_directories(folder);
  TraceBuilder b(4);
  for (int r = 0; r < 4; ++r) {
    b.Coll(r, CollectiveType::kAllToAll, 400000, {b.Comp(r, 3).id()});
    ASSERT_TRUE(b.Write(r, folder / absl::StrCat("t.", r, ".et")).ok());
  }
  std::ofstream(folder / "cluster.txtpb")
      << "topology { dimension { kind: SWITCH bandwidth_gbytes_per_s: 50 latency_ns: 500 } }\n";
  const std::string run =
      absl::StrCat("replay -q ", (folder / "t").string(), " --compute recorded --cluster ",
                   (folder / "cluster.txtpb").string(),
                   " --format json --fabric packet --packet transport=dcqcn,buffer=60KB,ecn_low=10KB");
  int status = 0;
  const std::string one = RunBinary(run + " --threads 1", &status);
  EXPECT_EQ(status, 0) << one;
  EXPECT_THAT(one, HasSubstr("\"transport\": \"dcqcn\""));
  EXPECT_EQ(RunBinary(run + " --threads 2", &status), one);
  // With sixteen ranks, the network has several parts, which threads share.
  TraceBuilder more(16);
  for (int r = 0; r < 16; ++r) {
    more.Coll(r, CollectiveType::kAllToAll, 200000, {more.Comp(r, 3).id()});
    ASSERT_TRUE(more.Write(r, folder / absl::StrCat("m.", r, ".et")).ok());
  }
  const std::string network = absl::StrCat(
      "replay -q ", (folder / "m").string(), " --compute recorded --cluster ",
      (folder / "cluster.txtpb").string(), " --network fat_tree:k=4 --link-series --format json ",
      "--fabric packet --packet mtu=512,transport=dctcp,queue=60KB,ecn_low=20KB,ecn_high=20KB --threads ");
  const std::string alone = RunBinary(network + "1", &status);
  EXPECT_EQ(status, 0) << alone;
  EXPECT_EQ(RunBinary(network + "4", &status), alone);
  const std::string refused = RunBinary(run + ",mtu=70000", &status);
  EXPECT_EQ(status, 1);
  EXPECT_THAT(refused, HasSubstr("mtu"));
}

TEST(PacketReplay, ReportsErrorOfSkippedPackets) {
  TraceBuilder b(2);
  AddMessage(0, 1, 20'000'000, &b);
  const auto report = [&](const std::string& options) {
    const auto fabric = Packets(Of(TopologyDimension::Kind::kSwitch, 2), options);
    return ReportOf(b, fabric.get());
  };
  const auto text = [](const proto::Report& r) { return *PrintReport(r, ReportFormat::kText); };
  const proto::Report timely = report("transport=timely,skip=all"),
                      nscc = report("transport=nscc,skip=steady"), whole = report("transport=timely");
  EXPECT_GT(timely.packet().skipped_packets(), 0u);
  EXPECT_EQ(timely.packet().skip_error(), 0.13);
  EXPECT_THAT(text(timely), HasSubstr("jobs over timely ended within 13 % of where they end with"));
  for (const char* skip : {"skip=all", "skip=steady"}) {
    EXPECT_THAT(text(report(skip)), HasSubstr("jobs over window ended within 1 %")) << skip;
  }
  EXPECT_THAT(*PrintReport(timely, ReportFormat::kJson), HasSubstr("\"skip_error\": 0.13"));
  EXPECT_GT(nscc.packet().skipped_packets(), 0u);
  EXPECT_THAT(text(nscc), HasSubstr("was not measured for this transport"));
  EXPECT_EQ(whole.packet().skip_error(), 0);
  EXPECT_THAT(text(whole), Not(HasSubstr("skip=off")));
}

TEST(PacketReplay, CollectiveCommandPricesOrReportsDeadlock) {
  const std::string price =
      "collective all_to_all --bytes 256KiB --ranks 8 --format csv "
      "--cluster dgx-a100:gpus_per_node=1 --network ring --fabric packet --packet ";
  int status = 0;
  EXPECT_THAT(RunBinary(price + "transport=window", &status), HasSubstr("all_to_all,8,262144,"));
  EXPECT_EQ(status, 0);
  const std::string stuck = RunBinary(price + "flow_control=credit,credit=9KB", &status);
  EXPECT_EQ(status, 1);
  EXPECT_THAT(stuck, HasSubstr("all_to_all on 8 ranks cannot finish: deadlock: ports wait"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
