// `plan`: the best splits of a workload on a cluster.
#include "replay/plan/plan.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/registry.h"
#include "replay/cli/command.h"
#include "replay/cli/output.h"
#include "replay/cli/terminal.h"
#include "replay/cli/workload_options.h"
#include "replay/compute/compute.h"
#include "replay/plan/print.h"
#include "replay/run/machine.h"
#include "replay/sweep/words.h"
#include "trace/generate/workload.h"
#include "trace/io/proto_io.h"

namespace chakra::cli {
namespace {

// How many replays are done, on a terminal alone.
class ReplayCount {
 public:
  explicit ReplayCount(bool quiet) : enabled_(!quiet && isatty(STDERR_FILENO) == 1) {}
  ~ReplayCount() {
    if (enabled_) std::fputs("\r\033[K", stderr);
  }
  void Update(int done, int of) const {
    if (enabled_) std::fprintf(stderr, "\r\033[Kreplays of the best splits: %d of %d", done, of);
  }

 private:
  const bool enabled_;
};

class PlanCommand : public Command {
 public:
  explicit PlanCommand(CLI::App* app);
  int Run() override;

 private:
  void AddSearch(CLI::App* app);
  void AddMachine(CLI::App* app);
  void AddOutput(CLI::App* app);
  absl::Status Check();
  absl::Status Make();
  // Words of `replay` for the machine.
  std::string MachineWords() const;

  generate::WorkloadOptions from_;
  planning::PlanRequest request_;
  std::string reserve_, report_ = "-", html_, sweep_, format_, aim_;
  bool quiet_ = false;
};

PlanCommand::PlanCommand(CLI::App* app) : Command(app) {
  app->allow_extras();
  app->add_option("WORKLOAD", from_.file,
                  "A workload: proto/workload.proto as .txtpb or JSON; what it says of its "
                  "split is fixed")
      ->type_name("");
  AddWorkloadOptions(app, "Workload; what is given here is fixed", &from_);
  AddSearch(app);
  AddMachine(app);
  AddOutput(app);
  app->footer(
      "Example:\n"
      "  chakra-replay plan --model llama3-70b --training seq=8192,global_batch=512 --cluster dgx-h100 \\\n"
      "      --ranks 512 --try tp=4,8 --html plan.html");
  request_.run.version = CHAKRA_VERSION;
  request_.threads = DefaultThreads();
}

void PlanCommand::AddSearch(CLI::App* app) {
  const std::string g = "Search";
  app->add_option("--ranks", request_.ranks, "Devices that the step has; default: those of the cluster")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 22).description(""))
      ->group(g);
  app->add_option("--try", request_.tries,
                  "Values of a field of --parallel or --training, as tp=2,4,8, pp=1..16 (1, 2, 4, 8, 16) or "
                  "schedule=1f1b,gpipe; may be repeated. Without it the fields of the split that the "
                  "workload leaves open "
                  "have usual values, which the answer lists")
      ->type_name("FIELD=VALUES")
      ->allow_extra_args(false)
      ->group(g);
  app->add_option("--top", request_.top, "Splits that are told; default: 10")
      ->type_name("K")
      ->check(CLI::Range(1, 1000).description(""))
      ->group(g);
  app->add_option(
         "--aim", aim_,
         "What the best split has least of, among the fastest by the closed form that --top replays: time, "
         "energy, cost (dollars, owned) or carbon (kg CO2e); the last two need --prices and --grid; default: "
         "time")
      ->type_name("AIM")
      ->check(OneOf({"time", "energy", "cost", "carbon"}))
      ->group(g);
  app->add_option("--prices", request_.run.prices,
                  "Dollars of each step: built-in, or a file of prices (proto/economics.proto)")
      ->type_name("FILE|built-in")
      ->group(g);
  app->add_option("--grid", request_.run.grid,
                  "kg CO2e of each step: a region (iowa, france, ...) or a file (proto/economics.proto)")
      ->type_name("REGION|FILE")
      ->group(g);
  AddDeviceMemory(app, g, "Memory of a device, as 80GB; default: that of the cluster's device",
                  &request_.run.device_memory);
  app->add_option(
         "--reserve", reserve_,
         "Share of it that tensors cannot have, for the allocator, the device's context and the buffers of "
         "libraries; default: 10%")
      ->type_name("PERCENT")
      ->group(g);
  app->add_option("--replay-nodes", request_.replay_nodes,
                  "Nodes of all replays together, after which splits are told by their closed form alone "
                  "(the best two are "
                  "replayed anyhow); 0: any number; default: 60000000, some seconds")
      ->type_name("N")
      ->group(g);
  app->add_option("--threads", request_.threads,
                  "Replays at once; the answer does not depend on it; default: the machine's cores")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""))
      ->group(g);
}

void PlanCommand::AddMachine(CLI::App* app) {
  const std::string g = "Machine";
  RunOptions& run = request_.run;
  app->add_option(
         "--cluster", run.cluster,
         absl::StrCat("A preset, PRESET:key=value,... or a cluster file; default: ", kDefaultCluster))
      ->type_name("SPEC")
      ->group(g);
  app->add_option("--fabric", run.fabric,
                  absl::StrCat("What simulates messages of the replays: ", ListedWithHelp(), "; default: ",
                               kDefaultFabric, ". The closed form has none of them wait for another"))
      ->type_name("NAME")
      ->group(g);
  AddTopologyOptions(app, g, &run.topology);
  AddFlowOptions(app, g, &run.fabric_options);
  app->add_option(
         "--compute", run.compute,
         absl::StrCat("Where compute times come from, in order; default: ", std::string(kDefaultRungs)))
      ->type_name("LIST")
      ->group(g);
  app->add_option("--kernels", run.kernels, "Kernel table for --compute table and interpolate")
      ->type_name("FILE")
      ->group(g);
}

