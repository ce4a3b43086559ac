#include "replay/compare/report_tables.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/measure/name_times.h"
#include "replay/report/columns.h"

namespace chakra {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::RepeatedPtrField;

constexpr char kSetting[] = "setting";

Number NumberOf(const Message& row, const FieldDescriptor& field) {
  const auto& in = *row.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return in.GetInt32(row, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return in.GetInt64(row, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return in.GetDouble(row, &field);
    default:
      return in.GetUInt64(row, &field);
  }
}

// The columns of settings, or all other columns.
std::vector<ReportColumn> Compared(const Descriptor& type, bool settings = false) {
  std::vector<ReportColumn> columns = ColumnsOf(type, View::kCompare);
  std::erase_if(columns, [&](const ReportColumn& c) { return (c.shown->group() == kSetting) != settings; });
  return columns;
}

// A table with the columns of a type.
class Rows {
 public:
  Rows(const std::string& name, const Descriptor& type) : columns_(Compared(type)), table_{name} {
    for (const ReportColumn& c : columns_) (c.is_text() ? table_.texts : table_.measures).push_back(c.name());
  }
  ComparedRow& Add(const std::string& name, const Message& row) {
    ComparedRow& out = table_.rows.emplace_back(ComparedRow{name});
    for (const ReportColumn& c : columns_) {
      if (c.is_text()) {
        out.texts.push_back(row.GetReflection()->GetString(row, c.field));
      } else {
        out.numbers.push_back(NumberOf(row, *c.field));
      }
    }
    return out;
  }
  ComparedTable& table() { return table_; }

 private:
  std::vector<ReportColumn> columns_;
  ComparedTable table_;
};

template <typename Row, typename NameOf>
ComparedTable TableOf(const std::string& name, const RepeatedPtrField<Row>& from, const NameOf& name_of) {
  Rows rows(name, *Row::descriptor());
  for (const Row& row : from) rows.Add(name_of(row), row);
  return rows.table();
}

ComparedTable Run(const proto::Report& r) {
  Rows rows("run", *r.GetDescriptor());
  rows.Add("run", r);
  return rows.table();
}

// Disjoint shares of the time of the rank that ends last (the first of equals).
ComparedTable LastRank(const proto::Report& r) {
  ComparedTable t{"last_rank", {"time_ps"}};
  const auto last = std::max_element(
      r.rank().begin(), r.rank().end(),
      [](const proto::RankReport& x, const proto::RankReport& y) { return x.end_ps() < y.end_ps(); });
  if (last == r.rank().end()) return t;
  const __int128 compute = last->compute_busy_ps(), exposed = last->exposed_comm_ps(), idle = last->idle_ps();
  t.rows = {{"computation", {compute}},
            {"exposed communication", {exposed}},
            {"host and memory operations", {last->end_ps() - compute - exposed - idle}},
            {"idle waiting", {idle}}};
  return t;
}

ComparedTable Jobs(const proto::Report& r) {
  return TableOf("jobs", r.job(), [](const proto::JobReport& j) { return j.name(); });
}

ComparedTable Ranks(const proto::Report& r) {
  return TableOf("ranks", r.rank(),
                 [](const proto::RankReport& x) { return absl::StrCat("rank ", x.rank()); });
}

ComparedTable FixedTimeTable(const proto::Report& r) {
  Rows rows("fixed_time", *proto::FixedTime::descriptor());
  if (!r.has_fixed_time()) return rows.table();
  for (const proto::FixedTime* p : {&r.fixed_time().run(), &r.fixed_time().critical_path()})
    rows.Add(p->of(), *p);
  for (const proto::FixedTime& p : r.fixed_time().rank()) rows.Add(p.of(), p);
  return rows.table();
}

// "ring/simple x 3, tree/ll x 1"
std::string Algorithms(const proto::CollectiveReport& c) {
  if (c.chosen_size() == 0) return c.algorithm();
  return absl::StrJoin(c.chosen(), ", ", [](std::string* out, const proto::ChosenAlgorithm& x) {
    absl::StrAppend(out, x.algorithm(), " x ", x.count());
  });
}

ComparedTable Collectives(const proto::Report& r) {
  Rows rows("collectives", *proto::CollectiveReport::descriptor());
  for (const proto::CollectiveReport& c : r.collective()) {
    rows.Add(CollectiveName(c.kind(), c.group()), c).texts = {Algorithms(c)};
  }
  return rows.table();
}

constexpr char kOthers[] = "(others)";

bool IsOthers(const std::string& name, bool merged) { return merged && name == kOthers; }

template <typename Row>
ComparedTable Names(const std::string& name, const RepeatedPtrField<Row>& from, bool merge_numbers) {
  Rows rows(name, *Row::descriptor());
  ComparedTable& t = rows.table();
  std::map<std::string, size_t> index;  // of merged names
  for (const Row& row : from) {
    const std::string name_of = merge_numbers ? MergeNumbers(row.name()) : row.name();
    const auto [it, fresh] = index.emplace(name_of, t.rows.size());
    t.cut |= IsOthers(row.name(), row.merged());
    rows.Add(name_of.empty() ? "(no name)" : name_of, row);
    if (fresh || !merge_numbers) continue;
    std::vector<Number>& sums = t.rows[it->second].numbers;
    for (size_t i = 0; i < sums.size(); ++i) sums[i].whole += t.rows.back().numbers[i].whole;
    t.rows.pop_back();
  }
  return t;
}

ComparedTable Steps(const proto::Report& r) {
  return TableOf("steps", r.step(),
                 [](const proto::StepReport& s) { return absl::StrCat("rank ", s.rank(), ", ", s.step()); });
}

ComparedTable TimeSources(const proto::Report& r) {
  Rows rows("time_sources", *proto::TimeSourceReport::descriptor());
  for (const proto::TimeSourceReport& x : r.time_source()) {
    if (x.nodes() > 0) rows.Add(x.time_source(), x);
  }
  return rows.table();
}

ComparedTable Dimensions(const proto::Report& r) {
  return TableOf("dimensions", r.dimension(), [](const proto::DimensionReport& d) { return d.name(); });
}

ComparedTable Links(const proto::Report& r) {
  ComparedTable t = TableOf("links", r.link(), [](const proto::LinkReport& l) { return l.name(); });
  t.cut = r.links_used() > static_cast<uint64_t>(r.link_size());
  return t;
}

// A table with a row for each field of a message; no rows unless `there`.
ComparedTable Fields(const std::string& name, const std::string& measure, bool there,
                     const Message& message) {
  ComparedTable t{name, {measure}};
  if (!there) return t;
  for (const ReportColumn& c : Compared(*message.GetDescriptor()))
    t.rows.push_back({c.name(), {NumberOf(message, *c.field)}});
  return t;
}

ComparedTable Packets(const proto::Report& r) {
  return Fields("packets", "count", r.has_packet(), r.packet());
}

template <typename Share>
ComparedTable Parts(const std::string& name, const RepeatedPtrField<Share>& parts) {
  return TableOf(name, parts, [](const Share& s) { return s.name(); });
}

ComparedTable Flows(const proto::Report& r) {
  return TableOf("flows", r.flow_time(), [](const proto::FlowReport& f) {
    const bool large = f.most_bytes() == ~uint64_t{0};
    return large ? "larger flows" : absl::StrCat("flows of at most ", f.most_bytes(), " bytes");
  });
}

ComparedTable UnansweredNames(const proto::Report& r) {
  return TableOf("unanswered", r.unanswered(), [](const proto::Unanswered& u) { return u.name(); });
}

ComparedTable Repairs(const proto::Report& r) {
  return TableOf("repairs", r.repair(),
                 [](const proto::Repair& x) { return absl::StrCat(x.kind(), " of rank ", x.rank()); });
}

}  // namespace

std::string CollectiveName(absl::string_view kind, absl::string_view group) {
  if (!group.empty()) return absl::StrCat(kind, " on group \"", group, "\"");
  return kind == "send_recv" || kind == "send" || kind == "recv" ? std::string(kind)
                                                                 : absl::StrCat(kind, " on all ranks");
}

bool HasMergedNumbers(const proto::Report& report) {
  return std::any_of(
      report.operator_().begin(), report.operator_().end(),
      [](const proto::OperatorReport& row) { return row.merged() && !IsOthers(row.name(), row.merged()); });
}

std::vector<std::pair<std::string, std::string>> ReportSettings(const proto::Report& r) {
  std::map<int, std::pair<std::string, std::string>> settings;  // by place
  for (const Message* message : {static_cast<const Message*>(&r), static_cast<const Message*>(&r.packet())}) {
    for (const ReportColumn& c : Compared(*message->GetDescriptor(), true)) {
      std::string value =
          c.is_text() ? message->GetReflection()->GetString(*message, c.field) : TextOf(*message, c);
      // Only the file name, since the inputs have the content.
      if (message == &r && c.field->number() == proto::Report::kGroupSourceFieldNumber) {
        value = std::filesystem::path(value).filename();
      }
      settings[c.place] = {c.name(), std::move(value)};
    }
  }
  std::vector<std::pair<std::string, std::string>> out;
  for (auto& [place, setting] : settings) out.push_back(std::move(setting));
  return out;
}

std::vector<ComparedTable> ReportTables(const proto::Report& r, bool merge_numbers) {
  return {Run(r),
          LastRank(r),
          Jobs(r),
          Ranks(r),
          FixedTimeTable(r),
          Collectives(r),
          Names("operators", r.operator_(), merge_numbers),
          Names("lanes", r.lane(), false),
          Steps(r),
          TimeSources(r),
          Dimensions(r),
          Links(r),
          Packets(r),
          Flows(r),
          UnansweredNames(r),
          Repairs(r),
          Fields("energy", "value", r.has_energy(), r.energy()),
          Parts("energy by cause", r.energy().cause()),
          Fields("cost", "value", r.has_cost(), r.cost()),
          Parts("cost by part", r.cost().part()),
          Fields("carbon", "value", r.has_carbon(), r.carbon()),
          Parts("carbon by part", r.carbon().part()),
          Fields("goodput", "value", r.has_goodput(), r.goodput())};
}

}  // namespace chakra
