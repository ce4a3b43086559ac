#include "replay/cli/plan_options.h"

#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/registry.h"
#include "replay/cli/command.h"
#include "replay/cli/workload_options.h"
#include "replay/compute/compute.h"
#include "trace/base/status_macros.h"

namespace chakra::cli {

void PlanArguments::AddTo(CLI::App* app) {
  app->add_option("WORKLOAD", from_.file,
                  "A workload: proto/workload.proto as .txtpb or JSON; what it says of its "
                  "split is fixed")
      ->type_name("");
  AddWorkloadOptions(app, "Workload; what is given here is fixed", &from_);
  AddSearch(app);
  AddMachine(app);
  request_.run.version = CHAKRA_VERSION;
  request_.threads = DefaultThreads();
}

void PlanArguments::AddSearch(CLI::App* app) {
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
  app->add_flag("--energy", energy_, "Joules of each step that is replayed")->group(g);
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
  app->add_option(
         "--replay-nodes", request_.replay_nodes,
         "Nodes of all replays together, after which splits are told by their closed form alone "
         "(the best two are replayed anyhow, however long they take); 0: any number; default: "
         "60000000. A core replays some million nodes a second, and fewer where --fabric has messages "
         "wait for links. Splits beyond --top that the closed form does not tell from the best are "
         "replayed too, as far as this reaches")
      ->type_name("N")
      ->group(g);
  app->add_option("--threads", request_.threads,
                  "Replays at once; the answer does not depend on it; default: the machine's cores")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""))
      ->group(g);
}

void PlanArguments::AddMachine(CLI::App* app) {
  const std::string g = "Machine";
  RunOptions& run = request_.run;
  app->add_option(
         "--cluster", run.cluster,
         absl::StrCat("A preset, PRESET:key=value,... or a cluster file; default: ", kDefaultCluster))
      ->type_name("SPEC")
      ->group(g);
  app->add_option("--fabric", run.fabric,
                  absl::StrCat("What simulates messages of the replays: ", ListedWithHelp(), "; default: ",
                               kDefaultFabrics, ". The closed form has none of them wait for another"))
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

absl::Status PlanArguments::Check() {
  if (from_.file.empty() && from_.model.empty())
    return absl::InvalidArgumentError("plan expects WORKLOAD or --model");
  if (!request_.run.fabric.empty()) {
    RETURN_IF_ERROR(CheckFabricName(request_.run.fabric));
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
      energy_ || request_.aim != Aim::kTime || !request_.run.prices.empty() || !request_.run.grid.empty();
  return absl::OkStatus();
}

absl::Status PlanArguments::ReadWorkload() {
  ASSIGN_OR_RETURN(const auto workload, generate::ReadWorkload(from_));
  request_.workload = workload;
  // A model of a file is called by it.
  const std::string model = from_.model.substr(0, from_.model.find(':'));
  if (workload.name().empty() && workload.model().preset().empty() && absl::EndsWith(model, ".json"))
    request_.workload.set_name(std::filesystem::path(model).stem().string());
  return absl::OkStatus();
}

absl::StatusOr<proto::PlanReport> PlanArguments::Plan(
    std::function<void(const planning::PlanProgress&)> progress) {
  request_.progress = std::move(progress);
  auto report = planning::MakePlan(request_);
  request_.progress = nullptr;
  if (report.ok() && request_.run.cluster.empty())
    report->add_warning(absl::StrCat("no --cluster was named: ", kDefaultCluster, " is assumed"));
  return report;
}

}  // namespace chakra::cli
