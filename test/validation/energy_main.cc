// Metered training runs (power logs of MLPerf Training) against the energy of replays of generated steps.
//
//   energy_validation RUNS.CSV [--one-node] [--out FOLDER] [--compare FOLDER] [--check]
//
// RUNS.CSV has a row for each run: system, benchmark, meter, T_s, node_energy_J, mean_W_per_node. Prints the
// table; --one-node leaves out runs of several nodes, which take longer; --out writes energy.md; --compare
// expects the same bytes in a folder; --check allows the judged rows errors of 7 % in watts and 8 % in
// joules, and power limits 6 %.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/report/run_replay.h"
#include "replay/run/traces.h"
#include "test/validation/csv_line.h"
#include "test/validation/power_limits.h"
#include "test/validation/program.h"
#include "trace/generate/importer.h"
#include "trace/generate/workload.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

constexpr double kBar = 0.07, kEnergyBar = 0.08;

// A step that stands for a benchmark.
struct MeteredStep {
  const char* system;  // of the file
  const char* benchmark;
  const char* model;
  const char* parallel;
  const char* training;
  const char* cluster;
  double batch;      // sequences of a step
  double steps;      // of a whole run; 0: not in the log
  double evaluated;  // sequences in all evaluations of the run, by the benchmark's rules
  const char* why;   // how it was composed
};

constexpr MeteredStep kSteps[] = {
    {"64xSMC-H100-SXM-80GB", "gpt3", "gpt3-175b", "tp=4,pp=8,vpp=12,dp=16,zero=1,overlap_tensor=yes",
     "global_batch=2048,micro_batch=2,seq=2048,dtype=fp8,fp8=delayed", "dgx-h100", 2048, 288, 24 * 6144,
     "as its configuration file has it. Its steps take 10.6 s, by the dips of its power readings; the step "
     "of NVIDIA's submission on as many H100 takes 9.69 s for as many sequences, where 9.77 are predicted "
     "(mlperf.md)"},
    {"1xSMC-H100-SXM-80GB", "llama2_70b_lora", "llama2-70b", "tp=4,dp=2,overlap_tensor=yes",
     "global_batch=8,micro_batch=1,seq=8192,dtype=fp8,fp8=delayed,lora=16,lora_dropout=0.1", "dgx-h100", 8,
     384, 5 * 176,
     "3,072 samples by eight. NVIDIA's submission with this split takes 3.71 s a step, 3.65 are predicted; "
     "its whole run takes 1,629 s, this one 1,690"},
    {"64xSMC-H100-SXM-80GB", "llama2_70b_lora", "llama2-70b", "tp=4,cp=2,dp=64,overlap_tensor=yes",
     "global_batch=64,micro_batch=1,seq=8192,dtype=fp8,fp8=delayed,lora=16,lora_dropout=0.1", "dgx-h100", 64,
     108, 8 * 192,
     "6,912 samples by 64, evaluated from the 11th 384 on. By the log of NVIDIA's 128 nodes with this split: "
     "a "
     "step takes 0.655 s without CUDA graphs and 0.546 s with them, so the host holds it back by a fifth; "
     "the "
     "first steps begin 11 s after the run; an evaluation takes 1.2 s. The prediction has neither"},
    {"1xSMC-H100-SXM-80GB", "bert", "bert-large", "dp=8",
     "global_batch=448,micro_batch=56,seq=512,dtype=fp16,cuda_graphs=yes", "dgx-h100", 448, 0, 0,
     "56 full sequences a device; the log's are packed without padding"},
    {"SR780aV3-8xB200_SXM_180GB", "bert", "bert-large", "dp=8",
     "global_batch=448,micro_batch=56,seq=512,dtype=fp16,cuda_graphs=yes", "dgx-b200", 448, 0, 0,
     "as on H100"},
};

// The constants of the parts between the meter and the devices.
const char* ConstantsFor(const std::string& meter) {
  // The systems are liquid-cooled, without fans. A DC meter is behind the power supplies, so their loss is
  // not metered.
  return meter == "DC" ? "node { fans_share { value: 0 source: \"liquid\" } supply_loss_share { value: 0 "
                         "source: \"behind them\" } }"
                       : "node { fans_share { value: 0 source: \"liquid\" } }";
}

