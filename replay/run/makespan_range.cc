#include "replay/run/makespan_range.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

// By how much times may be longer (up) and shorter (down), in picoseconds.
struct Slack {
  double up = 0, down = 0;
  void Add(const Slack& other, double share) {
    up += share * other.up;
    down += share * other.down;
  }
};

// Slacks by graph and call, with the family of the call.
class Slacks {
 public:
  void Add(uint32_t graph, const ComputeTimes& times, uint32_t row, double share) {
    if (times.spread.empty()) return;
    const TimeSpread& s = times.spread[row];
    if (s.high == Time::Zero()) return;
    const double ps = static_cast<double>(times.time[row].picos());
    auto& [family, slack] = calls_[{graph, s.call}];
    family = s.family;
    slack.Add({static_cast<double>(s.high.picos()) - ps, ps - static_cast<double>(s.low.picos())}, share);
  }

  bool empty() const { return calls_.empty(); }

  Slack Total() const {
    std::map<uint8_t, Slack> shared;
    Slack squares;
    for (const auto& [key, call] : calls_) {
      const auto& [family, slack] = call;
      shared[family].Add(slack, 1);
      squares.up += (1 - kSharedVariance) * slack.up * slack.up;
      squares.down += (1 - kSharedVariance) * slack.down * slack.down;
    }
    for (const auto& [family, slack] : shared) {
      squares.up += kSharedVariance * slack.up * slack.up;
      squares.down += kSharedVariance * slack.down * slack.down;
    }
    return {std::sqrt(squares.up), std::sqrt(squares.down)};
  }

 private:
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint8_t, Slack>> calls_;
};

Slacks AlongPath(const CriticalPath& path, const DistinctGraphs& distinct,
                 const std::vector<ComputeTimes>& times) {
  Slacks slacks;
  for (const PathSegment& s : path.segments) {
    if (s.kind != PathKind::kNode || s.row == kNoRow) continue;
    const uint32_t g = distinct.of_rank[s.rank];
    const double whole = static_cast<double>(times[g].time[s.row].picos());
    const double part = static_cast<double>(s.length().picos());
    if (whole > 0) slacks.Add(g, times[g], s.row, std::min(1.0, part / whole));
  }
  return slacks;
}

// The slacks of all rows of a graph. If its device operations take longer in sum than `busy`, some ran at the
// same time, and the slacks are scaled down accordingly.
Slacks OfGraph(uint32_t g, const Graph& graph, const ComputeTimes& times, Time busy) {
  double sum = 0;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (graph.type[row] == NodeType::kComp && !graph.is_cpu(row))
      sum += static_cast<double>(times.time[row].picos());
  }
  const double share = sum > 0 ? std::min(1.0, static_cast<double>(busy.picos()) / sum) : 1;
  Slacks slacks;
  for (uint32_t row = 0; row < graph.size(); ++row) slacks.Add(g, times, row, share);
  return slacks;
}

}  // namespace

std::optional<MakespanRange> RangeOfMakespan(const Metrics& metrics, const TraceSet& traces,
                                             const std::vector<ComputeTimes>& times,
                                             const CriticalPath* path) {
  const bool any = std::any_of(times.begin(), times.end(), [](const auto& t) { return !t.spread.empty(); });
  if (!any) return std::nullopt;
  const DistinctGraphs distinct(traces);
  Slack most;
  if (path != nullptr) {
    most = AlongPath(*path, distinct, times).Total();
  } else {
    std::vector<Time> busy(times.size());  // by graph: the maximum over its ranks
    for (size_t rank = 0; rank < distinct.of_rank.size(); ++rank) {
      Time& b = busy[distinct.of_rank[rank]];
      b = std::max(b, metrics.ranks[rank].compute_busy);
    }
    for (size_t g = 0; g < times.size(); ++g) {
      const Slack s = OfGraph(static_cast<uint32_t>(g), *distinct.graphs[g], times[g], busy[g]).Total();
      most.up = std::max(most.up, s.up);
      most.down = std::max(most.down, s.down);
    }
  }
  const double ps = static_cast<double>(metrics.makespan.picos());
  return MakespanRange{Time::Picos(std::llround(std::max(0.0, ps - most.down))),
                       Time::Picos(std::llround(std::min(9e18, ps + most.up)))};
}

}  // namespace chakra
