#include "replay/report/run_replay.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/topology/placement.h"
#include "replay/cluster/variation.h"
#include "replay/collectives/custom/custom_program.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "replay/critical_path/attribution.h"
#include "replay/critical_path/sensitivity.h"
#include "replay/critical_path/without_pinned.h"
#include "replay/engine/causes/critical_path.h"
#include "replay/engine/causes/pinned.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/recorded/recorded_comm.h"
#include "replay/engine/spans.h"
#include "replay/engine/symmetry/twins.h"
#include "replay/nccl/planner.h"
#include "replay/report/goodput.h"
#include "replay/report/metering.h"
#include "replay/report/pinned.h"
#include "replay/report/report.h"
#include "replay/report/span_meters.h"
#include "replay/report/training.h"
#include "replay/run/cluster_model.h"
#include "replay/run/description.h"
#include "replay/run/machine.h"
#include "replay/run/price.h"
#include "replay/run/simulate.h"
#include "replay/run/steps.h"
#include "trace/base/status_macros.h"
#include "trace/generate/write.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

constexpr size_t kBusiestLinks = 16;  // in the report

// Whether anything in the run took its time, or its groups, from the cluster.
bool UsesCluster(const TraceSet& traces, const std::vector<ComputeTimes>& times, bool recorded_comm) {
  if (!recorded_comm) return true;
  for (const ComputeTimes& t : times) {
    for (const ComputeRung rung : {ComputeRung::kRoofline, ComputeRung::kModel, ComputeRung::kRepriced}) {
      if (std::find(t.rung.begin(), t.rung.end(), rung) != t.rung.end()) return true;
    }
  }
  for (const Graph* graph : DistinctGraphs(traces).graphs) {
    for (NodeType type : graph->type) {
      if (type == NodeType::kMemLoad || type == NodeType::kMemStore) return true;
    }
    for (const Comm& comm : graph->comm) {
      if (comm.dims_count > 0) return true;
    }
  }
  return false;
}

// A run that cannot finish, with a hint where the lanes let ranks of unequal speed pass each other.
absl::Status ExplainStuck(const absl::Status& failure, const std::string& lanes, const RunDescription& run) {
  const bool uneven = !run.variation.empty() || !run.placement.empty();
  if (lanes != "single" || !uneven || !absl::StrContains(failure.message(), "cannot finish")) return failure;
  return absl::Status(failure.code(),
                      absl::StrCat(failure.message(),
                                   "\n  with --lanes single each rank starts what is ready first, so that "
                                   "ranks of unequal speed may call in unequal order; --lanes recorded keeps "
                                   "the order of the trace"));
}

// Whether no rank has a call of the host that takes time, and some have kernels.
bool ShowsDeviceAlone(const TraceSet& traces) {
  bool device = false;
  for (const Graph* graph : DistinctGraphs(traces).graphs) {
    for (uint32_t row = 0; row < graph->size(); ++row) {
      if (graph->duration[row] == Time::Zero()) continue;
      if (graph->is_cpu(row)) return false;
      device = true;
    }
  }
  return device;
}

class Run {
 public:
  Run(const LoadedTraces& traces, const RunOptions& options, const RunHooks& hooks)
      : traces_(traces), options_(options), hooks_(hooks), set_(&traces.set) {}

  absl::StatusOr<proto::Report> Go();
  // The makespans of the run as it is, and without pinned time.
  absl::StatusOr<PinnedMakespans> Measure();

 private:
  absl::Status AddInput(const std::string& path, const std::string& role);
  // The step that the traces were generated for; null: there is none, or it cannot be read.
  const generate::StepPlan* step() const { return made_.ok() && made_->has_value() ? &**made_ : nullptr; }
  // Takes that step for the report.
  void FindPlan();
  void TakeSteps(StepMeter* meter);
  // Warns of programs from files that no call ran.
  void TellUnusedPrograms(const Metrics& metrics);
  // Settles what the options leave open: for captures, what was measured.
  absl::Status ChooseSources();
  absl::Status BuildMachine();
  // Whether times of a capture are carried to the cluster's device.
  void ChooseDevice();
  // What varies, and where the ranks sit.
  absl::Status DescribeRanks();
  // Whether one rank stands for its twins.
  bool TwinsAreEqual() const;
  // Settles all that a simulation needs.
  absl::StatusOr<std::vector<ComputeTimes>> Prepare();
  Simulation Simulates(const std::vector<ComputeTimes>& times) const {
    Simulation simulation = {options_,       cluster_,        *set_,           traces_.jobs, times,
                             recorded_comm_, hooks_.flow_log, hooks_.progress, hooks_.stop};
    simulation.twins = twins_ ? &traces_.twins : nullptr;
    return simulation;
  }
  // Fills pinned_, and refuses more than was asked for.
  absl::Status FindPinned(const Metrics& metrics, const Simulation& simulation);
  // Meters the simulation, where that is asked for; slows `times` where there is a cap.
  absl::Status Meter(std::vector<ComputeTimes>* times, Simulation* simulation);
  absl::StatusOr<proto::CriticalPathReport> ExplainPath(const Simulation& simulation, Time makespan) const;
  absl::StatusOr<proto::Report> Report(const Metrics& metrics, const Simulation& simulation);
  std::string spec() const { return ClusterSpec(options_); }

