#include "replay/cli/run_options.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/analytical/options.h"
#include "backends/registry.h"
#include "replay/cli/capture_options.h"
#include "replay/cli/command.h"
#include "replay/cli/workload_options.h"
#include "replay/cluster/variation.h"
#include "replay/compute/compute.h"
#include "replay/run/jobs.h"
#include "replay/run/machine.h"
#include "trace/base/spelling.h"
#include "trace/base/status_macros.h"
#include "trace/generate/importer.h"
#include "trace/import/registry.h"

namespace chakra::cli {
namespace {

constexpr char kBuiltInConstants[] = "built-in";
constexpr char kWorkloadAlone[] =
    "--model, --parallel, --training and --set of their fields go with one workload's file, or with none";

}  // namespace

void RunArguments::AddTo(CLI::App* app) {
  app->add_option("TRACE", traces_.inputs, InputsHelp())->type_name("");
  const std::string workload = "Workload, in place of TRACE or on top of a workload's file";
  AddWorkloadOptions(app, workload, &workload_);
  AddDeviceMemory(
      app, workload,
      "Warn of ranks of a generated step whose tensors take more than this, as 80GB; default: the "
      "memory of the cluster's device",
      &run_.device_memory);
  AddMachine(app);
  AddTrace(app);
  edits_.AddTo(app, "--edit", "Edits, in the order in which they are given");
  AddRanks(app);
  AddEnergy(app);
  AddCaptureOptions(app, &traces_.read);
  run_.version = CHAKRA_VERSION;
  traces_.read.threads = DefaultThreads();
}

void RunArguments::AddMachine(CLI::App* app) {
  const std::string g = "Machine";
  app->add_option(
         "--cluster", run_.cluster,
         absl::StrCat("A preset, PRESET:key=value,... or a cluster file; default: ", kDefaultCluster))
      ->type_name("SPEC")
      ->group(g);
  fabric_ = app->add_option(
      "--fabric", run_.fabric,
      absl::StrCat("What simulates messages: ", ListedWithHelp(), "; default: ", kDefaultFabrics));
  fabric_->type_name("NAME")->group(g);
  app->add_flag("--store-and-forward", run_.fabric_options.Ask<PathOptions>().store_and_forward,
                "Each link takes a whole message before the next does (to compare with ASTRA-sim)")
      ->group(g);
  AddTopologyOptions(app, g, &run_.topology);
  AddFlowOptions(app, g, &run_.fabric_options);
  app->add_flag("--link-series", run_.fabric_options.link_series,
                absl::StrCat("Report what was taken of the busiest links over time, and what packets met "
                             "there, for --fabric ",
                             Listed(FabricsThatFollowLinks())))
      ->group(g);
  compute_ = app->add_option(
      "--compute", run_.compute,
      absl::StrCat(
          "Where compute times come from, in order: table, interpolate, repriced (recorded on another "
          "device, "
          "times the ratio of the kernel model), model (of kernels), roofline, recorded; default: ",
          std::string(kDefaultRungs),
          "; for a capture recorded, and on a --cluster of another device repriced,recorded (both after "
          "--kernels)"));
  compute_->type_name("LIST")->group(g);
  app->add_option(
         "--comm", run_.comm,
         "What communication costs: recorded (the transfer that was measured, begun when the last rank "
         "arrives; the default for a capture without --cluster) or simulated (flows on the fabric)")
      ->type_name("COST")
      ->check(OneOf({kSimulatedComm, kRecordedComm}))
      ->group(g);
  app->add_option(
         "--program", run_.programs,
         "Collective algorithms from files: MSCCL XML, or COLLECTIVE=PREFIX of Chakra traces; may be "
         "repeated")
      ->type_name("SPEC")
      ->group(g);
  app->add_option("--kernels", run_.kernels, "Kernel table for --compute table and interpolate")
      ->type_name("FILE")
      ->group(g);
}

void RunArguments::AddTrace(CLI::App* app) {
  const std::string g = "Trace";
  app->add_option(
         "--lanes", run_.lanes,
         "recorded (threads and streams of the trace), single (one CPU, one compute, one communication "
         "lane) or unlimited (dependencies alone); default: recorded")
      ->type_name("POLICY")
      ->check(OneOf({"recorded", "single", "unlimited"}))
      ->group(g);
  AddGroupsOption(app, &traces_.read, g);
  app->add_option(
         "--ranks", traces_.ranks,
         "Replay one trace (each job of one trace) as N equal ranks. A group of all recorded ranks grows to "
         "all N: a rank's share of an all-gather shrinks, other calls keep their bytes. Other groups stay "
         "and are repeated; --replicas GROUP=M makes GROUP, and what holds it, grow to M instead. Peers of "
         "sends "
         "and receives are taken relative to the traced rank, modulo N. The report says what became of each "
         "group")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 24).description(""))
      ->group(g);
  app->add_flag("--strict", traces_.read.strict, "Refuse what would otherwise be repaired")->group(g);
  strict_causes_ = app->add_flag(
      absl::StrCat("--strict-causes{", kPinnedWarning, "}"), strict_causes_text_,
      absl::StrCat("Refuse a run of which more than so many percent of the makespan (", kPinnedWarning,
                   " without a number) are pinned: gaps of the host, launch latencies and other "
                   "delays, which no edit of durations moves"));
  strict_causes_->type_name("[=PERCENT]")->group(g);
  app->add_flag("--allow-truncated", traces_.read.allow_truncated,
                "Drop a partial last node instead of refusing it")
      ->group(g);
  app->add_option(
         "--threads", traces_.read.threads,
         "Threads that read traces, replay recorded communication and run --fabric packet; the result does "
         "not depend on it; default: the machine's cores")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""))
      ->group("Report and run");
  AddMemoryOption(app, "Report and run");
  app->add_flag(
         "--critical-path", run_.critical_path,
         "Report what the run took its time for: its critical path, what changes would give, stragglers")
      ->group("Report and run");
  app->add_flag_callback(
         "--sensitivity", [this] { run_.sensitivity = run_.critical_path = true; },
         "The same, and replay again with 1 % more bandwidth, less latency, faster computation, ...: what "
         "that gave")
      ->group("Report and run");
  app->add_flag_callback(
         "--no-fast-path", [this] { run_.fast_paths = false; },
         "Simulate every flow, even where a closed form is exact")
      ->group("Report and run");
}

