// The rows of links, against cases worked out by hand.
#include "replay/report/links_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/backends/fabric_testing.h"
#include "test/replay/csv_testing.h"
#include "test/replay/engine_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string SeriesOf(const LinkUses& links) {
  std::string text;
  EXPECT_TRUE(WriteLinkSeries(links, Into(&text)).ok());
  return text;
}

std::string TotalsOf(const LinkUses& links, bool packets, Time end) {
  std::string text;
  EXPECT_TRUE(WriteLinkTotals(links, packets, end, Into(&text)).ok());
  return text;
}

constexpr char kSeriesColumns[] =
    "link,name,class,begin_ps,end_ps,share,queued_bytes,marks,drops,lost,trims,pauses,paused_ps";
constexpr char kTotalsColumns[] =
    "link,name,class,dimension,bandwidth_bytes_per_s,bytes,flows,utilization,peak,packets,marks,drops,trims,"
    "pauses,most_queued_bytes,lost,paused_ps";

TEST(LinksCsv, WritesRowsOfLinksAndBuckets) {
  LinkUses links;
  links.bucket = Time::Micros(2);
  LinkUse use;
  use.link = 17;
  use.name = "leaf.0 - spine.1, \"a\"";
  use.link_class = "up";
  use.dimension = 1;
  use.bandwidth = Bandwidth::BytesPerSecond(1000000000);
  use.bytes = 3000;
  use.flows = 2;
  use.peak = 0.75;
  use.series = {0.5f, 0, 1};
  links.busiest.push_back(use);
  use.link = 3;
  use.name = "b";
  use.series = {0.25f, 1};
  use.queued = {4096, 0};
  use.counts = {{{5, 0}, {}, {0, 1}, {1, 2}, {2, 0}, {0, 2000000}}};
  use.lost = 1;
  use.paused = 2000000;
  use.packets = 9;
  use.marks = 5;
  use.drops = 4;
  use.trims = 3;
  use.pauses = 2;
  use.most_queued = 8192;
  links.busiest.push_back(use);
  EXPECT_THAT(Lines(SeriesOf(links)),
              ElementsAre(kSeriesColumns, "17,\"leaf.0 - spine.1, \"\"a\"\"\",up,0,2000000,0.500000,,,,,,,",
                          "17,\"leaf.0 - spine.1, \"\"a\"\"\",up,2000000,4000000,0.000000,,,,,,,",
                          "17,\"leaf.0 - spine.1, \"\"a\"\"\",up,4000000,6000000,1.000000,,,,,,,",
                          "3,b,up,0,2000000,0.250000,4096,5,0,0,1,2,0",
                          "3,b,up,2000000,4000000,1.000000,0,0,0,1,2,0,2000000"));
  EXPECT_THAT(
      Lines(TotalsOf(links, false, Time::Micros(6))),
      ElementsAre(kTotalsColumns,
                  "17,\"leaf.0 - spine.1, \"\"a\"\"\",up,1,1000000000,3000,2,0.500000,0.750000,,,,,,,,",
                  "3,b,up,1,1000000000,3000,2,0.500000,0.750000,,,,,,,,"));
  EXPECT_EQ(Lines(TotalsOf(links, true, Time()))[2],
            "3,b,up,1,1000000000,3000,2,0.000000,0.750000,9,5,4,3,2,8192,1,2000000");
  EXPECT_EQ(WriteLinkSeries(links, [](absl::string_view) { return absl::DataLossError("x"); }),
            absl::DataLossError("x"));
  EXPECT_THAT(Lines(SeriesOf(LinkUses())), ElementsAre(kSeriesColumns));
}

// Two messages: 4,128 bytes in two packets, and two acknowledgements of 64 bytes.
TEST(LinksCsv, WritesLinksOfFabrics) {
  FabricOptions options;
  options.link_series = true;
  const auto flows =
      std::vector<TimedFlow>{{Message(0, 1, 1000, 7), Time()}, {Message(0, 1, 3000, 8), Time()}};
  const auto fluid = *MakeMachine("fluid", Mesh(2), options);
  Drive(fluid.get(), flows);
  const std::string there = "0,device 0 - device 1 of ,,";
  EXPECT_THAT(Lines(SeriesOf(fluid->Links(5))),
              ElementsAre(kSeriesColumns, there + "0,1000000,0.080000,,,,,,,"));
  EXPECT_THAT(Lines(TotalsOf(fluid->Links(5), false, Time::Nanos(800))),
              ElementsAre(kTotalsColumns, there + "0,50000000000,4000,2,0.100000,1.000000,,,,,,,,"));
  const auto packet = *MakeMachine("packet", Mesh(2), options);
  Drive(packet.get(), flows);
  EXPECT_EQ(Lines(SeriesOf(packet->Links(1)))[1], there + "0,10000000,0.008256,0,0,0,0,0,0,0");
  const auto totals = Lines(TotalsOf(packet->Links(5), true, Time::Nanos(825)));
  ASSERT_GE(totals.size(), 2u);
  EXPECT_THAT(totals[1], HasSubstr(",50000000000,4128,2,"));
  EXPECT_EQ(Cells(totals[1])[9], "2");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
