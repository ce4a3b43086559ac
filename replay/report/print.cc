#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/util/json_util.h"
#include "replay/engine/measure/metrics.h"
#include "replay/report/columns.h"
#include "replay/report/communication.h"
#include "replay/report/critical_path.h"
#include "replay/report/economics.h"
#include "replay/report/edits.h"
#include "replay/report/energy.h"
#include "replay/report/fixed_time.h"
#include "replay/report/goodput.h"
#include "replay/report/overlap.h"
#include "replay/report/report.h"
#include "replay/report/row_table.h"
#include "replay/report/training.h"
#include "trace/base/text_table.h"
#include "trace/io/printable_message.h"

namespace chakra {
namespace {

constexpr int kRankRows = 16;
constexpr int kStepRows = 16;
constexpr int kListRows = 8;

std::string Head(const proto::Report& r) {
  std::string out = absl::StrCat("chakra-replay ", r.version(), "\n");
  absl::StrAppend(&out, "  traces   ", FormatCount(r.ranks()), r.ranks() == 1 ? " rank, " : " ranks, ",
                  FormatCount(r.nodes()), " nodes, ", FormatCount(r.distinct_graphs()),
                  r.distinct_graphs() == 1 ? " distinct graph\n" : " distinct graphs\n");
  if (!r.group_source().empty()) absl::StrAppend(&out, "  groups   from ", r.group_source(), "\n");
  if (!r.cluster().empty()) absl::StrAppend(&out, "  cluster  ", r.cluster(), "\n");
  absl::StrAppend(&out, "  replay   comm ", r.comm(), r.fabric().empty() ? "" : ", fabric ", r.fabric(),
                  ", lanes ", r.lanes(), ", compute ", r.compute(), "\n");
  if (!r.variation().empty()) absl::StrAppend(&out, "  varied   ", r.variation(), "\n");
  if (!r.placement().empty()) absl::StrAppend(&out, "  placed   ", r.placement(), "\n");
  if (!r.fabric().empty()) {
    absl::StrAppend(&out, "  flows    ", FormatCount(r.flows()), " simulated one by one, ",
                    FormatCount(r.fast_collectives()), " collectives in closed form\n");
  }
  if (r.invalid_nodes() > 0) {
    absl::StrAppend(&out, "  invalid  ", FormatCount(r.invalid_nodes()),
                    " INVALID nodes, replayed as no-ops\n");
  }
  absl::StrAppend(&out, "\nMakespan   ", PsText(r.makespan_ps()),
                  absl::StrFormat("   (%.9g s)\n", Time::Picos(r.makespan_ps()).seconds()));
  if (r.makespan_high_ps() > 0) {
    absl::StrAppend(&out, "  from ", PsText(r.makespan_low_ps()), " to ", PsText(r.makespan_high_ps()),
                    " by the errors that the kernel model states\n");
  }
  return out;
}

std::string Jobs(const proto::Report& r, TextPage* page) {
  if (r.job_size() == 0) return "";
  RowTable<proto::JobReport> table;
  table.Show("ranks", [](const proto::JobReport& j) {
    return j.ranks() == 1 ? absl::StrCat(j.first_rank())
                          : absl::StrCat(j.first_rank(), "-", j.first_rank() + j.ranks() - 1);
  });
  for (const proto::JobReport& j : r.job()) table.Add(j);
  return absl::StrCat("\nJobs\n", table.Print(page));
}

// If not all ranks fit, shows those that end last.
std::string Ranks(const proto::Report& r, TextPage* page) {
  std::vector<int> rows(r.rank_size());
  std::iota(rows.begin(), rows.end(), 0);
  const bool cut = r.rank_size() > kRankRows;
  if (cut) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](int a, int b) { return r.rank(a).end_ps() > r.rank(b).end_ps(); });
    rows.resize(kRankRows);
  }
  RowTable<proto::RankReport> table;
  for (int i : rows) table.Add(r.rank(i));
  return absl::StrCat(cut ? "\nRanks, the last to end first\n" : "\nRanks\n", table.Print(page),
                      MoreRows(r.rank_size() - static_cast<int64_t>(rows.size()), "ranks"));
}