void RunArguments::AddRanks(CLI::App* app) {
  const std::string g = "Ranks and jobs";
  app->add_option(
         "--placement", run_.placement,
         "Which device each rank sits on: linear (rank i on device i), round_robin:BLOCK (on block i "
         "mod blocks of BLOCK devices), random:SEED, scattered:SEED (whole nodes, drawn from all of the "
         "machine), stride:N (N devices "
         "after the last), or a file of "
         "lines \"RANK DEVICE\" or \"0-7: 8-15\"; groups of traces keep their ranks")
      ->type_name("RULE|FILE")
      ->group(g);
  app->add_option(
         "--straggler", run_.stragglers,
         "RANK (or 3,8-15, or all) is slow: device:RANK=FACTOR its computation on the device, "
         "host:RANK=FACTOR its host's work and the gaps between it, rank:RANK=FACTOR both take FACTOR times "
         "as long; RANK=FACTOR means the device, or the host of a rank that computes on no device. May be "
         "repeated. Jitter and random stragglers: variation in the cluster file")
      ->type_name("[PART:]RANK=FACTOR")
      ->allow_extra_args(false)
      ->group(g);
  app->add_option("--seed", run_.seed, "Of everything that the cluster's variation draws; default: 1")
      ->type_name("N")
      ->check(WholeFrom(1))
      ->group(g);
  app->add_option(
         "--job", traces_.jobs,
         "Another job on the same machine, started at START (a time with its unit, 10us; default 0); "
         "its ranks follow those of the jobs before it; may be repeated")
      ->type_name("TRACE[@START]")
      ->allow_extra_args(false)
      ->group(g);
}

void RunArguments::AddEnergy(CLI::App* app) {
  const std::string g = "Energy";
  energy_ = app->add_flag(absl::StrCat("--energy{", kBuiltInConstants, "}"), energy_text_,
                          "Meter the run: watts over time, joules by cause, operator, rank and phase. FILE "
                          "has constants of devices, nodes, "
                          "networks and sites (proto/energy.proto) in place of the built-in ones");
  energy_->type_name("[=FILE]")->group(g);
  app->add_option(
         "--power-cap", run_.power_cap,
         "No device draws more: 500W, or rack=40kW for all of a rack with its hosts. Computation that would "
         "draw more takes longer, by the device's curve of frequency and voltage; with --energy")
      ->type_name("POWER")
      ->group(g);
  app->add_option("--prices", run_.prices,
                  "What the step costs, owned and rented, with ranges: built-in, or a file of prices "
                  "(proto/economics.proto) in place of the built-in ones; with --energy")
      ->type_name("FILE|built-in")
      ->group(g);
  app->add_option("--grid", run_.grid,
                  "What the step emits: a region (iowa, france, ...) or a file with the grid's intensity, "
                  "constant or by "
                  "the hour, and footprints (proto/economics.proto); with --energy")
      ->type_name("REGION|FILE")
      ->group(g);
  app->add_option(
         "--grid-start", run_.grid_start,
         "When the run begins, 2026-03-01T12:00:00Z, for a grid by the hour; default: its first hour")
      ->type_name("TIME")
      ->group(g);
  AddGoodputOptions(app, &run_.reliability, &run_.checkpoint);
  app->add_option("--run-steps", run_.steps,
                  "Steps of the run of which this is one, with --reliability; default: those of 30 days")
      ->type_name("N")
      ->check(WholeFrom(1))
      ->group("Failures");
  app->add_flag("--explain", run_.explain,
                "Print how energy, cost and carbon came about, down to each constant and its source")
      ->group(g);
}

