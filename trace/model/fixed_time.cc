#include "trace/model/fixed_time.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace chakra {

absl::string_view Name(FixedTimeCause cause) {
  static constexpr absl::string_view kNames[kFixedTimeCauses] = {
      "host gaps", "launch latency", "stream gaps", "start", "unexplained", "recorded waits", "other delays"};
  return kNames[static_cast<size_t>(cause)];
}

Time FixedTime::total() const {
  Time sum;
  for (const Time t : of) sum += t;
  return sum;
}

void AddDelay(const Graph& graph, uint32_t dep, FixedTime* to) {
  constexpr FixedTimeCause kOf[kDelayCauses] = {FixedTimeCause::kHostGaps, FixedTimeCause::kLaunchLatency,
                                                FixedTimeCause::kStreamGaps, FixedTimeCause::kStart,
                                                FixedTimeCause::kOther};
  const auto at = std::lower_bound(graph.dep_unexplained.begin(), graph.dep_unexplained.end(), dep,
                                   [](const auto& entry, uint32_t d) { return entry.first < d; });
  const bool known = at == graph.dep_unexplained.end() || at->first != dep;
  const Time unexplained = known ? Time::Zero() : at->second;
  (*to)[FixedTimeCause::kUnexplained] += unexplained;
  (*to)[kOf[static_cast<size_t>(graph.dep_cause[dep])]] += graph.dep_delay[dep] - unexplained;
}

RecordedWaits::RecordedWaits(const Graph& graph) : graph_(&graph), waits_(graph.strings.size()) {
  for (uint32_t i = 0; i < graph.strings.size(); ++i)
    waits_[i] = absl::EndsWith(graph.strings.Get(i), "Synchronize");
}

FixedTime LongestFixedTime(const Graph& graph) {
  FixedTime out;
  const uint32_t n = graph.size();
  if (n == 0) return out;
  const RecordedWaits waits(graph);
  std::vector<Time> end(n);
  std::vector<uint32_t> by(n, kNoRow);  // the entry of dep that decides when a row starts
  for (const uint32_t row : graph.order) {
    Time begin;
    for (uint32_t e = graph.dep_begin[row]; e < graph.dep_begin[row + 1]; ++e) {
      const Time ready = end[graph.dep[e]] + graph.dep_delay[e];
      if (ready <= begin) continue;
      begin = ready;
      by[row] = e;
    }
    end[row] = begin + waits.Of(row, graph.duration[row]);
  }
  auto row = static_cast<uint32_t>(std::max_element(end.begin(), end.end()) - end.begin());
  while (true) {
    out[FixedTimeCause::kRecordedWaits] += waits.Of(row, graph.duration[row]);
    if (by[row] == kNoRow) return out;
    AddDelay(graph, by[row], &out);
    row = graph.dep[by[row]];
  }
}

}  // namespace chakra
