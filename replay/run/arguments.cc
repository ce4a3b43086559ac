#include "replay/run/arguments.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "backends/analytical/options.h"
#include "backends/fluid/options.h"
#include "backends/packet/options.h"
#include "backends/registry.h"
#include "replay/cluster/variation.h"
#include "replay/compute/compute.h"
#include "replay/run/edits.h"
#include "replay/run/jobs.h"
#include "replay/run/machine.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/free_memory.h"
#include "trace/base/status_macros.h"
#include "trace/base/threads.h"
#include "trace/generate/importer.h"
#include "trace/import/registry.h"
#include "trace/io/short_form.h"

namespace chakra {
namespace {

constexpr char kBuiltInConstants[] = "built-in";
constexpr char kWorkloadAlone[] =
    "--model, --parallel, --training and --set of their fields need one workload file, or no file";

absl::Status After(absl::string_view option, const absl::Status& s) {
  return s.ok() ? s : absl::Status(s.code(), absl::StrCat(option, s.message()));
}

bool IsNamed(const proto::Capture& capture) { return !capture.host().empty() || !capture.device().empty(); }

// Parses the value of --strict-causes. Error: not a percentage.
absl::StatusOr<double> StrictCauses(const std::string& text) {
  double percent = 0;
  if (absl::SimpleAtod(text, &percent) && percent >= 0 && percent <= 100) return percent;
  return absl::InvalidArgumentError(
      absl::StrCat("--strict-causes: \"", text, "\", expected a percentage from 0 to 100"));
}

absl::Status CheckTraces(const proto::Run& run) {
  const bool named = IsNamed(run.capture());
  if (run.trace().empty() && !named && run.step().model().model().empty())
    return absl::InvalidArgumentError("replay expects at least one TRACE, or --model");
  if (TellsWorkload(run) && (run.trace_size() > 1 || named))
    return absl::InvalidArgumentError(kWorkloadAlone);
  return absl::OkStatus();
}

// Options that have no effect without another option.
absl::Status CheckNeeds(const proto::Run& run) {
  const proto::Run::EnergyTexts& energy = run.energy();
  const proto::Run::Failures& failures = run.failures();
  struct Need {
    const char* option;
    bool given;
    const char* needs;
    bool there;
  };
  const bool reliability = !failures.texts().reliability().empty();
  for (const Need& need :
       {Need{"--power-cap", !energy.power_cap().empty(), "--energy", energy.has_energy()},
        Need{"--prices", !energy.prices().empty(), "--energy", energy.has_energy()},
        Need{"--grid", !energy.grid().empty(), "--energy", energy.has_energy()},
        Need{"--explain", energy.explain(), "--energy", energy.has_energy()},
        Need{"--run-steps", failures.run_steps() > 0, "--reliability", reliability},
        Need{"--checkpoint", !failures.texts().checkpoint().empty(), "--reliability", reliability},
        Need{"--grid-start", !energy.grid_start().empty(), "--grid", !energy.grid().empty()}}) {
    if (need.given && !need.there)
      return absl::InvalidArgumentError(absl::StrCat(need.option, " needs ", need.needs));
  }
  return absl::OkStatus();
}

RunOptions OptionsOf(const proto::Run& run) {
  RunOptions out;
  const proto::MachineTexts& machine = run.machine();
  out.cluster = machine.cluster();
  out.fabric = machine.fabric();
  out.fabric_options.Ask<PathOptions>().store_and_forward = machine.store_and_forward();
  out.topology = TopologyOf(machine.topology());
  TakeFlows(machine.flows(), &out.fabric_options);
  out.fabric_options.link_series = machine.link_series();
  out.compute = machine.compute();
  out.comm = machine.comm();
  out.programs.assign(machine.program().begin(), machine.program().end());
  out.kernels = machine.kernels();
  out.device_memory = run.step().device_memory_bytes();
  if (!run.reading().lanes().empty()) out.lanes = run.reading().lanes();
  out.strict = run.reading().strict();
  if (run.reading().has_strict_causes()) out.strict_causes = *StrictCauses(run.reading().strict_causes());
  const proto::Run::Process& process = run.process();
  out.fabric_options.threads = process.has_threads() ? process.threads() : DefaultThreads();
  out.sensitivity = process.sensitivity();
  out.critical_path = process.critical_path() || process.sensitivity();
  out.fast_paths = !process.no_fast_path();
  out.placement = run.ranks().placement();
  out.stragglers.assign(run.ranks().straggler().begin(), run.ranks().straggler().end());
  out.seed = run.ranks().seed();
  const proto::Run::EnergyTexts& energy = run.energy();
  out.energy = energy.has_energy();
  if (energy.energy() != kBuiltInConstants) out.energy_file = energy.energy();
  out.power_cap = energy.power_cap();
  out.prices = energy.prices();
  out.grid = energy.grid();
  out.grid_start = energy.grid_start();
  out.explain = energy.explain();
  out.reliability = run.failures().texts().reliability();
  out.checkpoint = run.failures().texts().checkpoint();
  out.steps = run.failures().run_steps();
  return out;
}

// Replaces the input of `traces` by the workload that options define, and moves the workload's fields out of
// the cluster's `set`.
absl::Status TakeWorkload(const proto::Run& told, TraceOptions* traces, RunOptions* run) {
  generate::WorkloadOptions workload;
  TakeModel(told.step().model(), &workload);
  std::vector<std::string>& set = run->topology.set;
  const auto own = std::stable_partition(set.begin(), set.end(),
                                         [](const std::string& s) { return !generate::IsWorkloadField(s); });
  workload.set.assign(own, set.end());
  set.erase(own, set.end());
  if (!traces->inputs.empty()) workload.file = traces->inputs[0];
  std::error_code error;
  if (std::filesystem::is_directory(workload.file, error))
    return absl::InvalidArgumentError(absl::StrCat(workload.file, ": a folder; ", kWorkloadAlone));
  ASSIGN_OR_RETURN(const auto read, generate::ReadWorkload(workload));
  traces->inputs = {generate::WorkloadInput(read)};
  return absl::OkStatus();
}

}  // namespace

std::string AnyOf(const FabricKinds& fabrics) {
  return absl::StrReplaceAll(Listed(fabrics), {{" and ", " or "}});
}

bool TellsWorkload(const proto::Run& run) {
  const proto::Run::Step::Model& model = run.step().model();
  const auto& set = run.machine().topology().set();
  return !model.model().empty() || !model.parallel().empty() || !model.training().empty() ||
         std::any_of(set.begin(), set.end(), generate::IsWorkloadField);
}

absl::Status CheckRun(const proto::Run& run) {
  if (run.process().has_max_memory_bytes()) {
    RETURN_IF_ERROR(After("--max-memory: ", LimitMemory(run.process().max_memory_bytes())));
  }
  RETURN_IF_ERROR(CheckEdits(run.edit()));
  RETURN_IF_ERROR(CheckTraces(run));
  if (run.machine().has_compute()) {
    RETURN_IF_ERROR(After("--compute: ", ParseTimeSources(run.machine().compute()).status()));
  }
  if (run.machine().has_fabric()) {
    RETURN_IF_ERROR(CheckFabricName(run.machine().fabric()));
  }
  if (run.reading().has_strict_causes()) {
    RETURN_IF_ERROR(StrictCauses(run.reading().strict_causes()).status());
  }
  RETURN_IF_ERROR(CheckNeeds(run));
  proto::Variation unused;
  for (const std::string& s : run.ranks().straggler()) {
    RETURN_IF_ERROR(After("--straggler ", AddStraggler(s, &unused)));
  }
  for (const std::string& job : run.ranks().job()) {
    RETURN_IF_ERROR(After(absl::StrCat("--job ", job, ": "), ParseJob(job).status()));
  }
  return absl::OkStatus();
}

absl::StatusOr<ResolvedRun> ResolveRun(const proto::Run& run) {
  ResolvedRun out;
  out.run = OptionsOf(run);
  TraceOptions& traces = out.traces;
  traces.inputs.assign(run.trace().begin(), run.trace().end());
  traces.read.capture = SelectionOf(run.capture());
  traces.read.groups_file = run.reading().groups().groups();
  traces.read.strict = run.reading().strict();
  traces.read.allow_truncated = run.reading().allow_truncated();
  traces.read.threads = out.run.fabric_options.threads;
  traces.ranks = run.reading().ranks();
  traces.jobs.assign(run.ranks().job().begin(), run.ranks().job().end());
  traces.edits_keep_lanes = out.run.lanes != "unlimited";
  if (TellsWorkload(run)) {
    RETURN_IF_ERROR(TakeWorkload(run, &traces, &out.run));
  }
  if (generate::AreWorkload(traces.inputs)) traces.read.domain = DomainOf(out.run);
  EditTexts edits;
  for (const proto::EditText& edit : run.edit()) {
    if (traces.ranks > 0 && edit.has_replicas()) {
      traces.replicas.push_back(edit.replicas());
    } else {
      *edits.Add() = edit;
    }
  }
  if (edits.empty()) return out;
  ASSIGN_OR_RETURN(ReadEdits read, MakeEdits(edits));
  out.edits = std::move(read.plan);
  traces.edits = out.edits.get();
  traces.edit_files = std::move(read.files);
  return out;
}

std::string TraceKey(const proto::Run& run) {
  std::string key;
  for (const MessageOption& option : MessageOption::Of(*proto::Run::descriptor())) {
    if (!MayBeOfTraces(option)) continue;
    for (int i = 0; i < option.Elements(run); ++i) {
      for (const std::string& value : option.Values(run, i)) {
        if (option.reads() || generate::IsWorkloadField(value))
          absl::StrAppend(&key, option.name(), "\n", i, " ", value.size(), ":", value, "\n");
      }
    }
  }
  return key;
}

CaptureSelection SelectionOf(const proto::Capture& capture) {
  CaptureSelection out;
  out.host = capture.host();
  out.device = capture.device();
  out.steps = capture.steps();
  out.step_range = capture.step_range();
  out.ranks.assign(capture.select_ranks().begin(), capture.select_ranks().end());
  out.rank_of.assign(capture.rank_of().begin(), capture.rank_of().end());
  return out;
}

TopologyOptions TopologyOf(const proto::TopologyTexts& texts) {
  const auto list = [](const auto& from) { return std::vector<std::string>(from.begin(), from.end()); };
  return {texts.network(), texts.routing(),     list(texts.fault()),
          texts.packet(),  list(texts.mixed()), list(texts.set())};
}

void TakeFlows(const proto::FlowTexts& texts, FabricOptions* options) {
  FlowOptions& flows = options->Ask<FlowOptions>();
  if (texts.has_flow_startup_ns()) flows.startup = Time::FromNanos(texts.flow_startup_ns());
  if (texts.has_flow_efficiency()) flows.efficiency = texts.flow_efficiency();
  if (texts.has_fluid_tolerance()) flows.tolerance = texts.fluid_tolerance();
}

void TakeModel(const proto::Run::Step::Model& model, generate::WorkloadOptions* options) {
  options->model = model.model();
  options->parallel = model.parallel();
  options->training = model.training();
}

std::string FabricNameOf(const proto::MachineTexts& machine) {
  MachineOptions options;
  options.fabric = machine.fabric();
  options.topology.network = machine.topology().network();
  return FabricName(options);
}

std::string FillIn(std::string help) {
  struct Term {
    const char* name;
    std::string (*text)();
  };
  static constexpr Term kTerms[] = {
      {"{inputs}", [] { return InputsHelp(); }},
      {"{time sources}", [] { return std::string(kDefaultTimeSources); }},
      {"{fabrics}", [] { return absl::StrJoin(FabricNames(), ", "); }},
      {"{fabrics of links}", [] { return AnyOf(FabricsThatFollowLinks()); }},
      {"{fabrics of flows}", [] { return AnyOf(FabricsThatTake(FlowOptions::kSet)); }},
      {"{fabrics of packets}", [] { return AnyOf(FabricsThatTake(packet::PacketOptions::kSet)); }}};
  if (!absl::StrContains(help, "{")) return help;
  for (const Term& term : kTerms) {
    if (absl::StrContains(help, term.name)) help = absl::StrReplaceAll(help, {{term.name, term.text()}});
  }
  return help;
}

absl::Status CheckFabricName(const std::string& name) {
  if (FindFabric(name) != nullptr) return absl::OkStatus();
  if (absl::Status s = CheckColon(name, "a parameter of a fabric"); !s.ok())
    return absl::InvalidArgumentError(absl::StrCat("fabric \"", name, "\": ", s.message()));
  return absl::InvalidArgumentError(
      absl::StrCat("there is no fabric \"", name, "\"", SuggestName(name, FabricNames())));
}

}  // namespace chakra
