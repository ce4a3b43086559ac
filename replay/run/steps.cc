#include "replay/run/steps.h"

#include <algorithm>
#include <utility>

#include "replay/engine/spans.h"
#include "trace/base/median.h"
namespace chakra {
namespace {

Time StartOf(const Graph& graph, uint32_t row) {
  return graph.start.empty() ? Time::Zero() : graph.start[row];
}

// The device operations of one rank: recorded start, and how far off the replay
// was; by start.
std::vector<std::pair<Time, Time>> Kernels(const Graph& graph, const std::vector<NodeSpan>& spans) {
  std::vector<std::pair<Time, Time>> kernels;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    const NodeType type = graph.type[row];
    if (graph.is_cpu(row) || type == NodeType::kMetadata || type == NodeType::kInvalid) continue;
    const Time start = StartOf(graph, row), begin = spans[row].begin;
    kernels.push_back({start, begin > start ? begin - start : start - begin});
  }
  std::sort(kernels.begin(), kernels.end());
  return kernels;
}

// Fills in what concerns kernels: of those recorded to start in [begin, end].
void AddKernels(const std::vector<std::pair<Time, Time>>& kernels, Time begin, Time end, StepMetrics* step) {
  std::vector<int64_t> errors;
  for (auto it = std::lower_bound(kernels.begin(), kernels.end(), std::make_pair(begin, Time::Zero()));
       it != kernels.end() && it->first <= end; ++it) {
    errors.push_back(it->second.picos());
  }
  step->kernels = errors.size();
  step->kernel_start_error = Time::Picos(Median(std::move(errors)));
}

// The steps of `of` once more, as those of its twin.
void AddTwin(int of, int rank, int recorded_rank, std::vector<StepMetrics>* steps) {
  for (size_t i = 0, n = steps->size(); i < n; ++i) {
    if ((*steps)[i].rank != of) continue;
    StepMetrics step = (*steps)[i];
    step.rank = rank;
    step.recorded_rank = recorded_rank;
    steps->push_back(std::move(step));
  }
}

}  // namespace

std::vector<StepMetrics> MeasureSteps(const TraceSet& traces,
                                      const std::vector<std::optional<CaptureInfo>>& captures,
                                      const NodeSpans& spans, const Twins* twins) {
  std::vector<StepMetrics> steps;
  for (size_t r = 0; r < captures.size(); ++r) {
    if (!captures[r].has_value() || captures[r]->window_end == Time::Zero()) continue;
    const CaptureInfo& capture = *captures[r];
    if (IsTwin(twins, static_cast<int>(r))) {
      AddTwin((*twins)[r], static_cast<int>(r), capture.rank, &steps);
      continue;
    }
    const Graph& graph = *traces.ranks[r].graph;
    const std::vector<NodeSpan>& own = spans[r];
    const std::vector<std::pair<Time, Time>> kernels = Kernels(graph, own);
    StepMetrics window;
    window.rank = static_cast<int>(r);
    window.recorded_rank = capture.rank;
    window.name = "window";
    window.measured = capture.window_end;
    for (const NodeSpan& span : own) window.replayed = std::max(window.replayed, span.end);
    AddKernels(kernels, Time::Zero(), Time::Never(), &window);
    steps.push_back(window);
    for (const CaptureInfo::Step& s : capture.steps) {
      StepMetrics step = window;
      const Time begin = StartOf(graph, s.first), end = StartOf(graph, s.last) + graph.duration[s.last];
      step.name = s.name;
      step.measured = end - begin;
      step.replayed = own[s.last].end - own[s.first].begin;
      AddKernels(kernels, begin, end, &step);
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

}  // namespace chakra
