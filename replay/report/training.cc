#include "replay/report/training.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/report/fitting.h"
#include "replay/report/row_table.h"
#include "trace/base/text_table.h"
#include "trace/generate/counts.h"
#include "trace/generate/layout.h"
#include "trace/generate/memory.h"
#include "trace/generate/stage.h"
#include "trace/generate/step.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

using generate::StepPlan;

constexpr const char* kGroupKinds[] = {"tensor",    "context",  "expert", "weights",
                                       "gradients", "pipeline", "tables", "other"};
constexpr const char* kPhases[] = {"forward", "recompute", "backward", "step"};
constexpr size_t kOther = std::size(kGroupKinds) - 1;
static_assert(std::size(kGroupKinds) <= kCommKinds);

constexpr char kMfuFormula[] =
    "model FLOPs / (devices x peak x time): each GEMM of the model three times, causal attention at half, "
    "no "
    "recomputation (Megatron-LM's count: 6 a parameter and token, and attention)";
constexpr char kFrozenMfuFormula[] =
    "model FLOPs / (devices x peak x time): each GEMM of the model twice, because its weights are frozen, "
    "those of adapters three times, causal attention at half, no recomputation";
constexpr char kTablesMfuFormula[] =
    "model FLOPs / (devices x peak x time): each GEMM of MLPs, cross layers and vectors three times, those "
    "of the first layer twice, no sums of rows";
constexpr char kHfuFormula[] = "MFU with the operations of recomputation added to the model FLOPs";

uint8_t KindOfStream(int32_t lane) {
  using generate::Stream;
  switch (static_cast<Stream>(lane)) {
    case Stream::kTensor:
      return 0;
    case Stream::kContext:
    case Stream::kSendRing:
    case Stream::kReceiveRing:
      return 1;
    case Stream::kExpert:
    case Stream::kExpertRail:
      return 2;
    case Stream::kGather:
      return 3;
    case Stream::kReduce:
    case Stream::kCopies:
      return 4;
    case Stream::kSendForward:
    case Stream::kSendBackward:
    case Stream::kReceiveForward:
    case Stream::kReceiveBackward:
      return 5;
    case Stream::kTables:
      return 6;
    default:
      return kOther;
  }
}

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Sets the times of a row from a sum and a maximum over ranks.
template <typename Row>
void SetTimes(double sum_ps, int64_t most_ps, const Metrics& metrics, Row* row) {
  const double mean = Share(sum_ps, static_cast<double>(metrics.ranks.size()));
  row->set_mean_ps(static_cast<int64_t>(mean));
  row->set_most_ps(most_ps);
  row->set_share(Share(mean, static_cast<double>(metrics.makespan.picos())));
}

void AddExposed(const Metrics& metrics, proto::TrainingReport* out) {
  for (size_t kind = 0; kind < std::size(kGroupKinds); ++kind) {
    double sum = 0;
    int64_t most = 0;
    for (const RankMetrics& rank : metrics.ranks) {
      const int64_t ps = rank.exposed_of[kind].picos();
      sum += static_cast<double>(ps);
      most = std::max(most, ps);
    }
    if (most == 0) continue;
    proto::ExposedReport& row = *out->add_exposed();
    row.set_kind(kGroupKinds[kind]);
    SetTimes(sum, most, metrics, &row);
  }
}

// Sums the computation of each phase, on a rank of one graph.
void SumPhases(const Graph& graph, const std::vector<uint8_t>& phases, const ComputeTimes& times,
               int64_t (&sums)[std::size(kPhases)]) {
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (graph.type[row] != NodeType::kComp || graph.is_cpu(row) || phases[row] >= std::size(kPhases))
      continue;
    sums[phases[row]] += times.time[row].picos();
  }
}

void AddPhases(const ReplayedStep& step, proto::TrainingReport* out) {
  if (step.phases.empty()) return;
  const generate::Layout layout(step.plan.split);
  const DistinctGraphs distinct(step.traces);
  double sum[std::size(kPhases)] = {};
  int64_t most[std::size(kPhases)] = {};
  for (int64_t stage = 0; stage < step.plan.split.graphs(); ++stage) {
    const uint32_t g = distinct.of_rank[static_cast<size_t>(layout.FirstOf(stage))];
    const auto ranks = static_cast<double>(layout.RanksOf(stage));
    int64_t of_stage[std::size(kPhases)] = {};
    SumPhases(*distinct.graphs[g], step.phases[g], step.times[g], of_stage);
    for (size_t p = 0; p < std::size(kPhases); ++p) {
      sum[p] += ranks * static_cast<double>(of_stage[p]);
      most[p] = std::max(most[p], of_stage[p]);
    }
  }
  for (size_t p = 0; p < std::size(kPhases); ++p) {
    if (most[p] == 0) continue;
    proto::PhaseReport& row = *out->add_phase();
    row.set_name(kPhases[p]);
    SetTimes(sum[p], most[p], step.metrics, &row);
  }
}

