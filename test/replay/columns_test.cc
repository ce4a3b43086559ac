// The options of the fields of reports: the columns of tables.
#include "replay/report/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/link_use.h"
#include "proto/report.pb.h"
#include "replay/page/columns.h"
#include "replay/report/row_table.h"
#include "replay/sweep/metrics.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr View kViews[] = {View::kText, View::kCsv, View::kCompare, View::kPage};

// Adds a type and, recursively, the types of its fields.
void Collect(const Descriptor* type, std::set<const Descriptor*>* types) {
  if (!types->insert(type).second) return;
  for (int i = 0; i < type->field_count(); ++i) {
    if (type->field(i)->message_type() != nullptr) Collect(type->field(i)->message_type(), types);
  }
}

std::vector<std::string> Names(const std::vector<ReportColumn>& columns) {
  std::vector<std::string> names;
  for (const ReportColumn& c : columns) names.push_back(c.name());
  return names;
}

std::set<std::string> NamesIn(const Descriptor& type, View view) {
  const std::vector<std::string> names = Names(ColumnsOf(type, view));
  return {names.begin(), names.end()};
}

TEST(Columns, EachHasItsOwnPlaceAndName) {
  std::set<const Descriptor*> types;
  Collect(proto::Report::descriptor(), &types);
  size_t all = 0;
  for (const Descriptor* type : types) {
    for (const char* table : {"", "stragglers", "series"}) {
      for (const View view : kViews) {
        std::set<int> places;
        std::set<std::string> names, titles;
        for (const ReportColumn& c : ColumnsOf(*type, view, table)) {
          ++all;
          EXPECT_TRUE(places.insert(c.place).second) << c.field->full_name();
          EXPECT_TRUE(names.insert(c.name()).second) << c.field->full_name();
          EXPECT_TRUE(titles.insert(c.title()).second) << c.field->full_name();
          EXPECT_NE(c.unit, proto::Shown::BY_NAME) << c.field->full_name();
        }
      }
    }
  }
  EXPECT_GT(all, 200u);
}

TEST(Columns, NamesOfTablesAreKnown) {
  std::set<const Descriptor*> types;
  Collect(proto::Report::descriptor(), &types);
  for (const Descriptor* type : types) {
    for (int i = 0; i < type->field_count(); ++i) {
      const auto& options = type->field(i)->options();
      for (int n = 0; n < options.ExtensionSize(proto::shown); ++n) {
        const std::string& table = options.GetExtension(proto::shown, n).table();
        EXPECT_TRUE(table.empty() || table == "stragglers" || table == "series")
            << type->field(i)->full_name();
      }
    }
  }
}

TEST(Columns, EveryLinkCountIsInEveryView) {
  const Descriptor& type = *proto::LinkReport::descriptor();
  const std::string page = page::ColumnsOf(type);
  for (const LinkCount& count : kLinkCounts) {
    for (const View view : kViews) EXPECT_EQ(NamesIn(type, view).count(count.name), 1u) << count.name;
    const FieldDescriptor* series = type.FindFieldByName(absl::StrCat(count.name, "_series"));
    ASSERT_NE(series, nullptr) << count.name;
    EXPECT_TRUE(series->is_repeated());
    EXPECT_THAT(page, HasSubstr(absl::StrCat("{\"of\":\"", count.name, "_series\"")));
  }
}

TEST(Columns, EveryPacketCountIsCompared) {
  const Descriptor& type = *proto::PacketReport::descriptor();
  std::set<std::string> compared;
  for (const ReportColumn& c : ColumnsOf(type, View::kCompare)) compared.insert(c.field->name());
  for (const PacketCount& count : kPacketCounts) EXPECT_EQ(compared.count(count.name), 1u) << count.name;
}

TEST(Columns, FormatsCellsAsTextAndCsv) {
  proto::LinkReport link;
  link.set_name("a,b");
  link.set_utilization(0.12345);
  link.set_most_queued(2048);
  link.set_packets(1234567);
  link.set_paused_ps(1500);
  std::map<std::string, std::string> text, csv;
  for (const ReportColumn& c : ColumnsOf(*link.GetDescriptor(), View::kText)) {
    text[c.title()] = TextOf(link, c);
    csv[c.name()] = CsvOf(link, c);
  }
  EXPECT_EQ(text["busiest links"], "a,b");
  EXPECT_EQ(text["class"], "-");
  EXPECT_EQ(text["of makespan"], "12.3 %");
  EXPECT_EQ(text["most queued"], "2 KiB");
  EXPECT_EQ(text["packets"], "1,234,567");
  EXPECT_EQ(text["paused"], "1.5 ns");
  EXPECT_EQ(csv["name"], "\"a,b\"");
  EXPECT_EQ(csv["utilization"], "0.123450");
  EXPECT_EQ(csv["most_queued_bytes"], "2048");
  EXPECT_EQ(csv["paused_ps"], "1500");
  SetWhole("paused_ps", 7, &link);
  SetWhole("lost", ~uint64_t{0}, &link);
  AddWholes("lost_series", {1, 2}, &link);
  EXPECT_EQ(link.paused_ps(), 7);
  EXPECT_EQ(link.lost(), ~uint64_t{0});
  EXPECT_EQ(NumberIn(link, *link.GetDescriptor()->FindFieldByName("lost")), 0x1p64);
  EXPECT_THAT(link.lost_series(), ElementsAre(1, 2));
}

TEST(RowTable, OmitsAddsAndChangesColumns) {
  proto::LinkReport link;
  link.set_name("a");
  link.set_flows(3);
  const auto head = [](const RowTableBase& table) {
    const std::string text = table.Print(nullptr);
    return text.substr(0, text.find('\n'));
  };
  RowTable<proto::LinkReport> flows, packets;
  flows.Without("packets").Add(link);
  packets.Without("flows").Insert(35, "of them", false, [](const auto&) { return "all"; }).Add(link);
  EXPECT_THAT(head(flows), AllOf(HasSubstr("flows"), HasSubstr("peak"), Not(HasSubstr("marks"))));
  EXPECT_THAT(head(packets),
              AllOf(HasSubstr("packets  of them  of makespan"), HasSubstr("pauses"), Not(HasSubstr("flows")),
                    Not(HasSubstr("lost")), Not(HasSubstr("paused"))));
  proto::LinkReport other;
  other.set_paused_ps(5);
  packets.Title("name", "links").Show("paused_ps", [](const auto&) { return "once"; }).Add(other);
  EXPECT_THAT(packets.Print(nullptr), AllOf(HasSubstr("  links  "), HasSubstr("paused"), HasSubstr("once")));
  EXPECT_THAT(head(packets), Not(HasSubstr("lost")));
}

TEST(Columns, MetricsOfSweepsHaveUniqueNames) {
  const std::vector<std::string> names = sweep::ReportMetricNames();
  const std::set<std::string> different(names.begin(), names.end());
  EXPECT_EQ(different.size(), names.size());
  EXPECT_EQ(names.front(), "makespan_ps");
  EXPECT_EQ(different.count("peak_memory_bytes"), 1u);
  EXPECT_EQ(names.back(), "run_kwh");
  proto::Report report;
  report.mutable_packet()->set_lost(4);
  for (const auto& [name, value] : sweep::MetricsOf(report, {}))
    EXPECT_TRUE(sweep::IsReportMetric(name)) << name;
  EXPECT_EQ(sweep::MetricsOf(report, {}).at("packet_lost"), 4);
  EXPECT_EQ(sweep::MetricsOf(report, {}).count("busbw_gbytes_per_s"), 0u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