absl::StatusOr<double> RunArguments::StrictCauses() const {
  double percent = 0;
  if (absl::SimpleAtod(strict_causes_text_, &percent) && percent >= 0 && percent <= 100) return percent;
  return absl::InvalidArgumentError(
      absl::StrCat("--strict-causes: \"", strict_causes_text_, "\", expected a percentage from 0 to 100"));
}

bool RunArguments::has_workload() const {
  return AnyWorkloadOption(workload_) ||
         std::any_of(run_.topology.set.begin(), run_.topology.set.end(), generate::IsWorkloadField);
}

absl::Status RunArguments::Check() const {
  const bool workload = has_workload();
  if (traces_.inputs.empty() && !traces_.read.capture.named() && workload_.model.empty())
    return absl::InvalidArgumentError("replay expects at least one TRACE, or --model");
  if (workload && (traces_.inputs.size() > 1 || traces_.read.capture.named()))
    return absl::InvalidArgumentError(kWorkloadAlone);
  if (compute_->count() > 0) {
    if (auto rungs = ParseRungs(run_.compute); !rungs.ok())
      return absl::InvalidArgumentError(absl::StrCat("--compute: ", rungs.status().message()));
  }
  if (fabric_->count() > 0) {
    RETURN_IF_ERROR(CheckFabricName(run_.fabric));
  }
  if (strict_causes_->count() > 0 && !StrictCauses().ok()) return StrictCauses().status();
  if (energy_->count() == 0) {
    for (const auto& [option, given] : {std::pair{"--power-cap", !run_.power_cap.empty()},
                                        {"--prices", !run_.prices.empty()},
                                        {"--grid", !run_.grid.empty()},
                                        {"--explain", run_.explain}}) {
      if (given) return absl::InvalidArgumentError(absl::StrCat(option, " needs --energy"));
    }
  }
  if (run_.reliability.empty() && (!run_.checkpoint.empty() || run_.steps > 0))
    return absl::InvalidArgumentError(
        absl::StrCat(run_.steps > 0 ? "--run-steps" : "--checkpoint", " needs --reliability"));
  if (!run_.grid_start.empty() && run_.grid.empty())
    return absl::InvalidArgumentError("--grid-start needs --grid");
  proto::Variation unused;
  for (const std::string& s : run_.stragglers) {
    if (absl::Status bad = AddStraggler(s, &unused); !bad.ok())
      return absl::Status(bad.code(), absl::StrCat("--straggler ", bad.message()));
  }
  for (const std::string& job : traces_.jobs) {
    if (const auto spec = ParseJob(job); !spec.ok())
      return absl::Status(spec.status().code(), absl::StrCat("--job ", job, ": ", spec.status().message()));
  }
  return absl::OkStatus();
}

absl::StatusOr<TraceOptions> RunArguments::traces() {
  if (has_workload()) {
    std::vector<std::string>& set = run_.topology.set;
    const auto of_cluster = [](const std::string& s) { return !generate::IsWorkloadField(s); };
    const auto own = std::stable_partition(set.begin(), set.end(), of_cluster);
    workload_.set.assign(own, set.end());
    set.erase(own, set.end());
    if (!traces_.inputs.empty()) workload_.file = traces_.inputs[0];
    std::error_code error;
    if (std::filesystem::is_directory(workload_.file, error))
      return absl::InvalidArgumentError(absl::StrCat(workload_.file, ": a folder; ", kWorkloadAlone));
    ASSIGN_OR_RETURN(const auto workload, generate::ReadWorkload(workload_));
    traces_.inputs = {generate::WorkloadInput(workload)};
    workload_ = generate::WorkloadOptions();
  }
  if (generate::AreWorkload(traces_.inputs)) traces_.read.domain = DomainOf(run_);
  run_.strict = traces_.read.strict;
  if (strict_causes_->count() > 0) run_.strict_causes = *StrictCauses();
  run_.energy = energy_->count() > 0;
  run_.energy_file = run_.energy && energy_text_ != kBuiltInConstants ? energy_text_ : "";
  run_.fabric_options.threads = traces_.read.threads;
  if (traces_.ranks > 0) traces_.replicas = edits_.TakeReplicas();
  traces_.edits_keep_lanes = run_.lanes != "unlimited";
  if (!edits_.any()) return traces_;
  RETURN_IF_ERROR(edits_.Prepare());
  traces_.edits = &edits_.plan();
  traces_.edit_files = edits_.files();
  return traces_;
}

}  // namespace chakra::cli
