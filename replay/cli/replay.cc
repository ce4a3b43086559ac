#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/placed_fabric.h"
#include "backends/registry.h"
#include "backends/topology/placement.h"
#include "replay/cli/capture_options.h"
#include "replay/cli/command.h"
#include "replay/cli/edit_options.h"
#include "replay/cli/log_options.h"
#include "replay/cli/progress.h"
#include "replay/cli/rank_options.h"
#include "replay/cluster.h"
#include "replay/collectives/custom/custom_program.h"
#include "replay/compute/compute.h"
#include "replay/compute/kernel_table.h"
#include "replay/engine.h"
#include "replay/flow_log.h"
#include "replay/measure/steps.h"
#include "replay/recorded_comm.h"
#include "replay/report/report.h"
#include "replay/symmetric.h"
#include "trace/capture_info.h"
#include "trace/checksum.h"
#include "trace/proto_io.h"
#include "trace/reader.h"

namespace chakra::cli {
namespace {

constexpr char kDefaultCluster[] = "dgx-h100";
constexpr char kDefaultFabric[] = "analytical";
constexpr char kRecorded[] = "recorded";
constexpr char kSimulated[] = "simulated";
constexpr size_t kBusiestLinks = 16;  // in the report

std::vector<int> DimensionSizes(const ClusterModel& cluster) {
  std::vector<int> sizes;
  for (const TopologyDimension& d : cluster.topology.dimensions()) sizes.push_back(d.size);
  return sizes;
}

// Adds a file that the run read to the description.
absl::Status AddInput(const std::string& path, const std::string& role, RunDescription* run) {
  auto content = ReadFile(path);
  if (!content.ok()) return content.status();
  run->inputs.push_back({path, Sha256Hex(*content), content->size(), role});
  return absl::OkStatus();
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

class ReplayCommand : public Command {
 public:
  explicit ReplayCommand(CLI::App* app) : Command(app) {
    app->allow_extras();
    app->add_option("TRACE", inputs_,
                    "Trace files, directories, prefixes (dir/workload), tar archives, or a PyTorch capture")
        ->type_name("");
    AddMachineOptions(app);
    AddTraceOptions(app);
    edits_.AddTo(app, "--edit", "Edits, in the order in which they are given");
    rank_options_.AddTo(app);
    AddCaptureOptions(app, &read_);
    AddReportOptions(app);
    logs_.AddTo(app, "Logs");
    app->footer(
        "Example:\n"
        "  chakra-replay replay examples/transformer_step --cluster dgx-a100 --format json --report "
        "run.json");
  }

  int Run() override;

 private:
  void AddMachineOptions(CLI::App* app);
  void AddTraceOptions(CLI::App* app);
  void AddReportOptions(CLI::App* app);
  // The report's format: --format, else by the name of --report, else text.
  std::string Format() const;
  // Whether the traces are a capture with times; host traces alone have none.
  bool HasTimes() const;
  // Settles what the command line leaves open: for captures, what was measured.
  absl::Status ChooseSources(RunDescription* run);
  // What varies, and where the ranks sit.
  absl::Status DescribeRanks(const ClusterModel& cluster, RunDescription* run) const;
  // Reads traces_, with their edits.
  absl::Status Read();
  absl::StatusOr<std::string> Replay();
  // Compute times of each distinct graph.
  absl::StatusOr<std::vector<ComputeTimes>> Price(const std::vector<ComputeRung>& rungs,
                                                  const proto::Device& device, RunDescription* run) const;
  absl::StatusOr<Metrics> RunEngine(const ClusterModel& cluster, const std::vector<ComputeTimes>& times,
                                    Fabric& fabric, NodeSpans* spans);

  std::vector<std::string> inputs_;
  ReadOptions read_;
  TraceSet traces_;
  RankOptions rank_options_;
  EditOptions edits_;
  std::optional<proto::EditReport> edited_;
  std::vector<Job> jobs_;                             // empty: one
  std::vector<std::optional<CaptureInfo>> captures_;  // by rank; empty: no capture
  std::string cluster_;
  std::string fabric_ = kDefaultFabric;
  FabricOptions fabric_options_;
  TopologyOptions topology_;
  std::string lanes_ = "recorded";
  std::string compute_;  // "": not chosen yet
  std::string comm_;     // likewise
  std::string kernels_;
  std::vector<std::string> programs_;
  int ranks_ = 0;
  bool no_fast_path_ = false;
  std::string report_ = "-";
  std::string format_;
  bool quiet_ = false;
  LogOptions logs_;
  absl::Status logged_;  // after the run; it is told when the report is out
};

void ReplayCommand::AddMachineOptions(CLI::App* app) {
  const std::string g = "Machine";
  app->add_option(
         "--cluster", cluster_,
         absl::StrCat("A preset, PRESET:key=value,... or a cluster file; default: ", kDefaultCluster))
      ->type_name("SPEC")
      ->group(g);
  app->add_option("--fabric", fabric_,
                  absl::StrCat(absl::StrJoin(FabricNames(), ", "), "; default: ", kDefaultFabric))
      ->type_name("NAME")
      ->group(g);
  app->add_flag("--store-and-forward", fabric_options_.store_and_forward,
                "Each link takes a whole message before the next does (to compare with ASTRA-sim)")
      ->group(g);
  AddTopologyOptions(app, g, &topology_);
  AddFlowOptions(app, g, &fabric_options_);
  app->add_flag("--link-series", fabric_options_.link_series,
                "Report what was taken of the busiest links over time, for --fabric fluid, packet and mixed")
      ->group(g);
  app->add_option(
         "--compute", compute_,
         absl::StrCat("Where compute times come from, in order: table, interpolate, roofline, recorded; default: ",
                      std::string(kDefaultRungs), "; for a capture recorded (after --kernels)"))
      ->type_name("LIST")
      ->group(g);
  app->add_option(
         "--comm", comm_,
         "What communication costs: recorded (the transfer that was measured, begun when the last rank "
         "arrives; the default for a capture without --cluster) or simulated (flows on the fabric)")
      ->type_name("COST")
      ->check(CLI::IsMember({kSimulated, kRecorded}).description(""))
      ->group(g);
  app->add_option(
         "--program", programs_,
         "Collective algorithms from files: MSCCL XML, or COLLECTIVE=PREFIX of Chakra traces; may be "
         "repeated")
      ->type_name("SPEC")
      ->group(g);
  app->add_option("--kernels", kernels_, "Kernel table for --compute table and interpolate")->type_name("FILE")->group(g);
}

void ReplayCommand::AddTraceOptions(CLI::App* app) {
  const std::string g = "Trace";
  app->add_option(
         "--lanes", lanes_,
         "recorded (threads and streams of the trace), single (one CPU, one compute, one communication "
         "lane) or unlimited (dependencies alone); default: recorded")
      ->type_name("POLICY")
      ->check(CLI::IsMember({"recorded", "single", "unlimited"}).description(""))
      ->group(g);
  app->add_option("--groups", read_.groups_file, "Communicator groups; default: found beside the traces")
      ->type_name("FILE")
      ->group(g);
  app->add_option(
         "--ranks", ranks_,
         "Replay one trace (each job of one trace) as N equal ranks; peers of sends and receives are "
         "taken relative to the traced rank, modulo N")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 24).description(""))
      ->group(g);
  app->add_flag("--strict", read_.strict, "Refuse what would otherwise be repaired")->group(g);
  app->add_flag("--allow-truncated", read_.allow_truncated, "Drop a partial last node instead of refusing it")
      ->group(g);
}

void ReplayCommand::AddReportOptions(CLI::App* app) {
  const std::string g = "Report and run";
  app->add_option("--report", report_, "Where the report goes; - is standard output, the default")
      ->type_name("FILE|-")
      ->group(g);
  app->add_option("--format", format_,
                  "text, json or csv; default: by the end of --report's name (.json, .csv), else text")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "csv"}).description(""))
      ->group(g);
  app->add_option(
         "--threads", read_.threads,
         "Threads that read traces and run --fabric packet; the result does not depend on it; default: "
         "the machine's cores")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""))
      ->group(g);
  app->add_flag("--no-fast-path", no_fast_path_, "Simulate every flow, even where a closed form is exact")
      ->group(g);
  app->add_flag("-q,--quiet", quiet_, "No progress line")->group(g);
  read_.threads = DefaultThreads();
}

