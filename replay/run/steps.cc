#include "replay/run/steps.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "replay/engine/spans.h"
#include "trace/base/median.h"
namespace chakra {
namespace {

Time StartOf(const Graph& graph, uint32_t row) {
  return graph.start.empty() ? Time::Zero() : graph.start[row];
}

// The device operations of one rank, by start: the recorded start, and its distance to the replayed start.
std::vector<std::pair<Time, Time>> Kernels(const Graph& graph, const std::vector<NodeSpan>& spans) {
  std::vector<std::pair<Time, Time>> kernels;
  kernels.reserve(graph.size());
  for (uint32_t row = 0; row < graph.size(); ++row) {
    const NodeType type = graph.type[row];
    if (graph.is_cpu(row) || type == NodeType::kMetadata || type == NodeType::kInvalid) continue;
    const Time start = StartOf(graph, row), begin = spans[row].begin;
    kernels.push_back({start, begin > start ? begin - start : start - begin});
  }
  if (!std::is_sorted(kernels.begin(), kernels.end())) std::sort(kernels.begin(), kernels.end());
  return kernels;
}

// Sets the kernel fields of `step`, from the kernels that were recorded to start in [begin, end].
void AddKernels(const std::vector<std::pair<Time, Time>>& kernels, Time begin, Time end, StepMetrics* step) {
  std::vector<int64_t> errors;
  for (auto it = std::lower_bound(kernels.begin(), kernels.end(), std::make_pair(begin, Time::Zero()));
       it != kernels.end() && it->first <= end; ++it) {
    errors.push_back(it->second.picos());
  }
  step->kernels = errors.size();
  step->kernel_start_error = Time::Picos(Median(std::move(errors)));
}

// The relative error of a step: that of its time or of its kernels, whichever is larger.
double OffBy(const StepMetrics& m) {
  if (m.measured == Time::Zero()) return 0;
  const double time = static_cast<double>((m.replayed - m.measured).picos());
  const double kernels = static_cast<double>(m.kernel_start_error.picos());
  return std::max(std::fabs(time), kernels) / static_cast<double>(m.measured.picos());
}

}  // namespace

StepMeter::StepMeter(const TraceSet& traces, const std::vector<std::optional<CaptureInfo>>& captures,
                     const SymmetricRanks* symmetric, size_t most)
    : traces_(traces), captures_(captures), most_(most) {
  for (size_t r = 0; r < captures_.size(); ++r) {
    if (!HasSteps(r)) continue;
    ++windows_;
    all_ += 1 + captures_[r]->steps.size();
    if (!IsSymmetricRank(symmetric, static_cast<int>(r))) continue;
    symmetric_.resize(captures_.size());
    symmetric_[static_cast<size_t>((*symmetric)[r])].push_back(static_cast<uint32_t>(r));
  }
}

bool StepMeter::HasSteps(size_t rank) const {
  return rank < captures_.size() && captures_[rank].has_value() &&
         captures_[rank]->window_end != Time::Zero();
}

// Orders steps by decreasing error, then by rank.
bool StepMeter::Ranked::operator<(const Ranked& o) const {
  if (off != o.off) return off > o.off;
  return std::tie(step.rank, index) < std::tie(o.step.rank, o.index);
}

std::vector<StepMetrics> StepMeter::StepsOf(uint32_t rank, const std::vector<NodeSpan>& spans) const {
  const CaptureInfo& capture = *captures_[rank];
  const Graph& graph = *traces_.ranks[rank].graph;
  const std::vector<std::pair<Time, Time>> kernels = Kernels(graph, spans);
  std::vector<StepMetrics> steps;
  StepMetrics window;
  window.rank = static_cast<int>(rank);
  window.recorded_rank = capture.rank;
  window.name = "window";
  window.measured = capture.window_end;
  for (const NodeSpan& span : spans) window.replayed = std::max(window.replayed, span.end);
  AddKernels(kernels, Time::Zero(), Time::Never(), &window);
  steps.push_back(window);
  for (const CaptureInfo::Step& s : capture.steps) {
    StepMetrics step = window;
    const Time begin = StartOf(graph, s.first), end = StartOf(graph, s.last) + graph.duration[s.last];
    step.name = s.name;
    step.measured = end - begin;
    step.replayed = spans[s.last].end - spans[s.first].begin;
    AddKernels(kernels, begin, end, &step);
    steps.push_back(std::move(step));
  }
  return steps;
}

void StepMeter::Measure(uint32_t rank, const std::vector<NodeSpan>& spans) {
  if (!HasSteps(rank)) return;
  std::vector<StepMetrics> steps = StepsOf(rank, spans);
  const std::lock_guard<std::mutex> lock(mutex_);
  Keep(rank, steps);
  if (symmetric_.empty()) return;
  for (const uint32_t is_symmetric : symmetric_[rank]) {
    for (StepMetrics& step : steps) step.recorded_rank = captures_[is_symmetric]->rank;
    Keep(is_symmetric, steps);
  }
}

void StepMeter::Keep(uint32_t rank, const std::vector<StepMetrics>& steps) {
  for (uint32_t i = 0; i < steps.size(); ++i) {
    Ranked& kept = (i == 0 ? kept_windows_ : kept_).emplace_back(Ranked{OffBy(steps[i]), i, steps[i]});
    kept.step.rank = static_cast<int>(rank);
  }
  if (all_ > windows_ + most_ && kept_.size() > 2 * most_) DropNearest();
}

void StepMeter::DropNearest() {
  if (kept_.size() <= most_) return;
  std::nth_element(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(most_), kept_.end());
  kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(most_), kept_.end());
}

std::vector<StepMetrics> StepMeter::Steps(uint64_t* left_out) {
  DropNearest();
  for (Ranked& window : kept_windows_) kept_.push_back(std::move(window));
  std::sort(kept_.begin(), kept_.end(), [](const Ranked& a, const Ranked& b) {
    return std::tie(a.step.rank, a.index) < std::tie(b.step.rank, b.index);
  });
  std::vector<StepMetrics> steps;
  steps.reserve(kept_.size());
  for (Ranked& kept : kept_) steps.push_back(std::move(kept.step));
  *left_out = all_ - steps.size();
  kept_.clear();
  kept_windows_.clear();
  return steps;
}

std::vector<StepMetrics> MeasureSteps(const TraceSet& traces,
                                      const std::vector<std::optional<CaptureInfo>>& captures,
                                      const NodeSpans& spans, const SymmetricRanks* symmetric) {
  StepMeter meter(traces, captures, symmetric, SIZE_MAX / 4);
  for (uint32_t r = 0; r < captures.size(); ++r) {
    if (!IsSymmetricRank(symmetric, static_cast<int>(r))) meter.Measure(r, spans[r]);
  }
  uint64_t left_out = 0;
  return meter.Steps(&left_out);
}

}  // namespace chakra
