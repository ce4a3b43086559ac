#include "replay/run/run.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/topology/placement.h"
#include "replay/cluster/variation.h"
#include "replay/collectives/custom/custom_program.h"
#include "replay/compute/compute.h"
#include "replay/engine/recorded/recorded_comm.h"
#include "replay/engine/symmetry/check_symmetric_ranks.h"
#include "replay/nccl/planner.h"
#include "replay/run/machine.h"
#include "replay/run/makespan_range.h"
#include "replay/run/price.h"
#include "trace/base/status_macros.h"
#include "trace/generate/write.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

constexpr size_t kBusiestLinks = 16;  // in the report

// Whether any time or group in the run depends on the cluster.
bool UsesCluster(const TraceSet& traces, const std::vector<ComputeTimes>& times, bool recorded_comm) {
  if (!recorded_comm) return true;
  for (const ComputeTimes& t : times) {
    for (const TimeSource time_source : {TimeSource::kRoofline, TimeSource::kModel, TimeSource::kRepriced}) {
      if (std::find(t.time_source.begin(), t.time_source.end(), time_source) != t.time_source.end())
        return true;
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

// The failure of a run that cannot finish, with a hint if the lanes let ranks of unequal speed make calls in
// unequal order.
absl::Status ExplainStuck(const absl::Status& failure, const std::string& lanes, const RunDescription& run) {
  const bool uneven = !run.variation.empty() || !run.placement.empty();
  if (lanes != "single" || !uneven || !absl::StrContains(failure.message(), "cannot finish")) return failure;
  return absl::Status(failure.code(),
                      absl::StrCat(failure.message(),
                                   "\n  with --lanes single each rank starts what is ready first, so ranks "
                                   "of different speed may call in different orders; --lanes recorded keeps "
                                   "the order of the trace"));
}

}  // namespace

std::string Run::spec() const { return ClusterSpec(options_); }

absl::Status Run::AddInput(const std::string& path, const std::string& role) {
  auto input = DescribeInput(path, role);
  if (input.ok()) description_.inputs.push_back(*std::move(input));
  return input.status();
}

absl::Status Run::ChooseSources() {
  description_.compute = options_.compute;
  if (description_.compute.empty()) {
    description_.compute = !traces_.HasTimes()        ? std::string(kDefaultTimeSources)
                           : options_.kernels.empty() ? "recorded"
                                                      : "table,recorded";
  }
  description_.comm = options_.comm;
  if (description_.comm.empty()) {
    description_.comm =
        !traces_.captures.empty() && options_.cluster.empty() ? kRecordedComm : kSimulatedComm;
  }
  if (description_.comm == kSimulatedComm) return absl::OkStatus();
  const absl::Status possible = CheckRecordedComm(*set_, &description_.warnings);
  recorded_comm_ = possible.ok();
  if (recorded_comm_ && set_->of_one_trace) {
    description_.warnings.push_back(
        "communication keeps its recorded time, although its groups have another number of ranks; --cluster "
        "or --comm simulated simulates it");
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
  description_.comm = kSimulatedComm;
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
  if (!open && !absl::StrContains(description_.compute, Name(TimeSource::kRepriced))) return;
  description_.captured_on = FindCapturedOn(traces_, cluster_.proto.device(), &description_.warnings);
  if (!open || !description_.captured_on.has_value()) return;
  description_.compute = options_.kernels.empty() ? "repriced,recorded" : "table,repriced,recorded";
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
        "the placement has no effect: communication took its recorded time (--comm recorded)");
  if (LooksLikePlacementRule(description_.placement)) return absl::OkStatus();
  return AddInput(description_.placement, "placement");
}

bool Run::SymmetricRanksAreEqual() const {
  const bool explains = each_rank_ || hooks_.flow_log != nullptr || options_.critical_path;
  const bool same = cluster_.variation.text().empty() && cluster_.device_of.empty();
  const uint64_t least = recorded_comm_ ? 0
                         : traces_.set.of_one_trace
                             ? std::min(options_.fold_nodes, options_.fold_nodes_of_one)
                             : options_.fold_nodes;
  return !explains && same && options_.fast_paths && traces_.set.nodes() >= least &&
         options_.lanes == "recorded" &&
         CheckSymmetricRanks(traces_.symmetric, traces_.set, *machine_, cluster_.memory, recorded_comm_);
}

absl::Status Run::Prepare() {
  description_.warnings = set_->warnings;
  description_.inputs = traces_.edit_files;
  made_ = generate::PlanOf(*set_);
  RETURN_IF_ERROR(ChooseSources());
  if (recorded_comm_ && !hooks_.needs_flows.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        hooks_.needs_flows,
        " need flows, but communication takes its recorded time; expected --comm simulated, or a --cluster"));
  }
  RETURN_IF_ERROR(BuildMachine());
  symmetric_ = !traces_.symmetric.empty() && SymmetricRanksAreEqual();
  if (!traces_.symmetric.empty() && !symmetric_) {
    resolved_ = traces_.set;
    ExpandSymmetricRanks(traces_.symmetric, &*resolved_);
    set_ = &*resolved_;
  }
  if (!traces_.jobs.empty()) {
    resolved_ = traces_.set;
    ResolveJobDimensions(traces_.jobs, DimensionSizes(cluster_), &*resolved_);
    set_ = &*resolved_;
  }
  RETURN_IF_ERROR(DescribeRanks());
  ChooseDevice();
  ASSIGN_OR_RETURN(times_, PriceTraces(traces_, options_, description_.compute, cluster_.proto.device(),
                                       step(), &description_));
  return absl::OkStatus();
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
      description_.warnings.push_back(absl::StrCat(Serves(*program), "; no call of this run used it"));
  }
}

Simulation Run::simulation() const {
  Simulation simulation = {options_,       cluster_,        *set_,           traces_.jobs, times_,
                           recorded_comm_, hooks_.flow_log, hooks_.progress, hooks_.stop};
  simulation.symmetric = symmetric_ ? &traces_.symmetric : nullptr;
  return simulation;
}

absl::StatusOr<Metrics> Run::Go(const Simulation& simulation) {
  auto metrics = Simulate(simulation, *machine_);
  if (!metrics.ok()) return ExplainStuck(metrics.status(), options_.lanes, description_);
  TellUnusedPrograms(*metrics);
  return metrics;
}

void Run::Describe(const Metrics& metrics, const CriticalPath* path) {
  RunDescription& run = description_;
  const bool assumed = options_.cluster.empty();
  const bool uses_cluster = UsesCluster(*set_, times_, recorded_comm_);
  run.version = options_.version;
  run.edits = traces_.edits.has_value() ? &*traces_.edits : nullptr;
  run.cluster = assumed || cluster_.proto.name().empty() ? spec() : cluster_.proto.name();
  if (assumed && !uses_cluster) run.cluster = "";
  run.fabric = recorded_comm_ ? "" : FabricName(options_);
  run.lanes = options_.lanes;
  run.traces = set_;
  run.times = &times_;
  run.range = RangeOfMakespan(metrics, *set_, times_, path);
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
}

}  // namespace chakra