void AddMemory(const ReplayedStep& step, proto::Report* report) {
  proto::TrainingReport& out = *report->mutable_training();
  const generate::Layout layout(step.plan.split);
  const auto bytes = [](int64_t n) { return static_cast<uint64_t>(n); };
  const std::vector<generate::RankMemory> stages = generate::MemoryOfAll(step.plan);
  for (int64_t stage = 0; stage < step.plan.split.graphs(); ++stage) {
    const generate::RankMemory& m = stages[static_cast<size_t>(stage)];
    proto::StageMemory& row = *out.add_memory();
    row.set_stage(static_cast<int32_t>(stage));
    row.set_ranks(static_cast<int32_t>(layout.RanksOf(stage)));
    row.set_first_rank(layout.FirstOf(stage));
    row.set_in_flight(m.in_flight);
    row.set_weights_bytes(bytes(m.weights));
    row.set_gradients_bytes(bytes(m.gradients));
    row.set_optimizer_bytes(bytes(m.optimizer));
    row.set_activations_bytes(bytes(m.activations));
    row.set_working_bytes(bytes(m.working));
    row.set_host_bytes(bytes(m.host));
    row.set_peak_memory_bytes(bytes(m.total()));
    if (step.device_memory > 0 && bytes(m.total()) > step.device_memory)
      row.set_lacks_bytes(bytes(m.total()) - step.device_memory);
    out.set_peak_memory_bytes(std::max(out.peak_memory_bytes(), row.peak_memory_bytes()));
  }
  out.set_device_memory_bytes(step.device_memory);
  report->set_peak_memory_bytes(out.peak_memory_bytes());
  for (int r = 0; r < report->rank_size(); ++r) {
    const int64_t stage = layout.GraphOf(r);
    report->mutable_rank(r)->set_peak_memory_bytes(out.memory(static_cast<int>(stage)).peak_memory_bytes());
  }
}

// Warns of ranks that do not fit: their number, the rank that lacks most, and changes that would help.
void WarnOfMemory(const StepPlan& plan, proto::Report* report) {
  const proto::StageMemory* worst = nullptr;
  int ranks = 0;
  for (const proto::StageMemory& m : report->training().memory()) {
    if (m.lacks_bytes() == 0) continue;
    ranks += m.ranks();
    if (worst == nullptr || m.lacks_bytes() > worst->lacks_bytes()) worst = &m;
  }
  if (worst == nullptr) return;
  const std::string advice = FitAdvice(plan, report->training().device_memory_bytes());
  report->add_warning(absl::StrCat("the step does not fit on ", FormatCount(static_cast<uint64_t>(ranks)),
                                   " of ", FormatCount(static_cast<uint64_t>(report->ranks())),
                                   " ranks: rank ", worst->first_rank(), " (stage ", worst->stage(),
                                   ") holds ", FormatBytes(worst->peak_memory_bytes()), " at its peak, ",
                                   FormatBytes(worst->lacks_bytes()), " more than the device's ",
                                   FormatBytes(report->training().device_memory_bytes()),
                                   advice.empty() ? "" : absl::StrCat("; ", advice)));
}

void AddRates(const ReplayedStep& step, proto::TrainingReport* out) {
  const generate::TrainingPlan& t = step.plan.training;
  const double tokens = static_cast<double>(t.seq) * static_cast<double>(t.global_batch);
  const double seconds = step.metrics.makespan.seconds();
  const auto devices = static_cast<double>(step.plan.split.ranks());
  const bool samples = step.plan.tables.any();
  samples ? out->set_samples(tokens) : out->set_tokens(tokens);
  out->set_model_flops(tokens * generate::TrainingFlopsPerToken(step.plan));
  out->set_recomputed_flops(tokens * generate::RecomputedFlopsPerToken(step.plan));
  std::string dtype = DtypeName(t.dtype);
  const double peak = PeakFlops(step.device, &dtype);
  out->set_peak_tflops(peak / 1e12);
  out->set_peak_dtype(dtype);
  if (seconds <= 0) return;
  samples ? out->set_samples_per_s(tokens / seconds) : out->set_tokens_per_s(tokens / seconds);
  samples ? out->set_samples_per_s_per_device(tokens / seconds / devices)
          : out->set_tokens_per_s_per_device(tokens / seconds / devices);
  out->set_tflops_per_s_per_device(out->model_flops() / seconds / devices / 1e12);
  if (peak <= 0) return;
  out->set_mfu(out->model_flops() / seconds / devices / peak);
  out->set_hfu((out->model_flops() + out->recomputed_flops()) / seconds / devices / peak);
  out->set_mfu_formula(samples ? kTablesMfuFormula : t.frozen() ? kFrozenMfuFormula : kMfuFormula);
  out->set_hfu_formula(kHfuFormula);
}