void PlanCommand::AddOutput(CLI::App* app) {
  const std::string g = "Output";
  app->add_option("--report", report_, "Where the plan goes; - is standard output, the default")
      ->type_name("FILE|-")
      ->group(g);
  app->add_option("--format", format_,
                  "text, json or csv; default: by the end of --report's name (.json, .csv), else text")
      ->type_name("FORMAT")
      ->check(OneOf({"text", "json", "csv"}))
      ->group(g);
  app->add_option("--html", html_, "The plan as one page for browsers, with charts; it needs no network")
      ->type_name("FILE|-")
      ->group(g);
  app->add_option("--sweep", sweep_,
                  "A spec of `chakra-replay sweep` over the splits that are told, which runs them with a "
                  "journal, on Slurm or "
                  "Open MPI")
      ->type_name("FILE")
      ->group(g);
  app->add_flag("-q,--quiet", quiet_, "No progress line")->group(g);
}

absl::Status PlanCommand::Check() {
  if (from_.file.empty() && from_.model.empty())
    return absl::InvalidArgumentError("plan expects WORKLOAD or --model");
  if (!request_.run.fabric.empty()) {
    if (absl::Status s = CheckFabricName(request_.run.fabric); !s.ok()) return s;
  }
  if (!request_.run.compute.empty()) {
    if (auto rungs = ParseRungs(request_.run.compute); !rungs.ok())
      return absl::InvalidArgumentError(absl::StrCat("--compute: ", rungs.status().message()));
  }
  if (!reserve_.empty()) {
    double percent = 0;
    if (!absl::SimpleAtod(absl::StripSuffix(reserve_, "%"), &percent) || !(percent >= 0 && percent < 100))
      return absl::InvalidArgumentError(absl::StrCat(
          "--reserve: \"", reserve_, "\", expected a percentage from 0 to less than 100, as 10%"));
    request_.reserve = percent / 100;
  }
  using Aim = planning::PlanRequest::Aim;
  for (const Aim aim : {Aim::kTime, Aim::kEnergy, Aim::kCost, Aim::kCarbon}) {
    if (aim_ == planning::NameOf(aim)) request_.aim = aim;
  }
  if (request_.aim == Aim::kCost && request_.run.prices.empty())
    return absl::InvalidArgumentError("--aim cost needs --prices, as --prices built-in");
  if (request_.aim == Aim::kCarbon && request_.run.grid.empty())
    return absl::InvalidArgumentError("--aim carbon needs --grid, as --grid iowa");
  request_.run.energy =
      request_.aim != Aim::kTime || !request_.run.prices.empty() || !request_.run.grid.empty();
  const std::vector<NamedOutput> outputs = {{report_, "the report"}};
  if (!html_.empty()) {
    if (absl::Status s = CheckApart({html_, "--html"}, outputs); !s.ok()) return s;
  }
  if (!sweep_.empty()) {
    if (absl::Status s = CheckApart({sweep_, "--sweep"}, {{report_, "the report"}, {html_, "--html"}});
        !s.ok())
      return s;
  }
  return absl::OkStatus();
}

std::string PlanCommand::MachineWords() const {
  const RunOptions& run = request_.run;
  std::vector<std::string> words = {"--cluster", ClusterSpec(run)};
  for (const CLI::Option* option : app()->get_options()) {
    if (option->get_group() != "Machine" || option->count() == 0 || option->check_name("--cluster")) continue;
    for (const std::string& value : option->results()) {
      words.push_back(option->get_name());
      if (option->get_items_expected_max() > 0) words.push_back(value);
    }
  }
  return sweep::QuoteWords(words);
}

absl::Status PlanCommand::Make() {
  const auto workload = generate::ReadWorkload(from_);
  if (!workload.ok()) return workload.status();
  request_.workload = *workload;
  // A model of a file is called by it.
  const std::string model = from_.model.substr(0, from_.model.find(':'));
  if (workload->name().empty() && workload->model().preset().empty() && absl::EndsWith(model, ".json"))
    request_.workload.set_name(std::filesystem::path(model).stem().string());
  absl::StatusOr<proto::PlanReport> report = absl::UnknownError("");
  {
    const ReplayCount line(quiet_);
    request_.progress = [&line](int done, int of) { line.Update(done, of); };
    report = planning::MakePlan(request_);
  }
  if (!report.ok()) return report.status();
  if (request_.run.cluster.empty())
    report->add_warning(absl::StrCat("no --cluster was named: ", kDefaultCluster, " is assumed"));
  if (!html_.empty()) {
    const auto page = planning::MakePlanPage(*report);
    if (!page.ok()) return page.status();
    if (absl::Status s = WriteOutput(html_, *page); !s.ok()) return s;
  }
  if (!sweep_.empty() && report->row_size() > 0) {
    const auto text = FormatMessage(planning::SweepOf(*report, MachineWords()), MessageFormat::kText);
    if (!text.ok()) return text.status();
    if (absl::Status s = WriteOutput(sweep_, *text); !s.ok()) return s;
  }
  const std::string named = format_.empty() ? FormatOf(report_) : format_;
  const auto format = ParseReportFormat(named);
  if (!format.ok()) return format.status();
  TextPage page = PageOf(report_, named);
  const auto text = planning::PrintPlan(*report, *format, &page);
  return text.ok() ? WriteOutput(report_, page.Finish(*text)) : text.status();
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
      root->add_subcommand("plan", "Find the fastest split of a workload on a cluster that fits"));
}

}  // namespace chakra::cli
