// `plan`: the best splits of a workload on a cluster.
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/cli/command.h"
#include "replay/cli/message_options.h"
#include "replay/cli/on_signal.h"
#include "replay/cli/output.h"
#include "replay/cli/progress.h"
#include "replay/cli/terminal.h"
#include "replay/plan/print.h"
#include "replay/plan/request.h"
#include "replay/run/machine.h"
#include "replay/sweep/words.h"
#include "trace/base/status_macros.h"
#include "trace/base/stop.h"
#include "trace/base/text_table.h"
#include "trace/io/options.h"
#include "trace/io/proto_io.h"

namespace chakra::cli {
namespace {

// "replays of the best splits: 3 of 10, about 40 s left; the best so far 3.889 s: tp=2,pp=1".
std::string LineOf(const planning::PlanProgress& p, double spent) {
  std::string out = absl::StrCat("replays of the best splits: ", p.done, " of ", p.of);
  if (p.share > 0) absl::StrAppend(&out, ", about ", DurationText(spent * (1 - p.share) / p.share), " left");
  if (p.best != nullptr)
    absl::StrAppend(&out, "; the best so far ", FormatTime(Time::Picos(p.best->time_ps())),
                    ": tp=", p.best->tp(), ",cp=", p.best->cp(), ",pp=", p.best->pp(), ",vpp=", p.best->vpp(),
                    ",dp=", p.best->dp(), ",ep=", p.best->ep(), ",zero=", p.best->zero());
  return out;
}

class PlanCommand : public Command {
 public:
  explicit PlanCommand(CLI::App* app);
  int Run() override;

 private:
  void AddOutput(CLI::App* app);
  absl::Status Check();
  absl::Status Make();
  // The options of `replay` for the machine.
  std::string MachineWords() const;

  proto::PlanRun told_;
  std::string report_ = "-", html_, sweep_, format_;
  bool quiet_ = false;
};

PlanCommand::PlanCommand(CLI::App* app) : Command(app) {
  app->allow_extras();
  AddOptions(app, &told_);
  AddOutput(app);
  app->footer(
      "Example:\n"
      "  chakra-replay plan --model llama3-70b --training seq=8192,global_batch=512 --cluster dgx-h100 \\\n"
      "      --ranks 512 --try tp=4,8 --html plan.html\n"
      "`chakra-replay help TOPIC` prints a table of keys: model, parallel, training, cluster, network, ...");
}

void PlanCommand::AddOutput(CLI::App* app) {
  const std::string g = "Output";
  app->add_option("--report", report_, "Write the plan to FILE; default: -, standard output.")
      ->type_name("FILE|-")
      ->group(g);
  app->add_option("--format", format_,
                  "Format of the plan: text, json or csv; default: by the ending of --report, or else text.")
      ->type_name("FORMAT")
      ->check(OneOf({"text", "json", "csv"}))
      ->group(g);
  app->add_option("--html", html_, "Write the plan as one HTML page with charts. It needs no network.")
      ->type_name("FILE|-")
      ->group(g);
  app->add_option("--sweep", sweep_,
                  "Write a spec of `chakra-replay sweep` over the reported splits. The sweep keeps a "
                  "journal, and runs on "
                  "Slurm or Open MPI.")
      ->type_name("FILE")
      ->group(g);
  app->add_flag("-q,--quiet", quiet_, "Print no progress line.")->group(g);
}

absl::Status PlanCommand::Check() {
  RETURN_IF_ERROR(planning::CheckPlanRun(told_));
  const std::vector<NamedOutput> outputs = {{report_, "the report"}};
  if (!html_.empty()) {
    RETURN_IF_ERROR(CheckApart({html_, "--html"}, outputs));
  }
  if (!sweep_.empty()) {
    RETURN_IF_ERROR(CheckApart({sweep_, "--sweep"}, {{report_, "the report"}, {html_, "--html"}}));
  }
  return absl::OkStatus();
}

std::string PlanCommand::MachineWords() const {
  proto::PlanRun::Machine machine = told_.machine();
  if (machine.cluster().empty()) machine.set_cluster(kDefaultCluster);
  return sweep::QuoteWords(PrintWords(machine));
}

absl::Status PlanCommand::Make() {
  ASSIGN_OR_RETURN(planning::PlanRequest request, planning::RequestOf(told_));
  request.run.version = CHAKRA_VERSION;
  absl::StatusOr<proto::PlanReport> report = absl::UnknownError("");
  {
    const StopOnSignal stop;
    const StopScope scope(StopOnSignal::flag());
    ProgressLine line(quiet_);
    request.progress = [&line, begin = std::optional<double>()](const planning::PlanProgress& p) mutable {
      if (!begin.has_value()) begin = line.spent();  // the search has ended
      if (line.Due()) line.Draw(LineOf(p, line.spent() - *begin));
    };
    report = planning::MakeToldPlan(request);
  }
  if (!report.ok()) return report.status();
  absl::StatusOr<std::string> html = "", sweep = "";
  if (!html_.empty()) html = planning::MakePlanPage(*report);
  if (!html.ok()) return html.status();
  const bool swept = !sweep_.empty() && report->row_size() > 0;
  if (swept) sweep = FormatMessage(planning::SweepOf(*report, MachineWords()), MessageFormat::kText);
  if (!sweep.ok()) return sweep.status();
  const std::string named = format_.empty() ? FormatOf(report_) : format_;
  ASSIGN_OR_RETURN(const auto format, ParseReportFormat(named));
  TextPage page = PageOf(report_, named);
  ASSIGN_OR_RETURN(const auto text, planning::PrintPlan(*report, format, &page));
  const std::string told = page.Finish(text);
  RETURN_IF_ERROR(WriteOutputs({{html_, *html}, {swept ? sweep_ : "", *sweep}, {report_, told}}));
  return *StopOnSignal::flag() ? absl::CancelledError("stopped; the report has only the replays until then")
                               : absl::OkStatus();
}

int PlanCommand::Run() {
  if (absl::Status s = Check(); !s.ok()) return Misuse(std::string(s.message()));
  for (const std::string& path : {report_, html_, sweep_}) {
    if (absl::Status s = CheckOutputPath(path.empty() ? "-" : path); !s.ok()) return Fail(s);
  }
  const absl::Status made = Make();
  return made.ok() ? kDone : Fail(made);
}

}  // namespace

std::unique_ptr<Command> MakePlanCommand(CLI::App* root) {
  return std::make_unique<PlanCommand>(
      root->add_subcommand("plan", "Search the fastest parallel split of a model on a cluster"));
}

}  // namespace chakra::cli