// Warns of a step that is host-bound, with the range of the host's times.
void WarnOfHost(const ReplayedStep& step, proto::Report* report) {
  constexpr double kBoundBy = 0.25;  // of the step, in which only the host works
  double wait = 0, busy = 0;
  for (const RankMetrics& m : step.metrics.ranks) {
    wait += (m.end - m.compute_busy - m.exposed_comm - m.exposed_memory - m.idle).seconds();
    busy += m.host_busy.seconds();
  }
  const double whole = step.metrics.makespan.seconds() * static_cast<double>(step.metrics.ranks.size());
  if (Share(wait, whole) < kBoundBy) return;
  const std::string& range = step.plan.training.host_range;
  report->add_warning(
      absl::StrFormat("the step is host-bound: the host works in %.1f %% of it, and in %.1f %% nothing "
                      "else does; times of host %s",
                      100 * Share(busy, whole), 100 * Share(wait, whole), range));
}

std::string PercentText(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

std::string Rounded(double number) { return FormatCount(static_cast<uint64_t>(number + 0.5)); }

}  // namespace

std::vector<std::vector<uint8_t>> CommKindsOf(const TraceSet& traces) {
  std::vector<std::vector<uint8_t>> kinds;
  for (const Graph* graph : DistinctGraphs(traces).graphs) {
    std::vector<uint8_t>& of_graph = kinds.emplace_back(graph->comm.size(), uint8_t{kOther});
    for (uint32_t row = 0; row < graph->size() && !graph->lane.empty(); ++row) {
      if (graph->type[row] < NodeType::kSend) continue;
      of_graph[graph->payload[row]] = KindOfStream(graph->lane[row]);
    }
  }
  return kinds;
}

const char* PhaseName(size_t phase) { return phase < std::size(kPhases) ? kPhases[phase] : "(no phase)"; }

RowPhases PhasesOf(const StepPlan& plan, const TraceSet& traces) {
  const generate::Layout layout(plan.split);
  const DistinctGraphs distinct(traces);
  RowPhases phases(distinct.graphs.size());
  for (int64_t stage = 0; stage < plan.split.graphs(); ++stage) {
    const uint32_t g = distinct.of_rank[static_cast<size_t>(layout.FirstOf(stage))];
    if (!phases[g].empty()) continue;
    const auto built = generate::BuildStage(plan, stage);
    if (!built.ok() || built->nodes.size() != distinct.graphs[g]->size()) return {};
    for (const generate::StepNode& node : built->nodes) {
      uint8_t phase = 0;
      while (phase < std::size(kPhases) && absl::string_view(node.spot.phase) != kPhases[phase]) ++phase;
      phases[g].push_back(phase);
    }
  }
  return phases;
}

double PeakFlops(const proto::Device& device, std::string* dtype) {
  auto peak = device.peak_tflops().find(*dtype);
  if (peak == device.peak_tflops().end()) {
    *dtype = device.default_dtype().empty() ? "bf16" : device.default_dtype();
    peak = device.peak_tflops().find(*dtype);
  }
  return peak == device.peak_tflops().end() ? 0 : peak->second * 1e12;
}

// As in proto::Device::peak_tflops.
std::string DtypeName(proto::Training::Dtype dtype) {
  if (dtype == proto::Training::NVFP4) return "fp4";
  return absl::AsciiStrToLower(proto::Training::Dtype_Name(dtype));
}

// "dp 8, 21 tables on one rank each, 5 shared by rows, 8192 samples a rank"
std::string TablesText(const StepPlan& plan) {
  using generate::TablePlace;
  std::string out = absl::StrCat("dp ", plan.split.dp);
  for (const auto& [place, text] : {std::pair{TablePlace::kOneRank, " tables on one rank each"},
                                    {TablePlace::kRows, " shared by rows"},
                                    {TablePlace::kCopied, " copied"}}) {
    const int64_t tables = plan.table_plan.Sum(place).tables;
    if (tables > 0) absl::StrAppend(&out, ", ", tables, text);
  }
  return absl::StrCat(out, ", ", plan.training.micro_batch, " samples a rank");
}

