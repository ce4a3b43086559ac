#include "replay/report/run_replay.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/critical_path/attribution.h"
#include "replay/critical_path/sensitivity.h"
#include "replay/critical_path/without_fixed_time.h"
#include "replay/engine/causes/critical_path.h"
#include "replay/engine/causes/fixed_time.h"
#include "replay/report/fixed_time.h"
#include "replay/report/goodput.h"
#include "replay/report/metering.h"
#include "replay/report/report.h"
#include "replay/report/span_meters.h"
#include "replay/report/training.h"
#include "replay/run/steps.h"
#include "trace/base/status_macros.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

// Whether some nodes of devices take time, and no node of the host does.
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

// Adds the peak memory of captures whose allocators recorded it.
void AddRecordedMemory(const std::vector<std::optional<CaptureInfo>>& captures, proto::Report* report) {
  for (size_t r = 0; r < captures.size() && static_cast<int>(r) < report->rank_size(); ++r) {
    const uint64_t bytes = captures[r].has_value() ? captures[r]->peak_allocated_bytes : 0;
    if (bytes == 0) continue;
    report->mutable_rank(static_cast<int>(r))->set_peak_memory_bytes(bytes);
    report->set_peak_memory_bytes(std::max(report->peak_memory_bytes(), bytes));
  }
}

// The makespan of a run as it is, and without fixed time.
absl::StatusOr<MakespansWithoutFixedTime> Measure(const LoadedTraces& traces, const RunOptions& options) {
  const RunHooks hooks;
  Run run(traces, options, hooks, false);
  RETURN_IF_ERROR(run.Prepare());
  const Simulation simulation = run.simulation();
  ASSIGN_OR_RETURN(const auto metrics, run.Go(simulation));
  ASSIGN_OR_RETURN(const auto without, MakespanWithoutFixedTime(simulation));
  return MakespansWithoutFixedTime{metrics.makespan, without};
}

// A run with everything that is measured on it.
class ReportedRun {
 public:
  ReportedRun(const LoadedTraces& traces, const RunOptions& options, const ReplayHooks& hooks)
      : options_(options), hooks_(hooks), run_(traces, options, hooks, hooks.replayed != nullptr) {}
  absl::StatusOr<proto::Report> Go();

 private:
  // Finds the generated step of the traces, for the report.
  void FindPlan();
  void TakeSteps(StepMeter* meter);
  // Meters the simulation if the options ask for energy. A power cap slows the times of computation.
  absl::Status Meter(Simulation* simulation);
  // Fills fixed_time_. Error: more time is fixed than the options allow.
  absl::Status FindFixedTime(const Metrics& metrics, const Simulation& simulation);
  absl::StatusOr<proto::CriticalPathReport> ExplainPath(const Simulation& simulation, Time makespan) const;
  absl::StatusOr<proto::Report> Report(const Metrics& metrics);

  const CriticalPath* path() const { return options_.critical_path ? &path_ : nullptr; }
  std::vector<std::string>& warnings() { return run_.description()->warnings; }

  const RunOptions& options_;
  const ReplayHooks& hooks_;
  Run run_;
  const generate::StepPlan* plan_ = nullptr;      // null for several jobs
  std::vector<std::vector<uint8_t>> comm_kinds_;  // with plan_
  CriticalPath path_;
  FixedTimeRun fixed_time_times_;
  proto::FixedTimeReport fixed_time_;
  std::unique_ptr<Metering> metering_;  // null: the options do not ask for energy
};

void ReportedRun::FindPlan() {
  if (!run_.traces().jobs.empty()) return;
  if (!run_.step_error().ok()) {
    warnings().push_back(std::string(run_.step_error().message()));
    return;
  }
  plan_ = run_.step();
  if (plan_ != nullptr) comm_kinds_ = CommKindsOf(run_.set());
}

void ReportedRun::TakeSteps(StepMeter* meter) {
  uint64_t left_out = 0;
  run_.description()->steps = meter->Steps(&left_out);
  if (left_out == 0) return;
  warnings().push_back(
      absl::StrCat("the capture has ", left_out, " steps of ranks that the report leaves out: it has the ",
                   StepMeter::kMost, " that are furthest off, and the windows of all ranks"));
}

absl::Status ReportedRun::Meter(Simulation* simulation) {
  if (!options_.energy) return absl::OkStatus();
  ASSIGN_OR_RETURN(metering_, Metering::Make(options_, run_.cluster(), run_.set(), simulation->symmetric,
                                             run_.times(), hooks_.replayed != nullptr));
  simulation->observer = metering_->observer();
  for (const auto& [file, role] : metering_->Files()) {
    RETURN_IF_ERROR(run_.AddInput(file, role));
  }
  return absl::OkStatus();
}

