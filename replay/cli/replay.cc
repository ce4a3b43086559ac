#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/registry.h"
#include "replay/cli/command.h"
#include "replay/cli/progress.h"
#include "replay/cluster.h"
#include "replay/compute/compute.h"
#include "replay/compute/kernel_table.h"
#include "replay/engine.h"
#include "replay/report/report.h"
#include "replay/symmetric.h"
#include "trace/checksum.h"
#include "trace/proto_io.h"
#include "trace/reader.h"

namespace chakra::cli {
namespace {

constexpr char kDefaultCluster[] = "dgx-h100";
constexpr char kDefaultFabric[] = "analytical";

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

class ReplayCommand : public Command {
 public:
  explicit ReplayCommand(CLI::App* app) : Command(app) {
    app->allow_extras();
    app->add_option("TRACE", inputs_, "Trace files, directories, prefixes (dir/workload) or tar archives")
        ->type_name("");
    AddMachineOptions(app);
    AddTraceOptions(app);
    AddReportOptions(app);
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
  absl::StatusOr<std::string> Replay(const std::vector<ComputeRung>& rungs);
  // Compute times of each distinct graph.
  absl::StatusOr<std::vector<ComputeTimes>> Price(const std::vector<ComputeRung>& rungs,
                                                  const proto::Device& device, RunDescription* run) const;
  absl::StatusOr<Metrics> RunEngine(const ClusterModel& cluster, const std::vector<ComputeTimes>& times,
                                    Fabric& fabric);

  std::vector<std::string> inputs_;
  ReadOptions read_;
  TraceSet traces_;
  std::string cluster_;
  std::string fabric_ = kDefaultFabric;
  FabricOptions fabric_options_;
  std::string lanes_ = "recorded";
  std::string compute_ = std::string(kDefaultRungs);
  std::string kernels_;
  int ranks_ = 0;
  bool no_fast_path_ = false;
  std::string report_ = "-";
  std::string format_;
  bool quiet_ = false;
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
  app->add_option("--compute", compute_,
                  "Where compute times come from, in order: table, roofline, recorded; default: " + compute_)
      ->type_name("LIST")
      ->group(g);
  app->add_option("--kernels", kernels_, "Kernel table for --compute table")->type_name("FILE")->group(g);
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
  app->add_option("--ranks", ranks_,
                  "Replay one trace as N equal ranks; peers of sends and receives are taken relative to the "
                  "traced rank, modulo N")
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
  app->add_option("--threads", read_.threads,
                  "Threads; the result does not depend on it; default: the machine's cores")
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
                                                 const std::vector<ComputeTimes>& times, Fabric& fabric) {
  EngineOptions options;
  options.lanes = ParseLanes(lanes_);
  options.memory = cluster.memory;
  options.collectives = cluster.collectives;
  options.fast_paths = !no_fast_path_;
  options.strict = read_.strict;
  for (const TopologyDimension& d : cluster.topology.dimensions()) options.dimension_sizes.push_back(d.size);
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
  absl::StatusOr<KernelTableIndex> index = absl::NotFoundError("");
  if (!kernels_.empty()) {
    auto table = LoadKernelTable(kernels_);
    if (!table.ok()) return table.status();
    index = KernelTableIndex::Make(*table, kernels_);
    if (!index.ok()) return index.status();
    model.table = &*index;
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

absl::StatusOr<std::string> ReplayCommand::Replay(const std::vector<ComputeRung>& rungs) {
  RunDescription run;
  const std::string spec = cluster_.empty() ? kDefaultCluster : cluster_;
  auto loaded = LoadCluster(spec);
  if (!loaded.ok()) return loaded.status();
  std::error_code error;
  if (std::filesystem::is_regular_file(spec, error)) {
    if (absl::Status s = AddInput(spec, "cluster", &run); !s.ok()) return s;
  }
  auto cluster = BuildCluster(*loaded, static_cast<int>(traces_.ranks.size()));
  if (!cluster.ok())
    return absl::Status(cluster.status().code(), absl::StrCat(spec, ": ", cluster.status().message()));
  auto fabric = MakeFabric(fabric_, cluster->topology, fabric_options_);
  if (!fabric.ok()) return fabric.status();
  auto times = Price(rungs, cluster->proto.device(), &run);
  if (!times.ok()) return times.status();
  auto metrics = RunEngine(*cluster, *times, **fabric);
  if (!metrics.ok()) return metrics.status();

  run.version = CHAKRA_VERSION;
  run.cluster = cluster_.empty() || cluster->proto.name().empty() ? spec : cluster->proto.name();
  run.fabric = fabric_;
  run.lanes = lanes_;
  run.compute = compute_;
  run.traces = &traces_;
  run.times = &*times;
  run.traffic = (*fabric)->Traffic();
  if (cluster_.empty()) {
    run.warnings.push_back(absl::StrCat("no --cluster was named: ", kDefaultCluster, " is assumed"));
  }
  auto format = ParseReportFormat(Format());
  if (!format.ok()) return format.status();
  return PrintReport(MakeReport(*metrics, run), *format);
}

int ReplayCommand::Run() {
  if (inputs_.empty()) return Misuse("replay expects at least one TRACE");
  auto rungs = ParseRungs(compute_);
  if (!rungs.ok()) return Misuse(absl::StrCat("--compute: ", rungs.status().message()));
  const std::vector<std::string> fabrics = FabricNames();
  if (std::find(fabrics.begin(), fabrics.end(), fabric_) == fabrics.end()) {
    return Misuse(absl::StrCat("there is no fabric \"", fabric_, "\"", SuggestName(fabric_, fabrics)));
  }
  if (absl::Status s = CheckOutputPath(report_); !s.ok()) return Fail(s);
  auto traces = ReadTraceSet(inputs_, read_);
  if (!traces.ok()) return Fail(traces.status());
  traces_ = *std::move(traces);
  if (ranks_ > 0) {
    if (absl::Status s = MakeSymmetric(ranks_, &traces_); !s.ok()) return Fail(s);
  }
  auto report = Replay(*rungs);
  if (!report.ok()) return Fail(report.status());
  const absl::Status written = WriteOutput(report_, *report);
  return written.ok() ? kDone : Fail(written);
}

}  // namespace

std::unique_ptr<Command> MakeReplayCommand(CLI::App* root) {
  return std::make_unique<ReplayCommand>(
      root->add_subcommand("replay", "Replay traces on a simulated cluster and report where the time went"));
}

}  // namespace chakra::cli
