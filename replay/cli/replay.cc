#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/registry.h"
#include "replay/cli/command.h"
#include "replay/cli/help/help.h"
#include "replay/cli/log_options.h"
#include "replay/cli/message_options.h"
#include "replay/cli/output.h"
#include "replay/cli/progress.h"
#include "replay/cli/terminal.h"
#include "replay/cli/timeline_options.h"
#include "replay/engine/engine.h"
#include "replay/engine/options.h"
#include "replay/page/page.h"
#include "replay/report/report.h"
#include "replay/report/run_replay.h"
#include "replay/run/arguments.h"
#include "replay/run/machine.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"

namespace chakra::cli {
namespace {

// Time to simulate one node of a rank, where no result is shared between ranks; measured with a capture of
// 1,909 nodes and 12 all-reduces on 20,000 to 100,000 ranks.
constexpr double kSecondsPerNode = 2e-6;
constexpr double kLong = 60;  // seconds; for a longer run a note is printed before it starts

class ReplayCommand : public Command {
 public:
  explicit ReplayCommand(CLI::App* app) : Command(app) {
    app->allow_extras();
    AddOptions(app, &told_);
    AddReportOptions(app);
    timeline_.AddTo(app, "Report");
    logs_.AddTo(app, "Logs");
    for (const char* rare : {"--flow-log", "--link-log", "--link-totals", "--log-links", "--timeline-format",
                             "--timeline-ranks", "--timeline-nodes", "--quiet"})
      MarkRare(app->get_option(rare));
    app->footer(
        "Example:\n"
        "  chakra-replay replay examples/transformer_step --cluster dgx-a100 --report run.json\n"
        "`chakra-replay help TOPIC` prints a table of keys: model, parallel, training, cluster, network, "
        "packet, ...");
  }

  int Run() override;

 private:
  void AddReportOptions(CLI::App* app);
  // Errors of --html only.
  absl::Status CheckPage() const;
  // The format of the report: --format, else that of the ending of --report, else text.
  std::string Format() const;
  absl::StatusOr<std::string> Replay();