// `part` in percent of `whole`
double Percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// The error of a step in percent: that of its time or of its kernels, whichever is larger.
double Worst(const proto::StepReport& s) {
  return std::max(std::fabs(Percent(s.replayed_ps() - s.measured_ps(), s.measured_ps())),
                  Percent(s.kernel_start_error_ps(), s.measured_ps()));
}

// If not all steps fit, shows those that are furthest off.
std::string Steps(const proto::Report& r, TextPage* page) {
  if (r.step_size() == 0) return "";
  std::vector<int> rows(r.step_size());
  std::iota(rows.begin(), rows.end(), 0);
  const bool cut = r.step_size() > kStepRows;
  if (cut) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](int a, int b) { return Worst(r.step(a)) > Worst(r.step(b)); });
    rows.resize(kStepRows);
  }
  const auto percent = [](const proto::StepReport& s, const char* sign, int64_t part) -> std::string {
    if (s.measured_ps() == 0) return "-";
    return absl::StrCat(sign, absl::StrFormat("%.2f %%", Percent(part, s.measured_ps())));
  };
  RowTable<proto::StepReport> table;
  table
      .Insert(50, "difference", false,
              [&](const proto::StepReport& s) {
                const int64_t difference = s.replayed_ps() - s.measured_ps();
                return percent(s, difference > 0 ? "+" : "", difference);
              })
      .Show("kernel_start_error_ps",
            [](const proto::StepReport& s) {
              return s.kernels() > 0 ? PsText(s.kernel_start_error_ps()) : "-";
            })
      .Insert(80, "of step", false, [&](const proto::StepReport& s) {
        return s.kernels() > 0 ? percent(s, "", s.kernel_start_error_ps()) : "-";
      });
  for (int i : rows) table.Add(r.step(i));
  return absl::StrCat("\nReplay against the capture", cut ? ", the furthest off first" : "",
                      " (start error: median over kernels)\n", table.Print(page),
                      MoreRows(r.step_size() - static_cast<int64_t>(rows.size()), "steps"));
}

std::string Dimensions(const proto::Report& r, TextPage* page) {
  if (r.dimension_size() == 0) return "";
  RowTable<proto::DimensionReport> table;
  for (const proto::DimensionReport& d : r.dimension()) table.Add(d);
  return absl::StrCat("\nTopology\n", table.Print(page));
}

// Measured errors: see "Skipping" in backends/README.md.
std::string SkipError(const proto::PacketReport& p) {
  if (p.skip_error() == 0) return "           the error of the end was not measured for this transport\n";
  return absl::StrFormat(
      "           jobs over %s ended within %g %% of where they end with skip=off, where flows meet on "
      "uplinks\n",
      p.transport(), 100 * p.skip_error());
}

std::string Packets(const proto::Report& r) {
  if (!r.has_packet()) return "";
  const proto::PacketReport& p = r.packet();
  std::string out = absl::StrCat("\nPackets (transport ", p.transport(), ")\n  sent     ",
                                 FormatCount(p.packets()), " of data, ", FormatCount(p.sent_again()),
                                 " of them again; ", FormatCount(p.acknowledgements()), " acknowledgements; ",
                                 FormatCount(p.packet_hops()), " packet-hops\n");
  std::vector<std::string> met;
  for (const ReportColumn& c : ColumnsOf(*p.GetDescriptor(), View::kText)) {
    if (!c.shown->if_any() || NumberIn(p, *c.field) > 0)
      met.push_back(absl::StrCat(TextOf(p, c), " ", c.title()));
  }
  absl::StrAppend(&out, "  met      ", absl::StrJoin(met, ", "), "\n");
  if (p.skipped_packets() > 0) {
    absl::StrAppend(&out, "  skipped  ", FormatCount(p.skipped_packets()), " of them (",
                    absl::StrFormat("%.2f", 100.0 * static_cast<double>(p.skipped_packets()) /
                                                static_cast<double>(p.packets())),
                    " %): ", FormatCount(p.jumps()), " jumps over constant rates, ",
                    FormatCount(p.repeated_messages()), " messages that repeat earlier ones\n", SkipError(p));
  }
  if (p.messages() + p.fluid_messages() > 0) {
    absl::StrAppend(&out, "  for      ", FormatCount(p.messages()), " messages, ",
                    FormatBytes(p.message_bytes()), "; fluid: ", FormatCount(p.fluid_messages()), ", ",
                    FormatBytes(p.fluid_bytes()), "\n");
  }
  return out;
}