struct MeanRun {
  int runs = 0;
  double seconds = 0, joules = 0, watts = 0;  // of a node: watts
};

using Key = std::tuple<std::string, std::string, std::string>;  // system, benchmark, meter

absl::StatusOr<std::map<Key, MeanRun>> ReadRuns(const std::string& path) {
  const auto text = ReadFile(path);
  if (!text.ok()) return text.status();
  std::map<Key, MeanRun> runs;
  const absl::Status read = ForEachLine(*text, [&](const CsvLine& line) -> absl::Status {
    std::string system, benchmark, meter, run;
    double seconds = 0, joules = 0, watts = 0;
    for (const auto& [column, value] :
         {std::pair{"system", &system}, {"benchmark", &benchmark}, {"meter", &meter}, {"run", &run}}) {
      if (absl::Status s = line.Read(column, value); !s.ok()) return s;
    }
    for (const auto& [column, value] :
         {std::pair{"T_s", &seconds}, {"node_energy_J", &joules}, {"mean_W_per_node", &watts}}) {
      if (absl::Status s = line.Read(column, value); !s.ok()) return s;
    }
    if (absl::StrContains(run, "_raw_")) return absl::OkStatus();  // the same run again
    MeanRun& mean = runs[{system, benchmark, meter}];
    ++mean.runs;
    mean.seconds += (seconds - mean.seconds) / mean.runs;
    mean.joules += (joules - mean.joules) / mean.runs;
    mean.watts += (watts - mean.watts) / mean.runs;
    return absl::OkStatus();
  });
  if (!read.ok()) return read;
  return runs;
}

absl::StatusOr<proto::Report> Replay(const MeteredStep& step, const std::string& meter) {
  generate::WorkloadOptions options;
  options.model = step.model;
  options.parallel = step.parallel;
  options.training = step.training;
  const auto workload = generate::ReadWorkload(options);
  if (!workload.ok()) return workload.status();
  TraceOptions inputs;
  inputs.inputs = {generate::WorkloadInput(*workload)};
  const auto traces = LoadTraces(inputs);
  if (!traces.ok()) return traces.status();
  const std::string device = absl::StrContains(step.system, "B200") ? "B200-SXM-180GB" : "H100-SXM5-80GB";
  const std::string file =
      (std::filesystem::temp_directory_path() / absl::StrCat("energy_validation_", meter, ".txtpb")).string();
  absl::Status written =
      WriteFile(file, absl::StrCat("profile { device: \"", device, "\" ", ConstantsFor(meter), " }\n"));
  if (!written.ok()) return written;
  RunOptions run;
  run.cluster = step.cluster;
  run.energy = true;
  run.energy_file = file;
  auto report = RunReplay(*traces, run);
  std::filesystem::remove(file);
  return report;
}

std::string Percent(double part, double whole) {
  return absl::StrFormat("%+.1f %%", 100 * (part / whole - 1));
}

constexpr char kHead[] =
    "# Metered training runs against replays\n\n"
    "MLPerf Training 4.0 and 5.0 power logs, means over runs from `run_start` to `run_stop`. Each is "
    "replayed as one step of its model, generated\n"
    "(`replay --model`) and metered with `--energy`. How ranks share the work, and what they evaluate, is in "
    "the configuration files beside the logs\n"
    "(mlcommons/training_results_v4.0: smc-ac-power for GPT-3; NVIDIA and ASUSTeK for LoRA, which ran the "
    "same code). BERT's launches are captured (`cuda_graphs=yes`).\n"
    "No constant was fitted to a row, though the rows were known when the law was written: "
    "`replay/energy/model.txtpb` and `replay/devices` have the sources. Hosts rest on what the\n"
    "same logs show before and after the runs. A run has evaluations and pauses, a step has none: GPT-3 "
    "trains at 6,910 W a node and evaluates at 6,369. Energy is\n"
    "the predicted watts over the measured time, so its error is that of the watts. Where the number of "
    "steps "
    "is known, the last column has the energy of all steps\n"
    "in simulated time, and of the evaluations, in whole batches: GPT-3 evaluates 5,662 sequences after each "
    "24,576, Llama 2 173 after each 384, from the fourth time on\n"
    "with one node. An evaluation takes the forward pass of its sequences; pauses take nothing.\n\n"
    "| run | meter | nodes | measured W/node | predicted | error | measured MJ | predicted, measured time | "
    "predicted, simulated time | how |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n";
