#include "replay/run/run.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/placed_fabric.h"
#include "backends/registry.h"
#include "backends/topology/placement.h"
#include "replay/cluster.h"
#include "replay/collectives/custom/custom_program.h"
#include "replay/compute/compute.h"
#include "replay/measure/steps.h"
#include "replay/recorded_comm.h"
#include "replay/report/report.h"
#include "replay/run/machine.h"
#include "replay/run/price.h"
#include "replay/variation.h"
#include "replay/why/attribution.h"
#include "replay/why/critical_path.h"

namespace chakra {
namespace {

constexpr size_t kBusiestLinks = 16;  // in the report

std::vector<int> DimensionSizes(const ClusterModel& cluster) {
  std::vector<int> sizes;
  for (const TopologyDimension& d : cluster.topology.dimensions()) sizes.push_back(d.size);
  return sizes;
}

LanePolicy ParseLanes(const std::string& name) {
  if (name == "single") return LanePolicy::kSingle;
  if (name == "unlimited") return LanePolicy::kUnlimited;
  return LanePolicy::kRecorded;
}

// Whether anything in the run took its time, or its groups, from the cluster.
bool UsesCluster(const TraceSet& traces, const std::vector<ComputeTimes>& times, bool recorded_comm) {
  if (!recorded_comm) return true;
  for (const ComputeTimes& t : times) {
    if (std::find(t.rung.begin(), t.rung.end(), ComputeRung::kRoofline) != t.rung.end()) return true;
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

class Run {
 public:
  Run(const LoadedTraces& traces, const RunOptions& options, const RunHooks& hooks)
      : traces_(traces), options_(options), hooks_(hooks), set_(&traces.set) {}

  absl::StatusOr<proto::Report> Go();

 private:
  absl::Status AddInput(const std::string& path, const std::string& role);
  // Settles what the options leave open: for captures, what was measured.
  absl::Status ChooseSources();
  absl::Status BuildMachine();
  absl::Status BuildFabric();
  // What varies, and where the ranks sit.
  absl::Status DescribeRanks();
  absl::StatusOr<Metrics> Simulate(const std::vector<ComputeTimes>& times, NodeSpans* spans);
  proto::CriticalPathReport ExplainPath() const;
  proto::Report Report(const Metrics& metrics, const std::vector<ComputeTimes>& times,
                       const NodeSpans& spans);
  std::string spec() const { return ClusterSpec(options_); }
  std::string fabric_name() const { return options_.fabric.empty() ? kDefaultFabric : options_.fabric; }

  const LoadedTraces& traces_;
  const RunOptions& options_;
  const RunHooks& hooks_;
  const TraceSet* set_;
  std::optional<TraceSet> resolved_;  // of several jobs: with the groups that the machine's dimensions give
  RunDescription description_;
  std::string compute_, comm_;
  bool recorded_comm_ = false;
  ClusterModel cluster_;
  CriticalPath path_;
  std::unique_ptr<Fabric> fabric_;
};

absl::Status Run::AddInput(const std::string& path, const std::string& role) {
  auto input = DescribeInput(path, role);
  if (input.ok()) description_.inputs.push_back(*std::move(input));
  return input.status();
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
  auto cluster = chakra::BuildMachine(options_, static_cast<int>(set_->ranks.size()), &warnings);
  if (!cluster.ok()) return cluster.status();
  std::error_code error;
  if (std::filesystem::is_regular_file(spec(), error)) {
    if (absl::Status s = AddInput(spec(), "cluster"); !s.ok()) return s;
  }
  for (const auto& program : cluster->collectives.programs) {
    warnings.insert(warnings.end(), program->warnings.begin(), program->warnings.end());
  }
  warnings.insert(warnings.end(), cluster->notes.begin(), cluster->notes.end());
  cluster_ = *std::move(cluster);
  if (hooks_.machine) hooks_.machine(cluster_.topology);
  return absl::OkStatus();
}

absl::Status Run::BuildFabric() {
  FabricOptions options = options_.fabric_options;
  options.routing = cluster_.routing;
  options.changes = cluster_.link_changes;
  options.packet = cluster_.packet;
  options.packet_given = cluster_.packet_given;
  options.choices = cluster_.choices;
  auto fabric = MakeFabric(fabric_name(), cluster_.topology, options);
  if (!fabric.ok()) return fabric.status();
  if (hooks_.flow_log != nullptr) {
    hooks_.flow_log->SetRanks(cluster_.device_of, static_cast<int>(set_->ranks.size()));
    *fabric = Logged(*std::move(fabric), hooks_.flow_log);
  }
  fabric_ = Place(*std::move(fabric), cluster_.device_of);
  return absl::OkStatus();
}

absl::Status Run::DescribeRanks() {
  description_.variation = cluster_.variation.text();
  description_.jobs = traces_.jobs;
  if (cluster_.device_of.empty()) return absl::OkStatus();
  description_.placement = cluster_.proto.placement().rule();
  if (recorded_comm_)
    description_.warnings.push_back(
        "the placement moves no communication: it took its recorded time (--comm recorded)");
  if (LooksLikePlacementRule(description_.placement)) return absl::OkStatus();
  return AddInput(description_.placement, "placement");
}

absl::StatusOr<Metrics> Run::Simulate(const std::vector<ComputeTimes>& times, NodeSpans* spans) {
  EngineOptions options;
  options.lanes = ParseLanes(options_.lanes);
  options.memory = cluster_.memory;
  options.collectives = cluster_.collectives;
  options.fast_paths = options_.fast_paths && hooks_.flow_log == nullptr;
  options.flow_log = hooks_.flow_log;
  options.strict = options_.strict;
  options.recorded_comm = recorded_comm_;
  options.spans = spans;
  options.path = options_.critical_path ? &path_ : nullptr;
  options.variation = cluster_.variation.varies_compute() ? &cluster_.variation : nullptr;
  options.device_of = cluster_.device_of;
  options.start = RankStarts(traces_.jobs, cluster_.variation);
  options.dimension_sizes = DimensionSizes(cluster_);
  options.progress = hooks_.progress;
  return Replay(*set_, times, *fabric_, options);
}

proto::CriticalPathReport Run::ExplainPath() const {
  std::vector<std::string> levels;
  for (const TopologyDimension& d : cluster_.topology.dimensions()) levels.push_back(d.name);
  return Attribute(path_, *set_, ParseLanes(options_.lanes), levels);
}

proto::Report Run::Report(const Metrics& metrics, const std::vector<ComputeTimes>& times,
                          const NodeSpans& spans) {
  RunDescription& run = description_;
  const bool assumed = options_.cluster.empty();
  const bool uses_cluster = UsesCluster(*set_, times, recorded_comm_);
  run.version = options_.version;
  run.edits = traces_.edits.has_value() ? &*traces_.edits : nullptr;
  run.cluster = assumed || cluster_.proto.name().empty() ? spec() : cluster_.proto.name();
  if (assumed && !uses_cluster) run.cluster = "";
  run.fabric = recorded_comm_ ? "" : fabric_name();
  run.lanes = options_.lanes;
  run.compute = compute_;
  run.comm = comm_;
  run.steps = MeasureSteps(*set_, traces_.captures, spans);
  run.traces = set_;
  run.times = &times;
  if (!recorded_comm_) {
    run.traffic = fabric_->Traffic();
    run.links = fabric_->Links(kBusiestLinks);
    run.packets = fabric_->Packets();
    if (hooks_.flow_log != nullptr) run.flow_times = hooks_.flow_log->times().Rows();
  }
  if (assumed && uses_cluster) {
    run.warnings.push_back(absl::StrCat("no --cluster was named: ", kDefaultCluster, " is assumed"));
  }
  proto::CriticalPathReport path;
  if (options_.critical_path) {
    path = ExplainPath();
    run.path = &path;
  }
  return MakeReport(metrics, run);
}

absl::StatusOr<proto::Report> Run::Go() {
  description_.warnings = set_->warnings;
  description_.inputs = traces_.edit_files;
  if (absl::Status s = ChooseSources(); !s.ok()) return s;
  if (recorded_comm_ && !hooks_.needs_flows.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        hooks_.needs_flows,
        " need flows, but communication takes its recorded time; expected --comm simulated, or a --cluster"));
  }
  if (absl::Status s = BuildMachine(); !s.ok()) return s;
  if (absl::Status s = BuildFabric(); !s.ok()) return s;
  if (!traces_.jobs.empty()) {
    resolved_ = traces_.set;
    ResolveJobDimensions(traces_.jobs, DimensionSizes(cluster_), &*resolved_);
    set_ = &*resolved_;
  }
  if (absl::Status s = DescribeRanks(); !s.ok()) return s;
  auto times = PriceTraces(traces_, options_, compute_, cluster_.proto.device(), &description_);
  if (!times.ok()) return times.status();
  NodeSpans spans;
  const bool timed = !traces_.captures.empty() || hooks_.replayed;
  auto metrics = Simulate(*times, timed ? &spans : nullptr);
  if (!metrics.ok()) return ExplainStuck(metrics.status(), options_.lanes, description_);
  if (hooks_.finished) hooks_.finished(*fabric_, metrics->makespan);
  if (hooks_.replayed) {
    hooks_.replayed({*set_, spans, *metrics, options_.critical_path ? &path_ : nullptr, *fabric_,
                     ParseLanes(options_.lanes), DimensionSizes(cluster_), recorded_comm_});
  }
  return Report(*metrics, *times, spans);
}

}  // namespace

absl::StatusOr<proto::Report> RunReplay(const LoadedTraces& traces, const RunOptions& options,
                                        const RunHooks& hooks) {
  return Run(traces, options, hooks).Go();
}

}  // namespace chakra