std::string FlowTimesTable(const proto::Report& r, TextPage* page) {
  if (r.flow_time_size() == 0) return "";
  RowTable<proto::FlowReport> table;
  table.Insert(10, "bytes", true, [](const proto::FlowReport& f) {
    const bool large = f.most_bytes() == ~uint64_t{0};
    return large ? "above 1e9" : absl::StrFormat("<= %.0e", static_cast<double>(f.most_bytes()));
  });
  for (const proto::FlowReport& f : r.flow_time()) table.Add(f);
  return absl::StrCat("\nFlows by size (slowdown: time over the time without other flows)\n",
                      table.Print(page));
}

std::string Links(const proto::Report& r, TextPage* page) {
  if (r.link_size() == 0) return "";
  const std::string head =
      absl::StrCat("\nLinks (directions that carried something: ", FormatCount(r.links_used()),
                   "; --format json has the ", r.link_size(), " busiest)\n");
  RowTable<proto::LinkReport> table;
  if (r.has_packet()) {
    table.Without("flows");
  } else {
    table.Without("packets")
        .Show("name", [](const proto::LinkReport& l) { return Shorten(l.name(), 48, "-"); })
        .Show("peak", [](const proto::LinkReport& l) { return absl::StrFormat("%.0f %%", 100 * l.peak()); });
  }
  for (int i = 0; i < std::min(kListRows, r.link_size()); ++i) table.Add(r.link(i));
  return absl::StrCat(head, table.Print(page));
}

std::string TimeSources(const proto::Report& r, TextPage* page) {
  const bool errors = std::any_of(r.time_source().begin(), r.time_source().end(),
                                  [](const proto::TimeSourceReport& x) { return x.error_ps() > 0; });
  RowTable<proto::TimeSourceReport> table;
  if (errors) {
    table.Show("error_ps", [](const auto& x) { return x.error_ps() > 0 ? PsText(x.error_ps()) : "-"; });
  } else {
    table.Without("error");
  }
  std::string notes;
  for (const proto::TimeSourceReport& x : r.time_source()) {
    if (x.outside() > 0) {
      absl::StrAppend(&notes, "  interpolate refused ", FormatCount(x.outside()),
                      " nodes outside the measured rows\n");
    }
    if (x.derived() > 0) {
      absl::StrAppend(&notes, "  roofline derived the work of ", FormatCount(x.derived()),
                      " nodes from their shapes\n");
    }
    if (x.nodes() > 0) table.Add(x);
  }
  if (table.rows() == 0) return "";
  std::string out = absl::StrCat("\nCompute\n", table.Print(page), notes);
  if (r.repriced_size() > 0) {
    RowTable<proto::RepricedFamily> families;
    for (const proto::RepricedFamily& f : r.repriced()) families.Add(f);
    absl::StrAppend(&out, "  recorded on ", r.repriced_from(),
                    ", converted to this device: recorded time x the ratio of the kernel model\n",
                    families.Print(page));
  }
  if (r.unanswered_size() > 0) {
    absl::StrAppend(&out, "  names without a time (they take no time):\n");
    const int n = std::min(kListRows, r.unanswered_size());
    for (int i = 0; i < n; ++i) {
      absl::StrAppend(&out, "    ", Shorten(r.unanswered(i).name(), 70, "(no name)"), "  x ",
                      FormatCount(r.unanswered(i).nodes()), "\n");
    }
    absl::StrAppend(&out, MoreRows(r.unanswered_size() - n, "names"));
  }
  return out;
}