std::string ReplayCommand::Format() const {
  if (!format_.empty()) return format_;
  for (const char* name : {"json", "csv"}) {
    const std::string end = std::string(".") + name;
    if (report_.size() > end.size() && report_.compare(report_.size() - end.size(), end.size(), end) == 0) {
      return name;
    }
  }
  return "text";
}

absl::StatusOr<Metrics> ReplayCommand::RunEngine(const ClusterModel& cluster,
                                                 const std::vector<ComputeTimes>& times, Fabric& fabric,
                                                 NodeSpans* spans) {
  EngineOptions options;
  options.lanes = ParseLanes(lanes_);
  options.memory = cluster.memory;
  options.collectives = cluster.collectives;
  options.fast_paths = !no_fast_path_ && logs_.flow_log() == nullptr;
  options.flow_log = logs_.flow_log();
  options.strict = read_.strict;
  options.recorded_comm = comm_ == kRecorded;
  options.spans = spans;
  options.variation = cluster.variation.varies_compute() ? &cluster.variation : nullptr;
  options.device_of = cluster.device_of;
  options.start = RankStarts(jobs_, cluster.variation);
  options.dimension_sizes = DimensionSizes(cluster);
  ProgressLine line(quiet_);
  if (line.enabled()) options.progress = [&line](const Progress& p) { line.Update(p); };
  return chakra::Replay(traces_, times, fabric, options);
}

