// The rows of flows, against cases worked by hand.
#include "replay/engine/flow_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "replay/engine/options.h"
#include "test/backends/fabric_testing.h"
#include "test/replay/csv_testing.h"
#include "test/replay/engine_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

std::unique_ptr<Machine> Logged(std::unique_ptr<Machine> machine, FlowLog* log) {
  LogFlows(log, machine.get());
  return machine;
}

using ::testing::ElementsAre;

constexpr char kColumns[] =
    "flow,src_rank,dst_rank,src_device,dst_device,bytes,wire_bytes,kind,group,call,step,part,start_ps,sent_"
    "ps,"
    "received_ps,time_ps,alone_ps,slowdown";

Topology Switch(int devices) { return MakeTopology({MakeDim(TopologyDimension::Kind::kSwitch, devices)}); }

// The log of `fabric` for two messages, 1,000 and 3,000 bytes, that start together on one link of 20 ps a
// byte.
std::vector<std::string> TwoOnOneLink(const char* fabric) {
  std::string text;
  FlowLog log(Into(&text));
  const auto logged = Logged(NewFabric(fabric, Mesh(2)), &log);
  Flow second = Message(0, 1, 3000, 8);
  second.want_sent = true;
  Drive(logged.get(), {{Message(0, 1, 1000, 7), Time()}, {second, Time()}});
  EXPECT_TRUE(log.Finish().ok());
  EXPECT_EQ(log.flows(), 2u);
  return Lines(text);
}

TEST(FlowLog, LogsTwoMessagesOnOneLink) {
  EXPECT_THAT(TwoOnOneLink("analytical"),
              ElementsAre(kColumns, "0,0,1,0,1,1000,1000,,,,,,0,,520000,520000,520000,1.000000",
                          "1,0,1,0,1,3000,3000,,,,,,0,60000,560000,560000,560000,1.000000"));
  // One after the other.
  EXPECT_THAT(TwoOnOneLink("analytical-fifo"),
              ElementsAre(kColumns, "0,0,1,0,1,1000,1000,,,,,,0,,520000,520000,520000,1.000000",
                          "1,0,1,0,1,3000,3000,,,,,,0,80000,580000,580000,560000,1.035714"));
  // Each takes half of the link for 40 ns, then the second all of it.
  EXPECT_THAT(TwoOnOneLink("fluid"),
              ElementsAre(kColumns, "0,0,1,0,1,1000,1000,,,,,,0,,540000,540000,520000,1.038462",
                          "1,0,1,0,1,3000,3000,,,,,,0,80000,580000,580000,560000,1.035714"));
  // A packet each, with 64 bytes of headers.
  EXPECT_THAT(TwoOnOneLink("packet"),
              ElementsAre(kColumns, "0,0,1,0,1,1000,1000,,,,,,0,,521280,521280,521280,1.000000",
                          "1,0,1,0,1,3000,3000,,,,,,0,82560,582560,582560,561280,1.037913"));
}

TEST(FlowLog, SoftwareDelayIsPartOfBothTimes) {
  std::string text;
  FlowLog log(Into(&text));
  const auto fabric = Logged(NewFabric("fluid", Mesh(2)), &log);
  Flow flow = Message(0, 1, 1000, 1);
  flow.wire_bytes = 2000;
  flow.delay = Time::Nanos(3);
  Drive(fabric.get(), {{flow, Time::Micros(1)}});
  ASSERT_TRUE(log.Finish().ok());
  EXPECT_EQ(Lines(text)[1], "0,0,1,0,1,1000,2000,,,,,,1000000,,1543000,543000,543000,1.000000");
}

TEST(FlowLog, NamesTheRanksOnTheDevices) {
  std::string text;
  FlowLog log(Into(&text));
  log.SetRanks({3, 1}, 2);
  const auto fabric = Logged(NewFabric("fluid", Switch(4)), &log);
  fabric->Place({3, 1});
  const int inside = fabric->SwitchBetween(0, 1);
  ASSERT_GE(inside, 4);
  // Rank 2 is no rank of the run; the machine gives it the first device that is left.
  Drive(fabric.get(),
        {{Message(0, 1, 0, 1), Time()}, {Message(1, inside, 0, 2), Time()}, {Message(2, 0, 0, 3), Time()}});
  ASSERT_TRUE(log.Finish().ok());
  std::map<std::string, std::string> ends;
  for (const std::string& line : Lines(text)) {
    const auto cells = Cells(line);
    ends[cells[0]] = absl::StrCat(cells[1], " ", cells[2], " ", cells[3], " ", cells[4]);
  }
  EXPECT_EQ(ends["0"], "0 1 3 1");
  EXPECT_EQ(ends["1"], absl::StrCat("1  1 ", inside));
  EXPECT_EQ(ends["2"], " 0 0 3");
}