absl::Status ReportedRun::FindFixedTime(const Metrics& metrics, const Simulation& simulation) {
  if (simulation.fixed_time == nullptr) return absl::OkStatus();
  const std::vector<Time> starts = RankStarts(simulation.jobs, run_.cluster().variation);
  fixed_time_ = MakeFixedTimeReport(fixed_time_times_, metrics, starts);
  run_.description()->fixed_time = &fixed_time_;
  if (options_.strict_causes >= 0) {
    RETURN_IF_ERROR(CheckFixedTime(fixed_time_, options_.strict_causes));
  }
  const std::string warning = WarnOfFixedTime(fixed_time_, [&] { return ShowsDeviceAlone(run_.set()); });
  if (warning.empty()) return absl::OkStatus();
  warnings().push_back(warning);
  if (!run_.traces().edits.has_value() || !hooks_.unedited) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto without, MakespanWithoutFixedTime(simulation));
  ASSIGN_OR_RETURN(const auto unedited, hooks_.unedited());
  ASSIGN_OR_RETURN(const auto before, Measure(unedited, options_));
  *fixed_time_.mutable_held() = HeldByFixedTime(before, {metrics.makespan, without});
  if (std::string held = WarnOfHeldEdits(fixed_time_, metrics.makespan); !held.empty())
    warnings().push_back(std::move(held));
  return absl::OkStatus();
}

absl::StatusOr<proto::CriticalPathReport> ReportedRun::ExplainPath(const Simulation& simulation,
                                                                   Time makespan) const {
  std::vector<PathChange> changes;
  proto::CriticalPathReport path =
      AttributePath(path_, run_.set(), LanesOf(options_), LinkKindsOf(run_.cluster().topology), &changes);
  if (options_.sensitivity) {
    RETURN_IF_ERROR(MeasureSensitivities(simulation, makespan, changes, &path));
  }
  return path;
}

absl::StatusOr<proto::Report> ReportedRun::Report(const Metrics& metrics) {
  run_.Describe(metrics, path());
  proto::Report report = MakeReport(metrics, *run_.description());
  AddRecordedMemory(run_.traces().captures, &report);
  RowPhases phases;
  if (plan_ != nullptr) {
    const proto::Device& device = run_.cluster().proto.device();
    const uint64_t memory = options_.device_memory > 0 ? options_.device_memory
                                                       : static_cast<uint64_t>(device.memory_mib()) << 20;
    phases = PhasesOf(*plan_, run_.set());
    AddTraining({*plan_, run_.set(), *run_.times(), metrics, phases, device, memory}, &report);
  }
  if (metering_ != nullptr) {
    RETURN_IF_ERROR(metering_->AddTo(run_.description()->traffic, &phases, &report));
  }
  if (!options_.reliability.empty()) {
    RETURN_IF_ERROR(AddGoodput(options_, metering_.get(), plan_, &report));
  }
  return report;
}

absl::StatusOr<proto::Report> ReportedRun::Go() {
  RETURN_IF_ERROR(run_.Prepare());
  NodeSpans spans;
  Simulation simulation = run_.simulation();
  simulation.spans = hooks_.replayed ? &spans : nullptr;
  SpanMeters meters(run_.traces(), run_.set(), options_, simulation.symmetric);
  simulation.ran = meters.hook();
  simulation.lane_names = meters.lane_names();
  const bool delays = std::any_of(run_.set().ranks.begin(), run_.set().ranks.end(),
                                  [](const RankTrace& rank) { return HasDelays(*rank.graph); });
  simulation.path = options_.critical_path ? &path_ : nullptr;
  simulation.fixed_time = delays ? &fixed_time_times_ : nullptr;
  FindPlan();
  RETURN_IF_ERROR(Meter(&simulation));
  simulation.comm_kinds = plan_ != nullptr ? &comm_kinds_ : nullptr;
  ASSIGN_OR_RETURN(const auto metrics, run_.Go(simulation));
  if (hooks_.finished) hooks_.finished(run_.machine(), metrics.makespan);
  if (metering_ != nullptr) metering_->Finish(metrics.makespan);
  simulation.observer = nullptr;  // later runs of the simulation are not metered
  simulation.ran = nullptr;
  if (meters.steps() != nullptr) TakeSteps(meters.steps());
  RETURN_IF_ERROR(FindFixedTime(metrics, simulation));
  if (hooks_.replayed) {
    hooks_.replayed({run_.set(), spans, metrics, path(), run_.machine(), LanesOf(options_),
                     DimensionSizes(run_.cluster()), run_.recorded_comm(),
                     metering_ == nullptr ? nullptr : &metering_->meter()});
  }
  proto::CriticalPathReport explained;
  if (options_.critical_path) {
    ASSIGN_OR_RETURN(explained, ExplainPath(simulation, metrics.makespan));
    run_.description()->path = &explained;
  }
  auto report = Report(metrics);
  if (report.ok()) meters.AddTo(metrics.makespan, &*report);
  return report;
}

}  // namespace

absl::StatusOr<proto::Report> RunReplay(const LoadedTraces& traces, const RunOptions& options,
                                        const ReplayHooks& hooks) {
  return ReportedRun(traces, options, hooks).Go();
}

}  // namespace chakra
