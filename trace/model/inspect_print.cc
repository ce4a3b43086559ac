#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/util/json_util.h"
#include "trace/base/text_table.h"
#include "trace/io/printable_message.h"
#include "trace/model/inspect.h"

namespace chakra {
namespace {

constexpr int kRows = 16;

std::string Ps(int64_t ps) { return FormatTime(Time::Picos(ps)); }

std::string More(int total, absl::string_view what) {
  if (total <= kRows) return "";
  return absl::StrCat("  ... and ", FormatCount(static_cast<uint64_t>(total - kRows)), " more ", what,
                      " (all are in --format json)\n");
}

// Prints the fixed time and its causes, the longest one first.
std::string FixedTime(const proto::FixedTimeReport& fixed_time) {
  const proto::FixedTime& run = fixed_time.run();
  std::vector<std::pair<int64_t, absl::string_view>> causes = {
      {run.host_gaps_ps(), Name(FixedTimeCause::kHostGaps)},
      {run.launch_latency_ps(), Name(FixedTimeCause::kLaunchLatency)},
      {run.stream_gaps_ps(), Name(FixedTimeCause::kStreamGaps)},
      {run.start_ps(), Name(FixedTimeCause::kStart)},
      {run.unexplained_ps(), Name(FixedTimeCause::kUnexplained)},
      {run.recorded_waits_ps(), Name(FixedTimeCause::kRecordedWaits)},
      {run.other_delays_ps(), Name(FixedTimeCause::kOther)}};
  std::erase_if(causes, [](const auto& c) { return c.first == 0; });
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out = absl::StrFormat(
      "  fixed time       %s if durations were 0, %.1f %% of the critical path; along it %.1f %%\n",
      Ps(run.time_ps()), 100 * fixed_time.share(), 100 * fixed_time.path_share());
  if (causes.empty()) return out;
  return absl::StrCat(out, "                   ",
                      absl::StrJoin(causes, ", ",
                                    [](std::string* to, const auto& c) {
                                      absl::StrAppend(to, std::string(c.second), " ", Ps(c.first));
                                    }),
                      "\n");
}

std::string Head(const proto::Inspection& x) {
  std::string out =
      absl::StrCat("Traces\n  ranks            ", FormatCount(x.ranks()), "\n  nodes            ",
                   FormatCount(x.nodes()), "\n  dependencies     ", FormatCount(x.dependencies()),
                   "\n  distinct graphs  ", FormatCount(x.distinct_graphs()), "\n");
  absl::StrAppend(&out, "  recorded         span ", Ps(x.span_ps()), ", durations in all ",
                  Ps(x.duration_ps()), "\n");
  const proto::CriticalPath& p = x.critical_path();
  if (p.nodes() > 0) {
    absl::StrAppend(&out, "  critical path    ", Ps(p.duration_ps()), " over ", FormatCount(p.nodes()),
                    " nodes of rank ", p.rank(), "\n                   from node ", p.first_node(), " \"",
                    Shorten(p.first_name(), 50, ""), "\"\n                   to node ", p.last_node(), " \"",
                    Shorten(p.last_name(), 50, ""), "\"\n");
  }
  if (x.has_fixed_time()) absl::StrAppend(&out, FixedTime(x.fixed_time()));
  return out;
}

std::string PrintTypes(const proto::Inspection& x, TextPage* page) {
  TextTable table({"type", "nodes", "recorded"}, {true, false, false});
  for (const proto::TypeCount& t : x.type())
    table.Add({t.type(), FormatCount(t.nodes()), Ps(t.duration_ps())});
  return absl::StrCat("\nNodes by type\n", table.Print(page));
}

std::string PrintCommunication(const proto::Inspection& x, TextPage* page) {
  if (x.communication_size() == 0) return "";
  TextTable table({"kind", "group", "nodes", "bytes"}, {true, true, false, false});
  for (int i = 0; i < std::min(kRows, x.communication_size()); ++i) {
    const proto::CommunicationSummary& c = x.communication(i);
    const bool pair = c.kind() == "send" || c.kind() == "recv";
    table.Add({c.kind(), Shorten(c.group(), 40, pair ? "-" : "(all)"), FormatCount(c.nodes()),
               FormatBytes(c.bytes())});
  }
  return absl::StrCat("\nCommunication by kind and group (bytes of comm_size, over all nodes)\n",
                      table.Print(page), More(x.communication_size(), "kinds and groups"));
}

std::string PrintRanks(const proto::Inspection& x, TextPage* page) {
  TextTable table({"rank", "nodes", "graph", "start", "end", "durations", "critical path", "file"},
                  {false, false, false, false, false, false, false, true});
  for (int i = 0; i < std::min(kRows, x.rank_size()); ++i) {
    const proto::RankSummary& r = x.rank(i);
    table.Add({std::to_string(r.rank()), FormatCount(r.nodes()), std::to_string(r.graph()), Ps(r.start_ps()),
               Ps(r.end_ps()), Ps(r.duration_ps()), Ps(r.critical_path_ps()), Shorten(r.file(), 32, "-")});
  }
  return absl::StrCat("\nRanks\n", table.Print(page), More(x.rank_size(), "ranks"));
}

std::string PrintGroups(const proto::Inspection& x, TextPage* page) {
  if (x.group_size() == 0) return "";
  TextTable table({"group", "size", "ranks"}, {true, false, true});
  for (int i = 0; i < std::min(kRows, x.group_size()); ++i) {
    std::string ranks;
    for (int r : x.group(i).rank()) absl::StrAppend(&ranks, ranks.empty() ? "" : " ", r);
    table.Add({Shorten(x.group(i).name(), 30, "(all)"), FormatCount(x.group(i).rank_size()),
               Shorten(ranks, 50, "-")});
  }
  return absl::StrCat("\nGroups, from ", x.group_source(), "\n", table.Print(page),
                      More(x.group_size(), "groups"));
}

std::string PrintProblems(const proto::Inspection& x) {
  if (x.problem_size() == 0) return "\nProblems: none\n";
  std::string out = "\nProblems\n";
  for (int i = 0; i < std::min(kRows, x.problem_size()); ++i) {
    const proto::Repair& r = x.problem(i);
    absl::StrAppend(&out, "  ", r.kind(), " x ", FormatCount(r.count()), ", rank ", r.rank(), " (",
                    Shorten(r.file(), 60, "-"), "), first node ", r.first_node(),
                    r.detail().empty() ? "" : ": ", r.detail(), "\n");
  }
  return absl::StrCat(out, More(x.problem_size(), "problems"));
}

std::string PrintWarnings(const proto::Inspection& x) {
  std::string out;
  for (const std::string& w : x.warning())
    absl::StrAppend(&out, out.empty() ? "\nWarnings\n" : "", "  ", w, "\n");
  return out;
}

}  // namespace

std::string PrintInspectionText(const proto::Inspection& as_read, TextPage* page) {
  const proto::Inspection x = PrintableCopy(as_read);
  return absl::StrCat(Head(x), PrintTypes(x, page), PrintCommunication(x, page), PrintRanks(x, page),
                      PrintGroups(x, page), PrintProblems(x), PrintWarnings(x));
}

absl::StatusOr<std::string> PrintInspectionJson(const proto::Inspection& x) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string out;
  const auto status = google::protobuf::util::MessageToJsonString(x, &out, options);
  if (!status.ok()) return absl::InternalError(absl::StrCat("cannot print the summary: ", status.ToString()));
  return out;
}

}  // namespace chakra