absl::StatusOr<std::vector<ComputeTimes>> ReplayCommand::Price(const std::vector<ComputeRung>& rungs,
                                                               const proto::Device& device,
                                                               RunDescription* run) const {
  ComputeModel model;
  model.rungs = rungs;
  model.device = &device;
  model.zeros_recorded = HasTimes();
  absl::StatusOr<KernelTableIndex> index = absl::NotFoundError("");
  std::optional<KernelInterpolation> between;
  const bool interpolate = std::find(rungs.begin(), rungs.end(), ComputeRung::kInterpolate) != rungs.end();
  if (interpolate && kernels_.empty()) {
    run->warnings.push_back("--compute interpolate has no kernel table (--kernels) and answers nothing");
  }
  if (!kernels_.empty()) {
    auto table = LoadKernelTable(kernels_);
    if (!table.ok()) return table.status();
    index = KernelTableIndex::Make(*table, kernels_);
    if (!index.ok()) return index.status();
    model.table = &*index;
    if (interpolate) model.interpolation = &between.emplace(*table);
    if (absl::Status s = AddInput(kernels_, "kernels", run); !s.ok()) return s;
  }
  ComputeNotes notes;
  std::vector<ComputeTimes> times;
  for (const Graph* graph : DistinctGraphs(traces_).graphs) {
    auto priced = PriceGraph(*graph, model, &notes);
    if (!priced.ok()) return priced.status();
    times.push_back(*std::move(priced));
  }
  for (const auto& [dtype, nodes] : notes.unknown_peak) {
    run->warnings.push_back(absl::StrCat("the device gives no peak for ",
                                         dtype.empty() ? "an unknown type" : dtype, ": ", nodes,
                                         " nodes take the default type's"));
  }
  return times;
}

bool ReplayCommand::HasTimes() const {
  return !captures_.empty() && std::all_of(captures_.begin(), captures_.end(), [](const auto& capture) {
    return capture.has_value() && capture->window_end > Time::Zero();
  });
}

absl::Status ReplayCommand::ChooseSources(RunDescription* run) {
  for (const RankTrace& trace : traces_.ranks) {
    auto capture = ReadCaptureInfo(trace);
    if (!capture.ok()) return capture.status();
    if (captures_.empty() && !capture->has_value()) break;
    captures_.push_back(*std::move(capture));
  }
  const bool capture = !captures_.empty();
  if (compute_.empty()) {
    compute_ = !HasTimes() ? std::string(kDefaultRungs) : kernels_.empty() ? kRecorded : "table,recorded";
  }
  const bool chosen = !comm_.empty();
  if (!chosen) comm_ = capture && cluster_.empty() ? kRecorded : kSimulated;
  if (comm_ == kSimulated) return absl::OkStatus();
  absl::Status possible = CheckRecordedComm(traces_, &run->warnings);
  if (possible.ok()) {
    if (app()->count("--fabric") > 0) {
      run->warnings.push_back(
          "--fabric has no effect: communication took its recorded time (--comm recorded)");
    }
    return possible;
  }
  if (chosen) return absl::Status(possible.code(), absl::StrCat("--comm recorded: ", possible.message()));
  comm_ = kSimulated;
  run->warnings.push_back("the capture has no recorded durations of communication, which was simulated");
  return absl::OkStatus();
}