// On `analytical` a short message of a connection overtakes a long one.
TEST(FlowLog, FlowsOfOneTagKeepTheirEnds) {
  for (const auto& [fabric, second] : {std::pair{"analytical", "502000"}, std::pair{"fluid", "602000"}}) {
    std::string text;
    FlowLog log(Into(&text));
    const auto logged = Logged(NewFabric(fabric, Mesh(2)), &log);
    Flow first = Message(0, 1, 5000, 9), other = Message(0, 1, 100, 9);
    first.in_order = other.in_order = true;
    Drive(logged.get(), {{first, Time()}, {other, Time()}, {Message(0, 1, 100, 9), Time::Micros(5)}});
    ASSERT_TRUE(log.Finish().ok());
    std::map<std::string, std::string> received;
    for (const std::string& line : Lines(text)) received[Cells(line)[0]] = Cells(line)[14];
    EXPECT_EQ(received["0"], "600000") << fabric;
    EXPECT_EQ(received["1"], second) << fabric;
    EXPECT_EQ(received["2"], "5502000") << fabric;
  }
}

TEST(FlowLog, UnfinishedFlowsComeLastWithEmptyCells) {
  std::string text;
  FlowLog log(Into(&text));
  const auto fabric = Logged(NewFabric("fluid", Mesh(2)), &log);
  log.Name({"all_reduce", "a,\"b\"", 4, 2, 1});
  fabric->Start(Message(0, 1, 1 << 20, 5), Time());
  log.Name({"send_recv", "", 6});
  fabric->Start(Message(0, 1, 10, 4), Time());
  fabric->Start(Message(1, 0, 20, 3), Time::Nanos(1));
  std::vector<FlowEnd> ended;
  fabric->AdvanceTo(Time::Nanos(1), &ended);
  ASSERT_TRUE(log.Finish().ok());
  EXPECT_THAT(
      Lines(text),
      ElementsAre(kColumns, "0,0,1,0,1,1048576,1048576,all_reduce,\"a,\"\"b\"\"\",4,2,1,0,,,,21471520,",
                  "1,0,1,0,1,10,10,send_recv,,6,,,0,,,,500200,", "2,1,0,1,0,20,20,,,,,,1000,,,,500400,"));
}

TEST(FlowLog, StopsWritingWhenTheDiskIsFull) {
  std::string text;
  uint64_t calls = 0;
  bool full = false;
  FlowLog log([&](absl::string_view bytes) -> absl::Status {
    ++calls;
    if (full) return absl::ResourceExhaustedError("flows.csv: no space left");
    text.append(bytes.data(), bytes.size());
    return absl::OkStatus();
  });
  const auto fabric = Logged(NewFabric("analytical", Mesh(2)), &log);
  std::vector<FlowEnd> ended;
  const auto send = [&](int64_t from) {
    for (int64_t i = from; i < from + 2000; ++i) {
      fabric->Start(Message(0, 1, 1, 1), Time::Micros(i));
      fabric->AdvanceTo(Time::Micros(i + 1), &ended);
    }
  };
  send(0);
  EXPECT_GT(text.size(), 60000u);
  EXPECT_GE(calls, 1u);
  full = true;
  send(2000);
  const uint64_t tried = calls;
  full = false;
  send(4000);
  EXPECT_EQ(calls, tried);
  EXPECT_EQ(log.Finish(), absl::ResourceExhaustedError("flows.csv: no space left"));
  EXPECT_EQ(calls, tried);
  EXPECT_EQ(ended.size(), 6000u);
}