  const LoadedTraces& traces_;
  const RunOptions& options_;
  const RunHooks& hooks_;
  const TraceSet* set_;
  std::optional<TraceSet> resolved_;  // of several jobs: with the groups that the machine's dimensions give;
                                      // of twins: with their peers
  bool twins_ = false;                // one rank is simulated for all its twins
  RunDescription description_;
  std::string compute_, comm_;
  bool recorded_comm_ = false;
  ClusterModel cluster_;
  // What the traces were generated for, which their metadata say.
  absl::StatusOr<std::optional<generate::StepPlan>> made_ = std::optional<generate::StepPlan>();
  const generate::StepPlan* plan_ = nullptr;      // of one job
  std::vector<std::vector<uint8_t>> comm_kinds_;  // with plan_
  CriticalPath path_;
  PinnedRun pinned_times_;
  proto::PinnedReport pinned_;
  std::unique_ptr<Metering> metering_;  // null: not asked for
  std::unique_ptr<Machine> machine_;
};

absl::Status Run::AddInput(const std::string& path, const std::string& role) {
  auto input = DescribeInput(path, role);
  if (input.ok()) description_.inputs.push_back(*std::move(input));
  return input.status();
}

void Run::FindPlan() {
  if (!traces_.jobs.empty()) return;
  if (!made_.ok()) {
    description_.warnings.push_back(std::string(made_.status().message()));
    return;
  }
  plan_ = step();
  if (plan_ != nullptr) comm_kinds_ = CommKindsOf(*set_);
}

absl::Status Run::ChooseSources() {
  compute_ = options_.compute;
  if (compute_.empty()) {
    compute_ = !traces_.HasTimes()        ? std::string(kDefaultRungs)
               : options_.kernels.empty() ? "recorded"
                                          : "table,recorded";
  }
  comm_ = options_.comm;
  if (comm_.empty()) {
    comm_ = !traces_.captures.empty() && options_.cluster.empty() ? kRecordedComm : kSimulatedComm;
  }
  if (comm_ == kSimulatedComm) return absl::OkStatus();
  const absl::Status possible = CheckRecordedComm(*set_, &description_.warnings);
  recorded_comm_ = possible.ok();
  if (recorded_comm_ && set_->of_one_trace) {
    description_.warnings.push_back(
        "communication takes its recorded time, however many ranks its groups have now; --cluster, or --comm "
        "simulated, simulates it among them");
  }
  if (recorded_comm_) {
    if (!options_.fabric.empty()) {
      description_.warnings.push_back(
          "--fabric has no effect: communication took its recorded time (--comm recorded)");
    }
    return possible;
  }
  if (!options_.comm.empty())
    return absl::Status(possible.code(), absl::StrCat("--comm recorded: ", possible.message()));
  comm_ = kSimulatedComm;
  description_.warnings.push_back(
      "the capture has no recorded durations of communication, which was simulated");
  return absl::OkStatus();
}

