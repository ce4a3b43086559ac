#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replay/cli/command.h"
#include "replay/cli/message_options.h"
#include "replay/cli/output.h"
#include "replay/cli/terminal.h"
#include "replay/compare/input.h"
#include "replay/compare/limit.h"
#include "replay/compare/page.h"
#include "replay/compare/print.h"
#include "replay/compare/reports.h"
#include "replay/compare/traces.h"
#include "replay/report/activity.h"
#include "replay/report/report.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/base/threads.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"

namespace chakra::cli {
namespace {

constexpr int kRowsOfText = 10;
// bytes; for smaller inputs the raw frames of the files are kept, by which operators are compared exactly
constexpr uint64_t kSmall = 64 << 20;

class CompareCommand : public Command {
 public:
  explicit CompareCommand(CLI::App* app);
  int Run() override;

 private:
  void AddTraceOptions(CLI::App* app);
  // The error of the command line; "": none.
  std::string Misused() const;
  std::string Format() const;
  // Also fills sides_ if a page is requested.
  absl::StatusOr<proto::Comparison> Compare();
  // Fills `failure`, and prints the failures to stderr.
  absl::StatusOr<int> Judge(proto::Comparison* comparison) const;

  std::vector<std::string> inputs_;
  ReadOptions read_;
  TraceCompareOptions options_;
  std::string fail_over_;
  std::vector<std::string> fail_on_;
  bool both_ways_ = false, exact_ = false;
  bool reports_ = false;  // both inputs are reports
  bool times_ = true;     // of traces: at least one has recorded times
  std::string output_ = "-";
  std::string html_;  // "": not requested
  proto::Report sides_[2];
  std::string format_;
  int top_ = -1;  // -1: not given
};

CompareCommand::CompareCommand(CLI::App* app) : Command(app) {
  app->allow_extras();
  app->add_option("A B", inputs_,
                  "Two reports of `replay`, or two sets of traces. A report is JSON, text format or binary. "
                  "A set of traces is a "
                  "file, folder, prefix, tar archive or capture.")
      ->type_name("");
  app->add_option("--fail-over", fail_over_,
                  "Exit with status 1 if B takes longer than A by more than LIMIT, as 2% or 5ms. Units are "
                  "s, ms, us, ns and "
                  "ps.")
      ->type_name("LIMIT");
  app->add_option(
         "--fail-on", fail_on_,
         "Quantities that --fail-over checks, separated by commas; default: makespan, or duration of traces. "
         "Of "
         "reports: makespan, jobs, ranks, collectives, operators, lanes, steps, time_sources. Of "
         "traces: duration "
         "(sum of recorded durations), span, ranks, collectives, kernels, operators, lanes, steps (mean).")
      ->type_name("LIST")
      ->delimiter(',');
  app->add_flag("--both-ways", both_ways_, "Apply --fail-over also if B takes less time than A.");
  app->add_flag("--exact", exact_, "Exit with status 1 if anything differs.");
  app->add_option("--format", format_,
                  "Format of the output: text, json or csv; default: by the ending of -o, or else text.")
      ->type_name("FORMAT")
      ->check(OneOf({"text", "json", "csv"}));
  app->add_option("-o,--output", output_, "Write the comparison to FILE; default: -, standard output.")
      ->type_name("FILE|-");
  app->add_option("--html", html_,
                  "Write an HTML page too: the changes, and both timelines above each other. Of reports, "
                  "those in JSON "
                  "have timelines.")
      ->type_name("FILE|-");
  app->add_option("--top", top_,
                  "Number of rows of each section, 0: all; default: 10 of text, all of json and csv.")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 30).description(""));
  app->add_flag("--merge-numbers", options_.merge_numbers,
                "Merge operators whose names differ only in numbers, as layer#.mlp.");
  AddTraceOptions(app);
  app->footer(
      "Example:\n"
      "  chakra-replay compare before.json after.json --fail-over 2%\n"
      "Exit status: 0 compared; 1 beyond --fail-over or --exact, or an error of the input; 2 an error of the "
      "command "
      "line.");
  read_.threads = DefaultThreads();
}