absl::Status ReplayCommand::DescribeRanks(const ClusterModel& cluster, RunDescription* run) const {
  run->variation = cluster.variation.text();
  run->jobs = jobs_;
  if (cluster.device_of.empty()) return absl::OkStatus();
  run->placement = cluster.proto.placement().rule();
  if (comm_ == kRecorded)
    run->warnings.push_back(
        "the placement moves no communication: it took its recorded time (--comm recorded)");
  if (LooksLikePlacementRule(run->placement)) return absl::OkStatus();
  return AddInput(run->placement, "placement", run);
}

absl::StatusOr<std::string> ReplayCommand::Replay() {
  RunDescription run;
  run.warnings = traces_.warnings;
  for (const std::string& file : edits_.files()) {
    if (absl::Status s = AddInput(file, "edits", &run); !s.ok()) return s;
  }
  if (absl::Status s = ChooseSources(&run); !s.ok()) return s;
  const bool recorded_comm = comm_ == kRecorded;
  if (recorded_comm && logs_.any()) {
    return absl::InvalidArgumentError(
        "--flow-log, --link-log and --link-totals need flows, but communication takes its recorded time; "
        "expected "
        "--comm simulated, or a --cluster");
  }
  const auto rungs = ParseRungs(compute_);
  if (!rungs.ok()) return rungs.status();
  const std::string spec = cluster_.empty() ? kDefaultCluster : cluster_;
  auto loaded = LoadCluster(spec, &run.warnings);
  if (!loaded.ok()) return loaded.status();
  for (const std::string& p : programs_) loaded->mutable_collectives()->add_program(p);
  if (absl::Status s = rank_options_.Apply(&*loaded); !s.ok()) return s;
  if (absl::Status s = ApplyTopologyOptions(topology_, &*loaded, &run.warnings); !s.ok()) return s;
  std::error_code error;
  if (std::filesystem::is_regular_file(spec, error)) {
    if (absl::Status s = AddInput(spec, "cluster", &run); !s.ok()) return s;
  }
  auto cluster = BuildCluster(*loaded, static_cast<int>(traces_.ranks.size()));
  if (!cluster.ok())
    return absl::Status(cluster.status().code(), absl::StrCat(spec, ": ", cluster.status().message()));
  for (const auto& program : cluster->collectives.programs) {
    run.warnings.insert(run.warnings.end(), program->warnings.begin(), program->warnings.end());
  }
  run.warnings.insert(run.warnings.end(), cluster->notes.begin(), cluster->notes.end());
  fabric_options_.routing = cluster->routing;
  fabric_options_.changes = cluster->link_changes;
  fabric_options_.packet = cluster->packet;
  fabric_options_.packet_given = cluster->packet_given;
  fabric_options_.choices = cluster->choices;
  logs_.Apply(&fabric_options_);
  fabric_options_.threads = read_.threads;
  auto fabric = MakeFabric(fabric_, cluster->topology, fabric_options_);
  if (!fabric.ok()) return fabric.status();
  if (FlowLog* log = logs_.flow_log()) {
    log->SetRanks(cluster->device_of, static_cast<int>(traces_.ranks.size()));
    *fabric = Logged(*std::move(fabric), log);
  }
  *fabric = Place(*std::move(fabric), cluster->device_of);
  ResolveJobDimensions(jobs_, DimensionSizes(*cluster), &traces_);
  if (absl::Status s = DescribeRanks(*cluster, &run); !s.ok()) return s;
  auto times = Price(*rungs, cluster->proto.device(), &run);
  if (!times.ok()) return times.status();
  NodeSpans spans;
  auto metrics = RunEngine(*cluster, *times, **fabric, captures_.empty() ? nullptr : &spans);
  if (!metrics.ok()) return ExplainStuck(metrics.status(), lanes_, run);
  logged_ = logs_.Finish(**fabric, metrics->makespan);

  const bool uses_cluster = UsesCluster(traces_, *times, recorded_comm);
  run.version = CHAKRA_VERSION;
  run.edits = edited_.has_value() ? &*edited_ : nullptr;
  run.cluster = cluster_.empty() || cluster->proto.name().empty() ? spec : cluster->proto.name();
  if (cluster_.empty() && !uses_cluster) run.cluster = "";
  run.fabric = recorded_comm ? "" : fabric_;
  run.lanes = lanes_;
  run.compute = compute_;
  run.comm = comm_;
  run.steps = MeasureSteps(traces_, captures_, spans);
  run.traces = &traces_;
  run.times = &*times;
  if (!recorded_comm) {
    run.traffic = (*fabric)->Traffic();
    run.links = (*fabric)->Links(kBusiestLinks);
    run.packets = (*fabric)->Packets();
    if (const FlowLog* log = logs_.flow_log()) run.flow_times = log->times().Rows();
  }
  if (cluster_.empty() && uses_cluster) {
    run.warnings.push_back(absl::StrCat("no --cluster was named: ", kDefaultCluster, " is assumed"));
  }
  auto format = ParseReportFormat(Format());
  if (!format.ok()) return format.status();
  return PrintReport(MakeReport(*metrics, run), *format);
}