absl::Status Run::BuildMachine() {
  std::vector<std::string>& warnings = description_.warnings;
  ASSIGN_OR_RETURN(auto described, DescribeMachine(options_, &warnings));
  if (const double slowdown = ExchangeSlowdown(described);
      slowdown > 0 && step() != nullptr && step()->split.merges_exchanges())
    described.mutable_collectives()->mutable_library()->set_slowdown(slowdown);
  if (absl::Status s = UseHostMemory(step(), *set_, &described); !s.ok())
    return absl::Status(s.code(), absl::StrCat(spec(), ": ", s.message()));
  const int ranks = static_cast<int>(set_->ranks.size());
  auto cluster = BuildCluster(described, ranks);
  if (!cluster.ok()) {
    return absl::Status(cluster.status().code(), absl::StrCat(spec(), ": ", cluster.status().message()));
  }
  std::error_code error;
  if (std::filesystem::is_regular_file(spec(), error)) {
    RETURN_IF_ERROR(AddInput(spec(), "cluster"));
  }
  for (const auto& program : cluster->collectives.programs) {
    warnings.insert(warnings.end(), program->warnings.begin(), program->warnings.end());
  }
  warnings.insert(warnings.end(), cluster->notes.begin(), cluster->notes.end());
  cluster_ = *std::move(cluster);
  if (hooks_.machine) hooks_.machine(cluster_.topology);
  ASSIGN_OR_RETURN(machine_, chakra::BuildMachine(cluster_, options_, ranks, hooks_.flow_log));
  if (recorded_comm_) return absl::OkStatus();
  for (std::string& line : WhatFabricMisses(cluster_, *machine_, FabricName(options_)))
    warnings.push_back(std::move(line));
  return absl::OkStatus();
}

void Run::ChooseDevice() {
  const bool open = options_.compute.empty() && !options_.cluster.empty();
  if (!open && !absl::StrContains(compute_, Name(ComputeRung::kRepriced))) return;
  description_.captured_on = FindCapturedOn(traces_, cluster_.proto.device(), &description_.warnings);
  if (!open || !description_.captured_on.has_value()) return;
  compute_ = options_.kernels.empty() ? "repriced,recorded" : "table,repriced,recorded";
}

absl::Status Run::DescribeRanks() {
  description_.variation = cluster_.variation.text();
  if (cluster_.proto.variation().speed_size() > 0) {
    const DistinctGraphs distinct(*set_);
    std::vector<Computes> of_graph, by_rank;
    for (const Graph* graph : distinct.graphs) of_graph.push_back(WhatComputes(*graph));
    for (const uint32_t g : distinct.of_rank) by_rank.push_back(of_graph[g]);
    for (std::string& line : FactorsWithoutEffect(cluster_.proto.variation(), by_rank))
      description_.warnings.push_back(std::move(line));
  }
  description_.jobs = traces_.jobs;
  if (cluster_.device_of.empty()) return absl::OkStatus();
  description_.placement = cluster_.proto.placement().rule();
  if (recorded_comm_)
    description_.warnings.push_back(
        "the placement moves no communication: it took its recorded time (--comm recorded)");
  if (LooksLikePlacementRule(description_.placement)) return absl::OkStatus();
  return AddInput(description_.placement, "placement");
}

absl::Status Run::FindPinned(const Metrics& metrics, const Simulation& simulation) {
  if (simulation.pinned == nullptr) return absl::OkStatus();
  const std::vector<Time> starts = RankStarts(simulation.jobs, cluster_.variation);
  pinned_ = MakePinnedReport(pinned_times_, metrics, starts);
  description_.pinned = &pinned_;
  if (options_.strict_causes >= 0) {
    RETURN_IF_ERROR(CheckPinned(pinned_, options_.strict_causes));
  }
  const std::string warning = WarnOfPinned(pinned_, [&] { return ShowsDeviceAlone(*set_); });
  if (warning.empty()) return absl::OkStatus();
  description_.warnings.push_back(warning);
  if (!traces_.edits.has_value()) return absl::OkStatus();
  if (!hooks_.unedited) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto without, MakespanWithoutPinned(simulation));
  ASSIGN_OR_RETURN(const auto unedited, hooks_.unedited());
  ASSIGN_OR_RETURN(const auto before, Run(unedited, options_, RunHooks()).Measure());
  *pinned_.mutable_held() = HeldByPinned(before, {metrics.makespan, without});
  if (std::string held = WarnOfHeldEdits(pinned_, metrics.makespan); !held.empty())
    description_.warnings.push_back(std::move(held));
  return absl::OkStatus();
}

absl::StatusOr<PinnedMakespans> Run::Measure() {
  ASSIGN_OR_RETURN(const auto times, Prepare());
  const Simulation simulation = Simulates(times);
  ASSIGN_OR_RETURN(const auto metrics, Simulate(simulation, *machine_));
  ASSIGN_OR_RETURN(const auto without, MakespanWithoutPinned(simulation));
  return PinnedMakespans{metrics.makespan, without};
}