constexpr char kTail[] =
    "\nNot composed: ResNet, RetinaNet and Stable Diffusion (convolutions), which `generate` does not make, and "
    "DLRM, since the rows do not say how\n"
    "many samples a run took. Written by `build/test/energy_validation RUNS.CSV --out test/validation`.\n";

// The steps of the run, with evaluations as shares of a step: an evaluation is the forward pass of its
// sequences.
double StepsOf(const MeteredStep& step, const proto::Report& report) {
  const proto::TrainingReport& t = report.training();
  double forward = 0, all = 0;
  for (const proto::PhaseReport& phase : t.phase()) {
    const auto ps = static_cast<double>(phase.mean_ps());
    all += ps;
    if (phase.name() == "forward") forward = ps;
  }
  return step.steps + (all > 0 ? step.evaluated / step.batch * forward / all : 0);
}

absl::StatusOr<std::string> Table(const std::map<Key, MeanRun>& runs, bool one_node, bool* holds) {
  std::string out = kHead;
  for (const MeteredStep& step : kSteps) {
    for (const char* meter : {"AC", "DC"}) {
      const auto found = runs.find({step.system, step.benchmark, meter});
      if (found == runs.end() ||
          (one_node && !absl::StartsWith(step.system, "1x") && !absl::StrContains(step.system, "-8xB200")))
        continue;
      const MeanRun& m = found->second;
      const auto report = Replay(step, meter);
      if (!report.ok()) return report.status();
      const proto::EnergyReport& e = report->energy();
      const double nodes = e.nodes();
      const double joules = e.node_watts() * nodes * m.seconds;
      const double all_steps = e.node_watts() * nodes * StepsOf(step, *report) *
                               static_cast<double>(report->makespan_ps()) * 1e-12;
      *holds = *holds && std::fabs(e.node_watts() / m.watts - 1) <= kBar;
      // Whole runs in simulated time are judged only together with all rows, where some are known to fail.
      if (step.steps > 0 && !one_node) *holds = *holds && std::fabs(all_steps / m.joules - 1) <= kEnergyBar;
      absl::StrAppendFormat(
          &out, "| %s, %s | %s | %d | %.0f | %.0f | %s | %.4g | %.4g (%s) | %s | %s |\n", step.benchmark,
          step.system, meter, e.nodes(), m.watts, e.node_watts(), Percent(e.node_watts(), m.watts),
          m.joules / 1e6, joules / 1e6, Percent(joules, m.joules),
          step.steps > 0 ? absl::StrFormat("%.4g (%s)", all_steps / 1e6, Percent(all_steps, m.joules)) : "",
          absl::StrCat("`", step.model, ":", step.parallel, "`, `", step.training, "`: ", step.why));
    }
  }
  return out;
}

int Run(const Program& program) {
  const auto runs = ReadRuns(program.input());
  if (!runs.ok()) return program.Fail(absl::StrCat(program.input(), ": ", runs.status().message()));
  bool holds = true;
  auto table = Table(*runs, !program.Option("--one-node").empty(), &holds);
  if (!table.ok()) return program.Fail(table.status());
  const auto limits = PowerLimitTable(&holds);
  if (!limits.ok()) return program.Fail(limits.status());
  absl::StrAppend(&*table, *limits, kTail);
  std::fputs(table->c_str(), stdout);
  return program.Keep({{"energy.md", *table}}) |
         program.Check({{"rows: at most 7 % off in watts and 8 % in joules, power limits 6 %", holds}});
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  chakra::validation::Program program("energy_validation", "RUNS.CSV", {"--one-node"});
  const int status = program.Parse(argc, argv, false);
  return status == program.kGoOn ? chakra::validation::Run(program) : status;
}
