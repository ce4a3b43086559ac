#include "test/validation/what_if.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "backends/registry.h"
#include "replay/cluster/load.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "replay/run/cluster_model.h"
#include "replay/run/steps.h"
#include "trace/base/median.h"
#include "trace/edit/plan.h"
#include "trace/edit/script.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"
#include "trace/io/file.h"
#include "trace/model/capture_info.h"
#include "trace/model/distinct_graphs.h"

namespace chakra::validation {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kWhatIfHeader = "side,run,median_step_ms,others_share,kept,steps_ms";

double Millis(Time t) { return static_cast<double>(t.picos()) * 1e-9; }

absl::StatusOr<TraceSet> Read(const std::string& folder, const std::string& script,
                              const std::string& groups) {
  ReadOptions options;
  options.groups_file = groups;
  if (script.empty()) return ReadTraceSet({folder}, options);
  const absl::StatusOr<edit::Script> edits = edit::ReadScript(script);
  if (!edits.ok()) return edits.status();
  const absl::StatusOr<edit::EditPlan> plan = edit::EditPlan::Make({*edits});
  if (!plan.ok()) return plan.status();
  edit::EditRun run(&*plan);
  absl::StatusOr<TraceSet> set = edit::ReadEdited({folder}, options, *plan, &run);
  if (!set.ok()) return set.status();
  const auto report = run.Finish();
  if (!report.ok()) return report.status();
  return set;
}

// Recorded times, recorded lanes, recorded communication; the machine does not matter.
absl::StatusOr<std::vector<StepMetrics>> StepsIn(const TraceSet& set) {
  const auto preset = LoadCluster("dgx-h100", nullptr);
  if (!preset.ok()) return preset.status();
  const auto cluster = BuildCluster(*preset, static_cast<int>(set.ranks.size()));
  if (!cluster.ok()) return cluster.status();
  const auto fabric = MakeMachine("analytical", cluster->topology, FabricOptions());
  if (!fabric.ok()) return fabric.status();
  ComputeModel model;
  model.time_sources = {TimeSource::kRecorded};
  model.zeros_recorded = true;
  ComputeNotes notes;
  std::vector<ComputeTimes> times;
  for (const Graph* graph : DistinctGraphs(set).graphs) {
    absl::StatusOr<ComputeTimes> priced = PriceGraph(*graph, model, &notes);
    if (!priced.ok()) return priced.status();
    times.push_back(*std::move(priced));
  }
  std::vector<std::optional<CaptureInfo>> captures;
  for (const RankTrace& trace : set.ranks) {
    auto capture = ReadCaptureInfo(trace);
    if (!capture.ok()) return capture.status();
    captures.push_back(*std::move(capture));
  }
  NodeSpans spans;
  EngineOptions engine;
  engine.recorded_comm = true;
  engine.collectives = cluster->collectives;
  engine.memory = cluster->memory;
  engine.spans = &spans;
  const auto metrics = Replay(set, times, **fabric, engine);
  if (!metrics.ok()) return metrics.status();
  return MeasureSteps(set, captures, spans);
}

}  // namespace

absl::StatusOr<Runs> ParseRuns(const std::string& csv) {
  const std::vector<std::string> lines = absl::StrSplit(csv, '\n', absl::SkipEmpty());
  if (lines.empty() || lines[0] != kWhatIfHeader)
    return absl::InvalidArgumentError(absl::StrCat("line 1: expected \"", kWhatIfHeader, "\""));
  Runs runs;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> fields = absl::StrSplit(lines[i], ',');
    double ms = 0;
    const std::string line = absl::StrCat("line ", i + 1, ": ");
    if (fields.size() != 6 || (fields[0] != "a" && fields[0] != "b"))
      return absl::InvalidArgumentError(absl::StrCat(line, "expected six columns, the first a or b"));
    if (!absl::SimpleAtod(fields[2], &ms) || !(ms > 0) || !std::isfinite(ms))
      return absl::InvalidArgumentError(
          absl::StrCat(line, "median_step_ms is \"", fields[2], "\", expected a number above 0"));
    (fields[0] == "a" ? runs.a : runs.b).push_back(ms);
  }
  if (runs.a.empty() || runs.b.empty()) return absl::InvalidArgumentError("expected runs of a and of b");
  std::sort(runs.a.begin(), runs.a.end());
  std::sort(runs.b.begin(), runs.b.end());
  return runs;
}

double Noise(const std::vector<double>& runs) { return runs.size() < 2 ? 0 : runs[1] / runs[0] - 1; }

double TypicalDelay(const std::vector<double>& runs) { return Median(runs) / runs[0] - 1; }

