#include "replay/plan/request.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "replay/compute/compute.h"
#include "replay/run/arguments.h"
#include "trace/base/status_macros.h"
#include "trace/base/threads.h"

namespace chakra::planning {
namespace {

using Aim = PlanRequest::Aim;

Aim AimOf(const proto::PlanRun::Search& search) {
  for (const Aim aim : {Aim::kEnergy, Aim::kCost, Aim::kCarbon}) {
    if (search.aim() == NameOf(aim)) return aim;
  }
  return Aim::kTime;
}

bool ReadPercent(const std::string& text, double* percent) {
  return absl::SimpleAtod(absl::StripSuffix(text, "%"), percent) && *percent >= 0 && *percent < 100;
}

// All splits have the sequences of the given one, and their own number of micro-batches.
void FixBatch(const proto::Parallel& p, proto::Training* t) {
  if (!t->has_global_batch() && t->has_accumulation() && p.has_dp())
    t->set_global_batch(p.dp() * std::max<int64_t>(1, t->micro_batch()) * t->accumulation());
  t->clear_accumulation();
}

}  // namespace

absl::Status CheckPlanRun(const proto::PlanRun& told) {
  const proto::PlanRun::Machine& machine = told.machine();
  const proto::PlanRun::Search& search = told.search();
  if (told.workload().empty() && told.model().model().empty())
    return absl::InvalidArgumentError("plan expects WORKLOAD or --model");
  if (!machine.fabric().empty()) {
    RETURN_IF_ERROR(CheckFabricName(machine.fabric()));
  }
  if (!machine.compute().empty()) {
    if (auto time_sources = ParseTimeSources(machine.compute()); !time_sources.ok())
      return absl::InvalidArgumentError(absl::StrCat("--compute: ", time_sources.status().message()));
  }
  double percent = 0;
  if (!search.reserve().empty() && !ReadPercent(search.reserve(), &percent))
    return absl::InvalidArgumentError(absl::StrCat(
        "--reserve: \"", search.reserve(), "\", expected a percentage from 0 to less than 100, as 10%"));
  if (AimOf(search) == Aim::kCost && search.prices().empty())
    return absl::InvalidArgumentError("--aim cost needs --prices, as --prices built-in");
  if (AimOf(search) == Aim::kCarbon && search.grid().empty())
    return absl::InvalidArgumentError("--aim carbon needs --grid, as --grid iowa");
  return absl::OkStatus();
}

absl::StatusOr<PlanRequest> RequestOf(const proto::PlanRun& told) {
  PlanRequest out;
  const proto::PlanRun::Machine& machine = told.machine();
  const proto::PlanRun::Search& search = told.search();
  generate::WorkloadOptions workload;
  TakeModel(told.model(), &workload);
  workload.file = told.workload();
  ASSIGN_OR_RETURN(out.workload, generate::ReadWorkload(workload));
  FixBatch(out.workload.parallel(), out.workload.mutable_training());
  // A model from a file is named after the file.
  const std::string model = workload.model.substr(0, workload.model.find(':'));
  if (out.workload.name().empty() && out.workload.model().preset().empty() && absl::EndsWith(model, ".json"))
    out.workload.set_name(std::filesystem::path(model).stem().string());
  out.tries.assign(search.try_().begin(), search.try_().end());
  out.run.cluster = machine.cluster();
  out.run.fabric = machine.fabric();
  out.run.topology = TopologyOf(machine.topology());
  TakeFlows(machine.flows(), &out.run.fabric_options);
  out.run.compute = machine.compute();
  out.run.kernels = machine.kernels();
  out.run.prices = search.prices();
  out.run.grid = search.grid();
  out.run.device_memory = search.device_memory_bytes();
  out.ranks = search.ranks();
  if (search.has_top()) out.top = search.top();
  out.aim = AimOf(search);
  out.run.energy =
      search.energy() || out.aim != Aim::kTime || !out.run.prices.empty() || !out.run.grid.empty();
  double percent = 0;
  if (ReadPercent(search.reserve(), &percent)) out.reserve = percent / 100;
  if (search.has_replay_nodes()) out.replay_nodes = search.replay_nodes();
  out.threads = search.has_threads() ? search.threads() : DefaultThreads();
  return out;
}

absl::StatusOr<proto::PlanReport> MakeToldPlan(const PlanRequest& request) {
  auto report = MakePlan(request);
  if (report.ok() && request.run.cluster.empty())
    report->add_warning(absl::StrCat("no --cluster was named: ", kDefaultCluster, " is assumed"));
  return report;
}

}  // namespace chakra::planning
