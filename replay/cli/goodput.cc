// `goodput`: the effect of failures and checkpoints on a run of weeks, without a replay.
#include "replay/report/goodput.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/cli/command.h"
#include "replay/cli/help/help.h"
#include "replay/cli/message_options.h"
#include "replay/cli/terminal.h"
#include "replay/goodput/model.h"
#include "replay/report/report.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra::cli {
namespace {

class GoodputCommand : public Command {
 public:
  explicit GoodputCommand(CLI::App* app) : Command(app) {
    app->allow_extras();
    const std::string g = "Run";
    app->add_option("--devices", run_.devices, "Number of devices of the run.")->type_name("N")->group(g);
    app->add_option("--step-seconds", run_.step_seconds,
                    "Time of a step without failures and checkpoints, in seconds.")
        ->type_name("S")
        ->group(g);
    app->add_option("--steps", run_.steps, "Number of steps of the run.")->type_name("N")->group(g);
    app->add_option("--days", days_, "Days of work, in place of --steps.")->type_name("N")->group(g);
    app->add_option("--parameters", run_.parameters,
                    "Number of parameters of the model, which sets the size of a checkpoint.")
        ->type_name("N")
        ->group(g);
    AddGoodputOptions(app, &reliability_, &checkpoint_);
    for (const char* usual : {"--reliability", "--checkpoint"}) MarkRare(app->get_option(usual), false);
    app->add_option("--seed", seed_, "Seed of the simulated failures; default: 1.")
        ->type_name("N")
        ->check(WholeFrom(1))
        ->group("Failures");
    app->add_option("--report", report_, "Write the report to FILE; default: -, standard output.")
        ->type_name("FILE|-")
        ->group("Report");
    app->add_option("--format", format_,
                    "Format of the report: text or json; default: by the ending of --report, or else text.")
        ->type_name("FORMAT")
        ->check(OneOf({"text", "json"}))
        ->group("Report");
    app->footer(
        "Example:\n"
        "  chakra-replay goodput --devices 16384 --step-seconds 4.6 --days 54 --parameters 405e9 "
        "--reliability llama3\n"
        "`chakra-replay replay ... --reliability llama3 --run-steps N` does the same for a replayed step.");
  }

  int Run() override {
    if (absl::Status s = Check(); !s.ok()) return Misuse(std::string(s.message()));
    if (absl::Status s = CheckOutputPath(report_); !s.ok()) return Fail(s);
    const auto text = Report();
    if (!text.ok()) return Fail(text.status());
    const absl::Status written = WriteOutput(report_, *text);
    return written.ok() ? kDone : Fail(written);
  }

 private:
  absl::Status Check() const {
    for (const auto& [option, value] :
         {std::pair{"--devices", run_.devices}, {"--step-seconds", run_.step_seconds}}) {
      if (!(value > 0) || !std::isfinite(value))
        return absl::InvalidArgumentError(absl::StrCat(option, " is ", value, "; expected more than 0"));
    }
    if ((run_.steps > 0) == (days_ > 0))
      return absl::InvalidArgumentError("expected one of --steps and --days, above 0");
    if (run_.parameters < 0)
      return absl::InvalidArgumentError(
          absl::StrCat("--parameters is ", run_.parameters, "; expected at least 0"));
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Report() {
    ASSIGN_OR_RETURN(const auto reliability, goodput::LoadReliability(reliability_));
    ASSIGN_OR_RETURN(const auto checkpoint, goodput::ParseCheckpoint(checkpoint_));
    if (days_ > 0) run_.steps = days_ * 86400 / run_.step_seconds;
    ASSIGN_OR_RETURN(const auto goodput, goodput::GoodputOf(run_, reliability, checkpoint, seed_));
    const std::string format = format_.empty() ? FormatOf(report_) : format_;
    if (format == "json") {
      proto::Report report;
      report.set_version(CHAKRA_VERSION);
      *report.mutable_goodput() = goodput;
      return PrintReport(report, ReportFormat::kJson);
    }
    TextPage page = PageOf(report_, format);
    return page.Finish(PrintGoodput(goodput, &page));
  }

  goodput::LongRun run_;
  double days_ = 0;
  std::string reliability_ = "llama3", checkpoint_;
  uint64_t seed_ = 1;
  std::string report_ = "-", format_;
};

}  // namespace

std::unique_ptr<Command> MakeGoodputCommand(CLI::App* root) {
  return std::make_unique<GoodputCommand>(
      root->add_subcommand("goodput", "Compute the effective time of a long run with failures"));
}

}  // namespace chakra::cli