  proto::Run told_;
  std::string report_ = "-";
  std::string html_;  // "": not requested
  std::string format_;
  bool quiet_ = false;
  LogOptions logs_;
  TimelineOptions timeline_;
  absl::StatusOr<std::string> page_ = "";  // the page of --html
  absl::Status logged_;  // error of the logs after the run; reported after the report is printed
};

void ReplayCommand::AddReportOptions(CLI::App* app) {
  const std::string g = "Report";
  app->add_option("--report", report_,
                  "Write the report to FILE; default: -, standard output. The endings .gz and .zst compress "
                  "it, as every "
                  "output.")
      ->type_name("FILE|-")
      ->group(g);
  app->add_option(
         "--format", format_,
         "Format of the report: text, json or csv. Default: by the ending of --report, or else text.")
      ->type_name("FORMAT")
      ->check(OneOf({"text", "json", "csv"}))
      ->group(g);
  app->add_option(
         "--html", html_,
         "Write the report as one HTML page with charts. It has the critical path, and needs no network.")
      ->type_name("FILE|-")
      ->group(g);
  app->add_flag("-q,--quiet", quiet_, "Print no progress line.")->group(g);
}

std::string ReplayCommand::Format() const {
  if (!format_.empty()) return format_;
  return FormatOf(report_);
}

absl::Status ReplayCommand::CheckPage() const {
  if (html_.empty()) {
    return app()->count("--html") == 0
               ? absl::OkStatus()
               : absl::InvalidArgumentError("--html names no file; expected a name, or -");
  }
  std::vector<NamedOutput> others = logs_.Outputs();
  others.push_back({report_, "the report"});
  return CheckApart({html_, "--html"}, others);
}

// Prints, before a run of many ranks, the number of their nodes and the expected time.
void TellSize(const TraceOptions& options, const TraceSet& set) {
  const uint64_t nodes = set.nodes();
  const double seconds = kSecondsPerNode * static_cast<double>(nodes);
  if (seconds < kLong) return;
  PrintError(absl::StrCat("note: ", FormatCount(static_cast<uint64_t>(options.ranks)), " ranks have ",
                          FormatCount(nodes),
                          " nodes; the run takes seconds where all ranks do the same at the same time or "
                          "communication keeps its recorded times, and about ",
                          DurationText(seconds), " where each rank is simulated"));
}

absl::StatusOr<std::string> ReplayCommand::Replay() {
  ASSIGN_OR_RETURN(ResolvedRun resolved, ResolveRun(told_));
  TraceOptions& options = resolved.traces;
  RunOptions& run = resolved.run;
  run.version = CHAKRA_VERSION;
  options.keep_symmetric = true;
  ASSIGN_OR_RETURN(const auto traces, LoadTraces(options));
  if (options.ranks > 0 && !quiet_) TellSize(options, traces.set);
  logs_.Apply(&run.fabric_options);
  const FabricKind* const kind = FindFabric(FabricName(run));
  const bool shown = timeline_.asked() || !html_.empty();
  run.fabric_options.link_series |= shown && kind != nullptr && kind->shows_links;
  ProgressLine line(quiet_);
  ReplayHooks hooks;
  hooks.flow_log = logs_.flow_log();
  if (logs_.any()) hooks.needs_flows = "--flow-log, --link-log and --link-totals";
  if (line.enabled()) hooks.progress = [&line](const Progress& p) { line.Update(p); };
  hooks.finished = [&](const MachineView& machine, Time end) {
    line.Erase();
    logged_ = logs_.Finish(machine, end);
  };
  if (timeline_.asked()) {
    hooks.replayed = [&](const FinishedRun& done) {
      TimelineInput input = {&done.traces, &done.spans, done.lanes, done.dimension_sizes, done.recorded_comm};
      input.metrics = &done.metrics;
      input.path = done.path;
      input.meter = done.meter;
      logged_.Update(timeline_.Finish(std::move(input), done.machine));
    };
  }
  hooks.unedited = [&] {
    TraceOptions plain = options;
    plain.edits = nullptr;
    plain.edit_files.clear();
    return LoadTraces(plain);
  };
  const bool tells_path = run.critical_path;
  run.critical_path |= !html_.empty();
  run.activity = !html_.empty() || Format() == "json";
  ASSIGN_OR_RETURN(auto report, RunReplay(traces, run, hooks));
  if (!html_.empty()) page_ = MakePage(report);
  if (report.makespan_ps() == 0 && Format() == "csv")  // CSV has no place for the report's warning
    std::cerr << "chakra-replay: warning: no node takes time: the makespan is 0 s\n";
  if (!tells_path) report.clear_critical_path();
  ASSIGN_OR_RETURN(const auto format, ParseReportFormat(Format()));
  TextPage page = PageOf(report_, Format());
  const auto text = PrintReport(report, format, &page);
  return text.ok() ? page.Finish(*text) : text;
}

int ReplayCommand::Run() {
  if (absl::Status s = CheckRun(told_); !s.ok()) return Misuse(std::string(s.message()));
  const std::string fabric = FabricNameOf(told_.machine());
  if (absl::Status s = logs_.Check(*app(), fabric, report_); !s.ok()) {
    return Misuse(std::string(s.message()));
  }
  if (absl::Status s = CheckPage(); !s.ok()) return Misuse(std::string(s.message()));
  std::vector<NamedOutput> outputs = logs_.Outputs();
  outputs.push_back({report_, "the report"});
  if (!html_.empty()) outputs.push_back({html_, "--html"});
  if (absl::Status s = timeline_.Check(*app(), outputs); !s.ok()) return Misuse(std::string(s.message()));
  if (absl::Status s = CheckOutputPath(report_); !s.ok()) return Fail(s);
  if (absl::Status s = CheckOutputPath(html_.empty() ? "-" : html_); !s.ok()) return Fail(s);
  if (absl::Status s = logs_.Open(); !s.ok()) return Fail(s);
  if (absl::Status s = timeline_.Open(); !s.ok()) return Fail(s);
  auto report = Replay();
  if (!report.ok()) return Fail(report.status());
  absl::Status written = WriteOutputs({{page_.ok() ? html_ : "", page_.value_or("")}, {report_, *report}});
  written.Update(page_.status());
  written.Update(logged_);
  return written.ok() ? kDone : Fail(written);
}

}  // namespace

std::unique_ptr<Command> MakeReplayCommand(CLI::App* root) {
  return std::make_unique<ReplayCommand>(
      root->add_subcommand("replay", "Replay traces on a simulated cluster and report the time"));
}

}  // namespace chakra::cli