std::string SplitText(const StepPlan& plan) {
  const generate::Split& s = plan.split;
  if (plan.tables.any()) return TablesText(plan);
  std::string out = absl::StrCat("tp ", s.tp, s.sp ? " sp" : "", ", pp ", s.pp);
  if (s.vpp > 1) absl::StrAppend(&out, " x ", s.vpp);
  absl::StrAppend(&out, ", dp ", s.dp);
  if (s.cp > 1) absl::StrAppend(&out, ", cp ", s.cp);
  if (plan.model.experts > 0) absl::StrAppend(&out, ", ep ", s.ep, ", etp ", s.etp);
  absl::StrAppend(&out, ", zero ", s.zero, ", micro-batch ", plan.training.micro_batch);
  if (plan.training.recompute != proto::Training::NONE) {
    absl::StrAppend(&out, ", recompute ",
                    plan.training.recompute == proto::Training::SELECTIVE
                        ? generate::NamesOf(plan.training.modules)
                        : absl::AsciiStrToLower(proto::Training::Recompute_Name(plan.training.recompute)));
  }
  const generate::Offload& offload = plan.training.offload;
  if (offload.activations) absl::StrAppend(&out, ", activations of ", offload.layers, " layers offloaded");
  if (offload.share > 0) absl::StrAppend(&out, ", ", 100 * offload.share, " % of the optimizer offloaded");
  return out;
}

void AddTraining(const ReplayedStep& step, proto::Report* report) {
  proto::TrainingReport& out = *report->mutable_training();
  out.set_model(step.plan.name);
  out.set_split(SplitText(step.plan));
  AddRates(step, &out);
  double bubbles = 0;
  for (const proto::RankReport& rank : report->rank()) bubbles += static_cast<double>(rank.bubble_ps());
  out.set_bubble_share(
      Share(bubbles, static_cast<double>(report->makespan_ps()) * static_cast<double>(report->rank_size())));
  AddMemory(step, report);
  AddExposed(step.metrics, &out);
  AddPhases(step, &out);
  WarnOfMemory(step.plan, report);
  WarnOfHost(step, report);
}

std::string PrintTraining(const proto::Report& report, TextPage* page) {
  if (!report.has_training()) return "";
  const proto::TrainingReport& t = report.training();
  const bool samples = t.has_samples();
  std::string out =
      absl::StrCat("\nTraining step of ", t.model(), " (", t.split(), ")\n  ",
                   samples ? "samples  " : "tokens   ", Rounded(samples ? t.samples() : t.tokens()),
                   " a step, ", Rounded(samples ? t.samples_per_s() : t.tokens_per_s()), " a second, ",
                   Rounded(samples ? t.samples_per_s_per_device() : t.tokens_per_s_per_device()),
                   " of them on a device\n");
  if (t.peak_tflops() > 0) {
    absl::StrAppendFormat(&out, "  MFU      %s, HFU %s: %.1f of %g TFLOP/s (%s) a device\n",
                          PercentText(t.mfu()), PercentText(t.hfu()), t.tflops_per_s_per_device(),
                          t.peak_tflops(), t.peak_dtype());
    absl::StrAppend(&out, "           MFU: ", t.mfu_formula(), "\n           HFU: ", t.hfu_formula(), "\n");
  } else {
    absl::StrAppendFormat(&out, "  rate     %.1f TFLOP/s a device, whose peak is not known\n",
                          t.tflops_per_s_per_device());
  }
  absl::StrAppend(&out, "  bubble   ", PercentText(t.bubble_share()),
                  " of the step: mean over ranks of the time in which nothing runs\n");
  absl::StrAppend(
      &out, "  memory   ", FormatBytes(t.peak_memory_bytes()), " at the peak",
      t.device_memory_bytes() > 0 ? absl::StrCat(" of ", FormatBytes(t.device_memory_bytes())) : "",
      ", only tensors\n\n");
  RowTable<proto::StageMemory> memory;
  for (const proto::StageMemory& m : t.memory()) memory.Add(m);
  RowTable<proto::PhaseReport> phases;
  for (const proto::PhaseReport& p : t.phase()) phases.Add(p);
  RowTable<proto::ExposedReport> exposed;
  exposed.Title("kind", "exposed communication");
  for (const proto::ExposedReport& e : t.exposed()) exposed.Add(e);
  absl::StrAppend(&out, memory.Print(page));
  if (t.phase_size() > 0) absl::StrAppend(&out, "\n", phases.Print(page));
  if (t.exposed_size() > 0) absl::StrAppend(&out, "\n", exposed.Print(page));
  return out;
}

}  // namespace chakra
