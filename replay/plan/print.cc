#include "replay/plan/print.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "replay/page/columns.h"
#include "replay/page/frame.h"
#include "replay/plan/space.h"
#include "replay/report/columns.h"
#include "replay/report/row_table.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/io/csv.h"
#include "trace/io/proto_io.h"

namespace chakra::planning {
namespace {

constexpr size_t kMostReasons = 8;

std::string Counted(uint64_t n, absl::string_view what) {
  return absl::StrCat(FormatCount(n), " ", what, n == 1 ? "" : "s");
}

std::string PercentOf(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

bool HasExperts(const proto::PlanReport& r) {
  return std::any_of(r.row().begin(), r.row().end(),
                     [](const proto::PlanRow& row) { return row.ep() * row.etp() > 1; });
}

std::string Limit(const proto::PlanReport& r) {
  if (r.device_memory_bytes() == 0) return "not known: all splits fit";
  std::string out = FormatBytes(r.limit_bytes());
  if (r.reserve_share() > 0)
    absl::StrAppend(&out, " for tensors: ", FormatBytes(r.device_memory_bytes()), " less ",
                    PercentOf(r.reserve_share()));
  return out;
}

std::string Heading(const proto::PlanReport& r) {
  std::string out = absl::StrCat(
      "chakra-replay ", r.version(), "\nPlan of ", r.model(), " on ", Counted(r.ranks(), "rank"), " of ",
      r.cluster(), "\n  step     ", FormatCount(static_cast<uint64_t>(r.tokens())), " tokens\n  memory   ",
      Limit(r), "\n  splits   ", FormatCount(r.splits()), " tried: ", FormatCount(r.not_valid()),
      " are not valid, ", FormatCount(r.too_large()), " do not fit, ", FormatCount(r.fitting()), " fit\n");
  if (r.replayed() > 0) {
    if (r.near_replayed() > 0) {
      absl::StrAppend(&out, "  replayed ", r.replayed(), ": the best ", r.replayed() - r.near_replayed(),
                      " by the closed form, and ", r.near_replayed(),
                      " that may be as fast, given its error");
    } else {
      absl::StrAppend(&out, "  replayed ", r.replayed(), " of the best ", r.row_size());
    }
    absl::StrAppend(&out, "; the closed form is ", absl::StrFormat("%.2f %%", 100 * r.off_median()),
                    " off in the median, ", absl::StrFormat("%.2f %%", 100 * r.off_most()), " at worst\n");
  }
  return out;
}

std::string Rows(const proto::PlanReport& r, TextPage* page) {
  if (r.row_size() == 0) return "";
  RowTable<proto::PlanRow> table;
  if (!HasExperts(r)) table.Without("experts");
  if (r.row(0).others().empty()) table.Without("others");
  const auto replayed = [](const proto::PlanRow& row, std::string text) {
    return row.time_ps() > 0 ? text : "-";
  };
  table.Show("time_ps", [&](const proto::PlanRow& row) {
    return replayed(row, FormatTime(Time::Picos(row.time_ps())));
  });
  table.Show("off", [&](const proto::PlanRow& row) {
    return replayed(row, absl::StrFormat("%+.2f %%", 100 * row.off()));
  });
  const auto asked = [&](const char* group, const char* field, double (proto::PlanRow::*of)() const) {
    if ((r.row(0).*of)() <= 0) return void(table.Without(group));
    table.Show(field, [replayed, of](const proto::PlanRow& row) {
      return replayed(row, absl::StrFormat("%.4g", (row.*of)()));
    });
  };
  asked("energy", "joules", &proto::PlanRow::joules);
  asked("cost", "dollars", &proto::PlanRow::dollars);
  asked("carbon", "kg_co2e", &proto::PlanRow::kg_co2e);
  table.Show("bubble_share",
             [&](const proto::PlanRow& row) { return replayed(row, PercentOf(row.bubble_share())); });
  table.Show("exposed_share",
             [&](const proto::PlanRow& row) { return replayed(row, PercentOf(row.exposed_share())); });
  table.Show("tokens_per_s_per_device", [](const proto::PlanRow& row) {
    return FormatCount(static_cast<uint64_t>(row.tokens_per_s_per_device() + 0.5));
  });
  for (const proto::PlanRow& row : r.row()) table.Add(row);
  std::string out = absl::StrCat("\n", table.Print(page), "\nWhy the others are slower than the first\n");
  bool any = false;
  for (const proto::PlanRow& row : r.row()) {
    if (row.why().empty()) continue;
    absl::StrAppend(&out, "  ", row.place(), "  ", row.why(), "\n");
    any = true;
  }
  if (!any) out.resize(out.rfind("\nWhy"));
  const proto::PlanRow& best = r.row(0);
  absl::StrAppend(&out, "\nThe best",
                  r.aim().empty() || r.aim() == "time" ? "" : absl::StrCat(" by ", r.aim()), ": ",
                  best.options(), "\n");
  return out;
}

std::string Misfit(const proto::PlanReport& r) {
  if (!r.has_closest()) return "";
  std::string out = absl::StrCat(
      "\nNothing fits. The closest lacks ", FormatBytes(r.lacks_bytes()), " on rank ", r.lacks_rank(),
      ", which holds ", FormatBytes(r.closest().peak_memory_bytes()), ":\n  ", r.closest().options(), "\n");
  for (const proto::PlanHelp& h : r.help()) {
    absl::StrAppend(&out, "  ", h.change(), ": ", FormatBytes(h.peak_memory_bytes()),
                    h.fits() ? ", which fits" : "", "\n");
  }
  if (r.help_size() == 0) out += "  no single change of the split lowers this\n";
  if (std::none_of(r.help().begin(), r.help().end(), [](const proto::PlanHelp& h) { return h.fits(); }))
    out += "  more ranks (--ranks), devices with more memory, or a smaller step would help\n";
  return out;
}

std::string Space(const proto::PlanReport& r, TextPage* page) {
  RowTable<proto::PlanAxis> axes;
  for (const proto::PlanAxis& a : r.axis()) axes.Add(a);
  std::string out = absl::StrCat("\nTried\n", axes.Print(page));
  if (r.reason_size() == 0) return out;
  RowTable<proto::PlanReason> reasons;
  for (const proto::PlanReason& reason : r.reason()) {
    if (reasons.rows() < kMostReasons) reasons.Add(reason);
  }
  absl::StrAppend(&out, "\n", reasons.Print(page));
  if (static_cast<size_t>(r.reason_size()) > kMostReasons)
    absl::StrAppend(&out, "  ... and ", r.reason_size() - kMostReasons,
                    " more reasons (all are in --format json)\n");
  return out;
}

std::string Warnings(const proto::PlanReport& r) {
  std::string out;
  for (const std::string& w : r.warning())
    absl::StrAppend(&out, out.empty() ? "\n" : "", "warning: ", w, "\n");
  return out;
}

// Empty if the quantity was not asked for, or if it needs a replay and the split was not replayed.
std::string CsvCell(const proto::PlanRow& row, const ReportColumn& column) {
  const std::string& name = column.field->name();
  if (name == "options") return CsvAsItIs(row.options());  // options of this program, meant to be pasted
  const std::string& group = column.shown->group();
  const bool asked = group == "energy" || group == "cost" || group == "carbon";
  const bool of_replay =
      asked || name == "time_ps" || name == "off" || name == "bubble_share" || name == "exposed_share";
  if (of_replay && row.time_ps() == 0) return "";
  return asked && NumberIn(row, *column.field) <= 0 ? "" : CsvOf(row, column);
}

std::string Csv(const proto::PlanReport& r) {
  const std::vector<ReportColumn> columns = ColumnsOf(*proto::PlanRow::descriptor(), View::kCsv);
  std::string out =
      absl::StrJoin(columns, ",", [](std::string* to, const ReportColumn& c) { to->append(c.name()); }) +
      "\n";
  for (const proto::PlanRow& row : r.row()) {
    absl::StrAppend(
        &out,
        absl::StrJoin(columns, ",",
                      [&](std::string* to, const ReportColumn& c) { to->append(CsvCell(row, c)); }),
        "\n");
  }
  return out;
}

absl::StatusOr<std::string> Json(const proto::PlanReport& report, bool whole) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = whole;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = whole;
  std::string out;
  const auto printed = google::protobuf::util::MessageToJsonString(report, &out, options);
  if (!printed.ok()) return absl::InternalError(absl::StrCat("cannot print the plan: ", printed.ToString()));
  return out;
}

// The heading of the page.
std::string Answer(const proto::PlanReport& r) {
  if (r.row_size() == 0) return "Nothing fits";
  const proto::PlanRow& best = r.row(0);
  return FormatTime(Time::Picos(best.time_ps() > 0 ? best.time_ps() : best.estimate_ps()));
}

}  // namespace

absl::StatusOr<std::string> PrintPlan(const proto::PlanReport& report, ReportFormat format, TextPage* page) {
  if (format == ReportFormat::kCsv) return Csv(report);
  if (format == ReportFormat::kJson) return Json(report, true);
  return absl::StrCat(Heading(report), Rows(report, page), Misfit(report), Space(report, page),
                      Warnings(report));
}

absl::StatusOr<std::string> MakePlanPage(const proto::PlanReport& report) {
  ASSIGN_OR_RETURN(const auto json, Json(report, false));
  ASSIGN_OR_RETURN(const auto text, PrintPlan(report, ReportFormat::kText));
  page::Parts parts;
  parts.sections = "plan/plan.html";
  parts.styles = {"page.css"};
  parts.scripts = {"format.js", "table.js", "charts.js", "theme.js", "plan/plan.js"};
  parts.columns = page::ColumnsOf(*proto::PlanReport::descriptor());
  parts.kind = "plan";
  parts.data = json;
  parts.heading = Answer(report);
  parts.of = absl::StrCat("for a step of ", report.model(), " on ", Counted(report.ranks(), "rank"), " of ",
                          report.cluster());
  parts.title =
      absl::StrCat("Plan of ", report.model(), ": ", parts.heading, ", chakra-replay ", report.version());
  parts.text = text;
  return page::Assemble(parts);
}

proto::Sweep SweepOf(const proto::PlanReport& report, const std::string& machine) {
  proto::Sweep sweep;
  sweep.set_name(absl::StrCat("plan of ", report.model()));
  sweep.set_replay(machine);
  proto::Workload model;
  if (report.row_size() > 0) model = report.row(0).workload();
  proto::Axis& axis = *sweep.add_axis();
  axis.set_name("split");
  for (const proto::PlanRow& row : report.row()) {
    proto::Choice& choice = *axis.add_choice();
    choice.set_label(absl::StrCat(row.place()));
    choice.set_words(row.options());
  }
  sweep.mutable_objective()->set_metric("makespan_ps");
  // Separate words: a short form has no blanks, and braces would be read as expressions.
  sweep.add_word("--model");
  sweep.add_word(ModelOptions(model));
  return sweep;
}

}  // namespace chakra::planning