std::string Notes(const proto::Report& r) {
  std::string out;
  if (r.repair_size() > 0) {
    absl::StrAppend(&out, "\nRepairs\n");
    const int n = std::min(kListRows, r.repair_size());
    for (int i = 0; i < n; ++i) {
      const proto::Repair& x = r.repair(i);
      absl::StrAppend(&out, "  ", x.kind(), " x ", FormatCount(x.count()), ", rank ", x.rank(), " (",
                      Shorten(x.file(), 60, "-"), "), first node ", x.first_node(),
                      x.detail().empty() ? "" : ": ", x.detail(), "\n");
    }
    absl::StrAppend(&out, MoreRows(r.repair_size() - n, "repairs"));
  }
  if (r.assumption_size() > 0) {
    absl::StrAppend(&out, "\nAssumed\n");
    for (const std::string& a : r.assumption()) absl::StrAppend(&out, "  ", a, "\n");
  }
  if (r.warning_size() > 0) {
    absl::StrAppend(&out, "\nWarnings\n");
    for (const std::string& w : r.warning()) absl::StrAppend(&out, "  ", w, "\n");
  }
  return out;
}

// Columns of fixed time, and columns marked if_any, are shown only if the report has values for them.
std::string Csv(const proto::Report& r) {
  std::vector<ReportColumn> columns = ColumnsOf(*proto::RankReport::descriptor(), View::kCsv), fixed_time;
  std::erase_if(columns, [&](const ReportColumn& c) {
    const auto has = [&c](const proto::RankReport& row) { return NumberIn(row, *c.field) > 0; };
    return c.shown->if_any() && std::none_of(r.rank().begin(), r.rank().end(), has);
  });
  if (r.has_fixed_time()) fixed_time = ColumnsOf(*proto::FixedTime::descriptor(), View::kCsv);
  std::string out;
  const char* comma = "";
  for (const ReportColumn& c : columns) absl::StrAppend(&out, std::exchange(comma, ","), c.name());
  for (const ReportColumn& c : fixed_time) absl::StrAppend(&out, comma, c.name());
  out += '\n';
  for (int i = 0; i < r.rank_size(); ++i) {
    comma = "";
    for (const ReportColumn& c : columns)
      absl::StrAppend(&out, std::exchange(comma, ","), CsvOf(r.rank(i), c));
    for (const ReportColumn& c : fixed_time) absl::StrAppend(&out, comma, CsvOf(r.fixed_time().rank(i), c));
    out += '\n';
  }
  return out;
}

}  // namespace

absl::StatusOr<ReportFormat> ParseReportFormat(absl::string_view name) {
  if (name == "text") return ReportFormat::kText;
  if (name == "json") return ReportFormat::kJson;
  if (name == "csv") return ReportFormat::kCsv;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is not a report format; expected text, json or csv"));
}

absl::StatusOr<std::string> PrintReport(const proto::Report& as_made, ReportFormat format, TextPage* page) {
  if (format == ReportFormat::kCsv) return Csv(as_made);
  if (format == ReportFormat::kJson) {
    google::protobuf::util::JsonPrintOptions options;
    options.add_whitespace = true;
    options.preserve_proto_field_names = true;
    options.always_print_primitive_fields = true;
    std::string out;
    const auto status = google::protobuf::util::MessageToJsonString(as_made, &out, options);
    if (!status.ok())
      return absl::InternalError(absl::StrCat("cannot print the report: ", status.ToString()));
    return out;
  }
  const proto::Report report = PrintableCopy(as_made);
  return absl::StrCat(
      Head(report), report.has_edits() ? absl::StrCat("\n", PrintEdits(report.edits(), page)) : "",
      Jobs(report, page), Steps(report, page), PrintTraining(report, page), PrintEnergy(report, page),
      PrintCost(report, page), PrintCarbon(report, page), PrintExplained(report),
      PrintGoodput(report.goodput(), page), Ranks(report, page), PrintCommunication(report, page),
      PrintOverlap(report, page), Dimensions(report, page), FlowTimesTable(report, page), Packets(report),
      Links(report, page), TimeSources(report, page), PrintFixedTime(report, page),
      PrintCriticalPath(report, page), Notes(report), "\n", report.bound(), "\n");
}

}  // namespace chakra