absl::StatusOr<StepTime> ReplayCapture(const std::string& folder, const std::string& script,
                                       const std::string& groups) {
  absl::StatusOr<TraceSet> set = Read(folder, script, groups);
  if (!set.ok()) return set.status();
  const auto steps = StepsIn(*set);
  if (!steps.ok()) return steps.status();
  std::map<std::string, std::pair<Time, Time>> longest;
  for (const StepMetrics& s : *steps) {
    if (s.name == "window") continue;
    auto& [measured, replayed] = longest[s.name];
    measured = std::max(measured, s.measured);
    replayed = std::max(replayed, s.replayed);
  }
  if (longest.empty())
    return absl::InvalidArgumentError(absl::StrCat(folder, ": no ProfilerStep, expected steps"));
  std::vector<double> measured, replayed;
  for (const auto& [name, times] : longest) {
    measured.push_back(Millis(times.first));
    replayed.push_back(Millis(times.second));
  }
  return StepTime{static_cast<int>(set->ranks.size()), measured.size(), Median(measured), Median(replayed)};
}

absl::StatusOr<std::vector<EditPrediction>> Predict(const std::string& folder) {
  std::vector<std::string> scripts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(absl::StrCat(folder, "/pairs"), error)) {
    if (entry.path().extension() == ".txtpb") scripts.push_back(entry.path().stem().string());
  }
  if (scripts.empty()) return absl::NotFoundError(absl::StrCat(folder, "/pairs: no scripts (NAME.txtpb)"));
  std::sort(scripts.begin(), scripts.end());
  std::vector<EditPrediction> rows;
  for (const std::string& name : scripts) {
    const std::vector<std::string> parts = absl::StrSplit(name, '.');
    const bool back = parts.back() == "back";
    const std::string pair = absl::StrCat(folder, "/captures/", parts.front());
    const std::string from = pair + (back ? "/b" : "/a"), to = pair + (back ? "/a" : "/b");
    const std::string script = absl::StrCat(folder, "/pairs/", name, ".txtpb");
    const auto csv = ReadFile(pair + "/runs.csv");
    if (!csv.ok()) return csv.status();
    absl::StatusOr<Runs> runs = ParseRuns(*csv);
    if (!runs.ok())
      return absl::InvalidArgumentError(absl::StrCat(pair, "/runs.csv: ", runs.status().message()));
    if (back) std::swap(runs->a, runs->b);
    const std::string listed = pair + "/groups.json", groups = fs::exists(listed, error) ? listed : "";
    const auto before = ReplayCapture(from, "", groups), edited = ReplayCapture(from, script, groups),
               after = ReplayCapture(to, "", "");
    for (const auto* r : {&before, &edited, &after}) {
      if (!r->ok()) return r->status();
    }
    const absl::StatusOr<edit::Script> edits = edit::ReadScript(script);
    if (!edits.ok()) return edits.status();
    rows.push_back({name, edits->script.name(), before->ranks, before->measured_ms, before->replayed_ms,
                    after->measured_ms, edited->replayed_ms, Noise(runs->a), Noise(runs->b),
                    TypicalDelay(runs->a), TypicalDelay(runs->b)});
  }
  return rows;
}

std::string WhatIfCsv(const std::vector<EditPrediction>& rows) {
  std::string out =
      "pair,ranks,measured_from_ms,replayed_from_ms,measured_to_ms,predicted_to_ms,change,error,noise_from,"
      "noise_to,"
      "typical_delay_from,typical_delay_to\n";
  for (const EditPrediction& r : rows) {
    absl::StrAppendFormat(&out, "%s,%d,%.3f,%.3f,%.3f,%.3f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n", r.name, r.ranks,
                          r.from_ms, r.replayed_ms, r.to_ms, r.predicted_ms, r.change(), r.error(),
                          r.from_noise, r.to_noise, r.from_delay, r.to_delay);
  }
  return out;
}

ErrorSummary Summarize(const std::vector<EditPrediction>& rows) {
  ErrorSummary summary;
  std::vector<double> errors;
  for (const EditPrediction& r : rows) {
    errors.push_back(std::abs(r.error()));
    summary.within_noise += errors.back() <= std::max(r.from_delay, r.to_delay) ? 1 : 0;
    if (errors.back() <= summary.worst) continue;
    summary.worst = errors.back();
    summary.worst_name = r.name;
  }
  summary.median = Median(errors);
  return summary;
}

std::string WhatIfMarkdown(const std::vector<EditPrediction>& rows) {
  std::string out =
      "| pair | edit | ranks | measured before | replayed unedited | measured after | change | predicted "
      "after | error "
      "| noise before, after |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const EditPrediction& r : rows) {
    absl::StrAppendFormat(
        &out,
        "| %s | %s | %d | %.2f ms | %.2f ms | %.2f ms | %+.1f %% | %.2f ms | %+.1f %% | %.1f, %.1f %% |\n",
        r.name, r.says, r.ranks, r.from_ms, r.replayed_ms, r.to_ms, 100 * r.change(), r.predicted_ms,
        100 * r.error(), 100 * r.from_noise, 100 * r.to_noise);
  }
  const ErrorSummary all = Summarize(rows);
  absl::StrAppendFormat(
      &out,
      "\nErrors without sign: median %.1f %%, worst %.1f %% (%s); %d of %d are below what the "
      "median run differs by from the fastest.\n",
      100 * all.median, 100 * all.worst, all.worst_name, all.within_noise, rows.size());
  return out;
}

}  // namespace chakra::validation