absl::Status ReplayCommand::Read() {
  if (!edits_.any()) {
    auto traces = ReadTraceSet(inputs_, read_);
    if (traces.ok()) traces_ = *std::move(traces);
    return traces.status();
  }
  if (absl::Status s = edits_.Prepare(); !s.ok()) return s;
  edit::EditRun run(&edits_.plan());
  auto traces = edit::ReadEdited(inputs_, read_, edits_.plan(), &run);
  if (!traces.ok()) return traces.status();
  auto report = run.Finish();
  if (!report.ok()) return report.status();
  edited_ = *std::move(report);
  traces_ = *std::move(traces);
  return absl::OkStatus();
}

int ReplayCommand::Run() {
  if (inputs_.empty() && !read_.capture.named()) return Misuse("replay expects at least one TRACE");
  if (app()->count("--compute") > 0) {
    if (auto rungs = ParseRungs(compute_); !rungs.ok()) {
      return Misuse(absl::StrCat("--compute: ", rungs.status().message()));
    }
  }
  const std::vector<std::string> fabrics = FabricNames();
  if (std::find(fabrics.begin(), fabrics.end(), fabric_) == fabrics.end()) {
    return Misuse(absl::StrCat("there is no fabric \"", fabric_, "\"", SuggestName(fabric_, fabrics)));
  }
  if (absl::Status s = rank_options_.Check(); !s.ok()) return Misuse(std::string(s.message()));
  if (absl::Status s = logs_.Check(*app(), fabric_, report_); !s.ok()) {
    return Misuse(std::string(s.message()));
  }
  if (absl::Status s = CheckOutputPath(report_); !s.ok()) return Fail(s);
  if (absl::Status s = logs_.Open(); !s.ok()) return Fail(s);
  if (absl::Status s = Read(); !s.ok()) return Fail(s);
  if (ranks_ > 0) {
    if (absl::Status s = MakeSymmetric(ranks_, &traces_); !s.ok()) return Fail(s);
  }
  if (!rank_options_.jobs.empty()) {
    auto merged =
        rank_options_.AddJobs(std::move(traces_), absl::StrJoin(inputs_, " "), read_, ranks_, &jobs_);
    if (!merged.ok()) return Fail(merged.status());
    traces_ = *std::move(merged);
  }
  auto report = Replay();
  if (!report.ok()) return Fail(report.status());
  absl::Status written = WriteOutput(report_, *report);
  written.Update(logged_);
  return written.ok() ? kDone : Fail(written);
}

}  // namespace

std::unique_ptr<Command> MakeReplayCommand(CLI::App* root) {
  return std::make_unique<ReplayCommand>(
      root->add_subcommand("replay", "Replay traces on a simulated cluster and report where the time went"));
}

}  // namespace chakra::cli