absl::StatusOr<proto::CriticalPathReport> Run::ExplainPath(const Simulation& simulation,
                                                           Time makespan) const {
  std::vector<PathChange> changes;
  proto::CriticalPathReport path =
      AttributePath(path_, *set_, LanesOf(options_), LinkKindsOf(cluster_.topology), &changes);
  if (options_.sensitivity) {
    RETURN_IF_ERROR(MeasureSensitivities(simulation, makespan, changes, &path));
  }
  return path;
}

// What allocators held in captures that tell it.
void AddRecordedMemory(const std::vector<std::optional<CaptureInfo>>& captures, proto::Report* report) {
  for (size_t r = 0; r < captures.size() && static_cast<int>(r) < report->rank_size(); ++r) {
    const uint64_t bytes = captures[r].has_value() ? captures[r]->peak_allocated_bytes : 0;
    if (bytes == 0) continue;
    report->mutable_rank(static_cast<int>(r))->set_peak_memory_bytes(bytes);
    report->set_peak_memory_bytes(std::max(report->peak_memory_bytes(), bytes));
  }
}

absl::StatusOr<proto::Report> Run::Report(const Metrics& metrics, const Simulation& simulation) {
  RunDescription& run = description_;
  const bool assumed = options_.cluster.empty();
  const bool uses_cluster = UsesCluster(*set_, simulation.times, recorded_comm_);
  run.version = options_.version;
  run.edits = traces_.edits.has_value() ? &*traces_.edits : nullptr;
  run.cluster = assumed || cluster_.proto.name().empty() ? spec() : cluster_.proto.name();
  if (assumed && !uses_cluster) run.cluster = "";
  run.fabric = recorded_comm_ ? "" : FabricName(options_);
  run.lanes = options_.lanes;
  run.compute = compute_;
  run.comm = comm_;
  run.traces = set_;
  run.times = &simulation.times;
  run.range = RangeOfMakespan(metrics, *set_, simulation.times, options_.critical_path ? &path_ : nullptr);
  if (!recorded_comm_) {
    run.traffic = machine_->Traffic();
    run.dimensions = DimensionsOf(cluster_);
    run.links = machine_->Links(kBusiestLinks);
    run.packets = machine_->Packets();
    if (hooks_.flow_log != nullptr) run.flow_times = hooks_.flow_log->times().Rows();
  }
  if (assumed && uses_cluster) {
    run.warnings.push_back(absl::StrCat("no --cluster was named: ", kDefaultCluster, " is assumed"));
  }
  proto::Report report = MakeReport(metrics, run);
  AddRecordedMemory(traces_.captures, &report);
  RowPhases phases;
  if (plan_ != nullptr) {
    const proto::Device& device = cluster_.proto.device();
    const uint64_t memory = options_.device_memory > 0 ? options_.device_memory
                                                       : static_cast<uint64_t>(device.memory_mib()) << 20;
    phases = PhasesOf(*plan_, *set_);
    AddTraining({*plan_, *set_, simulation.times, metrics, phases, device, memory}, &report);
  }
  if (metering_ != nullptr) {
    RETURN_IF_ERROR(metering_->AddTo(run.traffic, &phases, &report));
  }
  if (!options_.reliability.empty()) {
    RETURN_IF_ERROR(AddGoodput(options_, metering_.get(), plan_, &report));
  }
  return report;
}

bool Run::TwinsAreEqual() const {
  const bool explains = hooks_.replayed || hooks_.flow_log != nullptr || options_.critical_path;
  const bool same = cluster_.variation.text().empty() && cluster_.device_of.empty();
  const uint64_t least = recorded_comm_ ? 0
                         : traces_.set.of_one_trace
                             ? std::min(options_.fold_nodes, options_.fold_nodes_of_one)
                             : options_.fold_nodes;
  return !explains && same && options_.fast_paths && traces_.set.nodes() >= least &&
         options_.lanes == "recorded" &&
         CheckTwins(traces_.twins, traces_.set, *machine_, cluster_.memory, recorded_comm_);
}