void CompareCommand::AddTraceOptions(CLI::App* app) {
  const std::string g = "Traces and captures";
  app->add_flag("--attributes", options_.attributes,
                "Compare also attributes that `replay` does not use. All frames of both are in memory then.")
      ->group(g);
  app->add_option("--steps", read_.capture.steps, "Steps of captures, as for `chakra-replay replay`.")
      ->type_name("STEPS")
      ->group(g);
  AddCaptureOptions(app, &read_, g, {"step-range"});
  app->add_option("--select-ranks", read_.capture.ranks,
                  "Use only these ranks of captures, separated by commas.")
      ->type_name("LIST")
      ->delimiter(',')
      ->group(g);
  AddCaptureOptions(app, &read_, g, {"rank-of"});
  app->add_flag("--strict", read_.strict, "Refuse inputs that would otherwise be repaired.")->group(g);
  app->add_flag("--allow-truncated", read_.allow_truncated,
                "Drop a partial last node of a trace; without it the trace is refused.")
      ->group(g);
  app->add_option("--threads", read_.threads, "Number of threads; default: the machine's cores.")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""))
      ->group(g);
}

std::string CompareCommand::Misused() const {
  if (inputs_.size() != 2)
    return absl::StrCat("compare expects two, A and B, but was given ", inputs_.size());
  if (fail_over_.empty() && app()->count("--fail-over") > 0) return "--fail-over expects a limit, such as 2%";
  if (fail_over_.empty() && !fail_on_.empty()) return "--fail-on needs --fail-over";
  if (fail_over_.empty() && both_ways_) return "--both-ways needs --fail-over";
  if (fail_over_.empty()) return "";
  const auto limit = ParseSlowdownLimit(fail_over_);
  return limit.ok() ? "" : absl::StrCat("--fail-over: ", limit.status().message());
}

std::string CompareCommand::Format() const {
  if (!format_.empty()) return format_;
  return FormatOf(output_);
}

std::string About(const proto::Report& r) {
  return absl::StrCat("report of ", FormatCount(static_cast<uint64_t>(r.rank_size())),
                      r.rank_size() == 1 ? " rank" : " ranks", r.cluster().empty() ? "" : " on ",
                      r.cluster());
}

std::string About(const TraceSet& traces) {
  const size_t ranks = traces.ranks.size();
  return absl::StrCat("traces of ", FormatCount(ranks), ranks == 1 ? " rank, " : " ranks, ",
                      FormatCount(traces.nodes()), " nodes");
}

// The size of files, and of the files in folders. A file that cannot be examined counts as 0.
uint64_t BytesOf(const std::vector<std::string>& inputs) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const std::string& input : inputs) {
    if (std::filesystem::is_regular_file(input, error)) bytes += std::filesystem::file_size(input, error);
    if (!std::filesystem::is_directory(input, error)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(input, error)) {
      if (entry.is_regular_file(error)) bytes += entry.file_size(error);
    }
  }
  return bytes;
}

absl::StatusOr<proto::Comparison> CompareCommand::Compare() {
  std::optional<proto::Report> reports[2];
  for (int i = 0; i < 2; ++i) {
    ASSIGN_OR_RETURN(reports[i], ReadReportIfAny(inputs_[i]));
  }
  if (reports[0].has_value() != reports[1].has_value()) {
    const int report = reports[0].has_value() ? 0 : 1;
    return absl::InvalidArgumentError(absl::StrCat(inputs_[report], " is a report, but ", inputs_[1 - report],
                                                   " is not; expected two reports (`replay --format json "
                                                   "--report FILE` makes one) or two sets of traces"));
  }
  reports_ = reports[0].has_value();
  proto::Comparison out;
  if (reports_) {
    out = CompareReports(*reports[0], *reports[1], options_.merge_numbers);
    out.mutable_a()->set_about(About(*reports[0]));
    out.mutable_b()->set_about(About(*reports[1]));
    for (int i = 0; i < 2 && !html_.empty(); ++i) sides_[i] = *std::move(reports[i]);
  } else {
    read_.keep_raw = options_.attributes || BytesOf(inputs_) <= kSmall;
    ASSIGN_OR_RETURN(auto a, ReadTraceSet({inputs_[0]}, read_));
    ASSIGN_OR_RETURN(auto b, ReadTraceSet({inputs_[1]}, read_));
    ASSIGN_OR_RETURN(out, CompareTraces(a, b, options_));
    out.mutable_a()->set_about(About(a));
    out.mutable_b()->set_about(About(b));
    times_ = HasRecordedTimes(a) || HasRecordedTimes(b);
    if (!html_.empty()) {
      AddRecordedActivity(a, &sides_[0]);
      AddRecordedActivity(b, &sides_[1]);
    }
  }
  out.set_version(CHAKRA_VERSION);
  out.mutable_a()->set_path(inputs_[0]);
  out.mutable_b()->set_path(inputs_[1]);
  out.mutable_a()->set_what(reports_ ? "report" : "traces");
  out.mutable_b()->set_what(reports_ ? "report" : "traces");
  return out;
}