// Random flows: the log has every end, and changes none.
TEST(FlowLog, LogsEveryEndAndChangesNone) {
  for (const std::string& name : FabricNames()) {
    std::mt19937_64 random(5);
    std::vector<TimedFlow> flows;
    for (uint64_t i = 0; i < 300; ++i) {
      Flow flow =
          Message(static_cast<int>(random() % 6), static_cast<int>(random() % 6), random() % 20000, 0);
      flow.tag = static_cast<uint64_t>(flow.src * 6 + flow.dst);
      flow.in_order = true;
      flow.want_sent = flow.tag % 3 == 0;
      flows.push_back({flow, Time::Nanos(static_cast<int64_t>(i / 4 * 60))});
    }
    std::string text;
    FlowLog log(Into(&text));
    const auto plain = NewFabric(name.c_str(), Switch(6));
    const auto logged = Logged(NewFabric(name.c_str(), Switch(6)), &log);
    const std::vector<FlowEnd> ends = Drive(plain.get(), flows), same = Drive(logged.get(), flows);
    ASSERT_TRUE(log.Finish().ok());
    ASSERT_EQ(ends.size(), same.size()) << name;
    std::multimap<uint64_t, int64_t> received;
    for (size_t i = 0; i < ends.size(); ++i) {
      EXPECT_EQ(std::tuple(ends[i].at, ends[i].tag, ends[i].kind),
                std::tuple(same[i].at, same[i].tag, same[i].kind));
      if (ends[i].kind == FlowEnd::kReceived) received.emplace(ends[i].tag, ends[i].at.picos());
    }
    std::multimap<uint64_t, int64_t> in_log;
    for (const std::string& line : Lines(text)) {
      if (line == kColumns) continue;
      const auto cells = Cells(line);
      const auto tag = static_cast<uint64_t>(std::stoi(cells[3]) * 6 + std::stoi(cells[4]));
      EXPECT_EQ(cells[13].empty(), tag % 3 != 0) << line;
      EXPECT_LE(cells[13].empty() ? 0 : std::stoll(cells[13]), std::stoll(cells[14])) << line;
      EXPECT_GE(std::stoll(cells[15]) * 1000000, std::stoll(cells[16]) * 999999) << name << " " << line;
      in_log.emplace(tag, std::stoll(cells[14]));
    }
    EXPECT_TRUE(std::is_permutation(in_log.begin(), in_log.end(), received.begin(), received.end())) << name;
  }
}

TEST(FlowLog, EngineNamesTheCallsOfFlows) {
  TraceBuilder b(2);
  b.groups["dp"] = {0, 1};
  for (int r = 0; r < 2; ++r) b.Coll(r, CollectiveType::kAllGather, 1000, {}, "dp");
  for (int r = 0; r < 2; ++r) b.Coll(r, CollectiveType::kAllReduce, 4000, {0}, "dp");
  b.Send(0, 1, 5000, 0, {1});
  b.Recv(1, 0, 5000, 0, {1});
  const TraceSet traces = *b.Build();
  std::string text;
  FlowLog log(Into(&text));
  const auto fabric = Logged(NewFabric("analytical", Mesh(2)), &log);
  EngineOptions options;
  options.collectives.algorithm = {{"all_gather", "ring"}, {"all_reduce", "ring"}};
  const auto closed = Replay(traces, Recorded(traces), *NewFabric("analytical", Mesh(2)), options);
  options.fast_paths = false;
  options.flow_log = &log;
  const auto metrics = Replay(traces, Recorded(traces), *fabric, options);
  ASSERT_TRUE(metrics.ok() && closed.ok()) << metrics.status();
  EXPECT_EQ(metrics->makespan, closed->makespan);
  EXPECT_EQ(closed->fast_collectives, 2u);
  ASSERT_TRUE(log.Finish().ok());
  std::vector<std::string> rows;
  for (const std::string& line : Lines(text)) {
    const auto c = Cells(line);
    rows.push_back(absl::StrCat(c[1], ",", c[2], ",", c[5], ",", c[7], ",", c[8], ",", c[9]));
    absl::StrAppend(&rows.back(), ",", c[10], ",", c[11], ",", c[12], ",", c[14]);
  }
  EXPECT_THAT(
      rows, ElementsAre(
                "src_rank,dst_rank,bytes,kind,group,call,step,part,start_ps,received_ps",
                "0,1,1000,all_gather,dp,0,0,0,0,520000", "1,0,1000,all_gather,dp,0,0,0,0,520000",
                "0,1,2000,all_reduce,dp,1,0,0,520000,1060000", "1,0,2000,all_reduce,dp,1,0,0,520000,1060000",
                "1,0,2000,all_reduce,dp,1,2,0,1060000,1600000",
                "0,1,2000,all_reduce,dp,1,2,0,1060000,1600000", "0,1,5000,send_recv,,0,,,1600000,2200000"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