absl::Status Run::Meter(std::vector<ComputeTimes>* times, Simulation* simulation) {
  if (!options_.energy) return absl::OkStatus();
  ASSIGN_OR_RETURN(metering_, Metering::Make(options_, cluster_, *set_, simulation->twins, times,
                                             hooks_.replayed != nullptr));
  simulation->observer = metering_->observer();
  for (const auto& [file, role] : metering_->Files()) {
    RETURN_IF_ERROR(AddInput(file, role));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ComputeTimes>> Run::Prepare() {
  description_.warnings = set_->warnings;
  description_.inputs = traces_.edit_files;
  made_ = generate::PlanOf(*set_);
  RETURN_IF_ERROR(ChooseSources());
  description_.comm = comm_;
  if (recorded_comm_ && !hooks_.needs_flows.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        hooks_.needs_flows,
        " need flows, but communication takes its recorded time; expected --comm simulated, or a --cluster"));
  }
  RETURN_IF_ERROR(BuildMachine());
  twins_ = !traces_.twins.empty() && TwinsAreEqual();
  if (!traces_.twins.empty() && !twins_) {
    resolved_ = traces_.set;
    ExpandTwins(traces_.twins, &*resolved_);
    set_ = &*resolved_;
  }
  if (!traces_.jobs.empty()) {
    resolved_ = traces_.set;
    ResolveJobDimensions(traces_.jobs, DimensionSizes(cluster_), &*resolved_);
    set_ = &*resolved_;
  }
  RETURN_IF_ERROR(DescribeRanks());
  ChooseDevice();
  return PriceTraces(traces_, options_, compute_, cluster_.proto.device(), step(), &description_);
}

void Run::TakeSteps(StepMeter* meter) {
  uint64_t left_out = 0;
  description_.steps = meter->Steps(&left_out);
  if (left_out == 0) return;
  description_.warnings.push_back(
      absl::StrCat("the capture has ", left_out, " steps of ranks that the report leaves out: it has the ",
                   StepMeter::kMost, " that are furthest off, and the windows of all ranks"));
}

void Run::TellUnusedPrograms(const Metrics& metrics) {
  for (const auto& program : cluster_.collectives.programs) {
    const auto ran = [&](const ChosenAlgorithm& chosen) {
      return chosen.algorithm == program->name || absl::StartsWith(chosen.algorithm, program->name + "/");
    };
    const bool served = std::any_of(
        metrics.collectives.begin(), metrics.collectives.end(),
        [&](const auto& of) { return std::any_of(of.second.chosen.begin(), of.second.chosen.end(), ran); });
    if (!served)
      description_.warnings.push_back(absl::StrCat(Serves(*program), "; no call of this run ran it"));
  }
}

absl::StatusOr<proto::Report> Run::Go() {
  ASSIGN_OR_RETURN(auto times, Prepare());
  NodeSpans spans;
  Simulation simulation = Simulates(times);
  simulation.spans = hooks_.replayed ? &spans : nullptr;
  SpanMeters meters(traces_, *set_, options_, simulation.twins);
  simulation.ran = meters.hook();
  simulation.lane_names = meters.lane_names();
  const bool delays = std::any_of(set_->ranks.begin(), set_->ranks.end(),
                                  [](const RankTrace& rank) { return HasDelays(*rank.graph); });
  simulation.path = options_.critical_path ? &path_ : nullptr;
  simulation.pinned = delays ? &pinned_times_ : nullptr;
  FindPlan();
  RETURN_IF_ERROR(Meter(&times, &simulation));
  simulation.comm_kinds = plan_ != nullptr ? &comm_kinds_ : nullptr;
  auto metrics = Simulate(simulation, *machine_);
  if (!metrics.ok()) return ExplainStuck(metrics.status(), options_.lanes, description_);
  if (hooks_.finished) hooks_.finished(*machine_, metrics->makespan);
  TellUnusedPrograms(*metrics);
  if (metering_ != nullptr) metering_->Finish(metrics->makespan);
  simulation.observer = nullptr;  // further runs of the simulation are not metered
  simulation.ran = nullptr;
  if (meters.steps() != nullptr) TakeSteps(meters.steps());
  RETURN_IF_ERROR(FindPinned(*metrics, simulation));
  if (hooks_.replayed) {
    hooks_.replayed({*set_, spans, *metrics, options_.critical_path ? &path_ : nullptr, *machine_,
                     LanesOf(options_), DimensionSizes(cluster_), recorded_comm_,
                     metering_ == nullptr ? nullptr : &metering_->meter()});
  }
  proto::CriticalPathReport path;
  if (options_.critical_path) {
    ASSIGN_OR_RETURN(path, ExplainPath(simulation, metrics->makespan));
    description_.path = &path;
  }
  auto report = Report(*metrics, simulation);
  if (report.ok()) meters.AddTo(metrics->makespan, &*report);
  return report;
}

}  // namespace

absl::StatusOr<proto::Report> RunReplay(const LoadedTraces& traces, const RunOptions& options,
                                        const RunHooks& hooks) {
  return Run(traces, options, hooks).Go();
}

}  // namespace chakra