absl::StatusOr<int> CompareCommand::Judge(proto::Comparison* comparison) const {
  int status = kDone;
  if (!fail_over_.empty()) {
    if (!times_) {
      return absl::InvalidArgumentError(
          "--fail-over: neither of the traces has recorded times; expected --exact, or reports of their "
          "replays");
    }
    const auto limit = ParseSlowdownLimit(fail_over_);
    std::vector<std::string> subjects = fail_on_;
    if (subjects.empty()) subjects.push_back(LimitSubjects(reports_).front());
    RETURN_IF_ERROR(CheckLimit(*limit, subjects, both_ways_, reports_, comparison));
    if (comparison->failure_size() > 0) {
      const int more = comparison->failure_size() - 1;
      PrintError(absl::StrCat(both_ways_ ? "B differs from A" : "B is slower than A", " by more than ",
                              limit->text, ": ", DescribeFailure(comparison->failure(0)),
                              more > 0 ? absl::StrCat("; and ", more, " more") : ""));
      status = kFailed;
    }
  }
  if (exact_ && !comparison->identical()) {
    PrintError("A and B differ");
    status = kFailed;
  }
  return status;
}

int CompareCommand::Run() {
  if (const std::string misused = Misused(); !misused.empty()) return Misuse(misused);
  if (app()->count("--html") > 0 && html_.empty())
    return Misuse("--html names no file; expected a name, or -");
  if (absl::Status s = CheckApart({html_, "--html"}, {{output_, "the comparison"}});
      !html_.empty() && !s.ok())
    return Misuse(std::string(s.message()));
  if (absl::Status s = CheckOutputPath(output_); !s.ok()) return Fail(s);
  if (absl::Status s = CheckOutputPath(html_.empty() ? "-" : html_); !s.ok()) return Fail(s);
  auto comparison = Compare();
  if (!comparison.ok()) return Fail(comparison.status());
  if (reports_) {
    for (const char* option : {"--attributes", "--steps", "--select-ranks", "--rank-of"}) {
      if (app()->count(option) > 0)
        return Misuse(absl::StrCat(option, " is for traces, and both are reports"));
    }
  }
  std::vector<std::string> known = LimitSubjects(reports_);
  for (const std::string& name : fail_on_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return Misuse(absl::StrCat("--fail-on: \"", name, "\" is not compared in ",
                               reports_ ? "reports" : "traces", SuggestName(name, known)));
  }
  auto status = Judge(&*comparison);
  if (!status.ok()) return Fail(status.status());
  auto format = ParseReportFormat(Format());
  if (!format.ok()) return Fail(format.status());
  const int top = top_ >= 0 ? top_ : *format == ReportFormat::kText ? kRowsOfText : 0;
  TextPage page = PageOf(output_, Format());
  auto text = PrintComparison(*comparison, *format, static_cast<size_t>(top), &page);
  if (!text.ok()) return Fail(text.status());
  absl::StatusOr<std::string> html = "";
  if (!html_.empty()) html = MakeComparisonPage(*comparison, sides_[0], sides_[1]);
  if (!html.ok()) return Fail(html.status());
  const std::string told = page.Finish(*text);
  if (absl::Status s = WriteOutputs({{output_, told}, {html_, *html}}); !s.ok()) return Fail(s);
  return *status;
}

}  // namespace

std::unique_ptr<Command> MakeCompareCommand(CLI::App* root) {
  return std::make_unique<CompareCommand>(
      root->add_subcommand("compare", "Compare two reports, or two sets of traces"));
}

}  // namespace chakra::cli
