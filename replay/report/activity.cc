#include "replay/report/activity.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "replay/engine/measure/busy.h"
#include "replay/report/intervals.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

constexpr std::array<const char*, 4> kKinds = {"compute", "host", "communication",
                                               "memory"};  // by BusyClock::Class

std::string Levels(const Intervals& intervals, int64_t bucket) {
  std::vector<int64_t> busy;
  for (const auto& [begin, end] : intervals) {
    for (int64_t i = begin / bucket; i * bucket < end; ++i) {
      if (busy.size() <= static_cast<size_t>(i)) busy.resize(static_cast<size_t>(i) + 1);
      busy[static_cast<size_t>(i)] += std::min(end, (i + 1) * bucket) - std::max(begin, i * bucket);
    }
  }
  std::string levels;
  for (const int64_t ps : busy) {
    const double level = 9.0 * static_cast<double>(ps) / static_cast<double>(bucket);
    levels += static_cast<char>('0' + (ps > 0 ? std::clamp(static_cast<int>(level + 0.5), 1, 9) : 0));
  }
  return levels;
}

struct Lane {
  std::string name;
  std::array<Intervals, kKinds.size()> of_kind;
  int64_t busy = 0;
};

// The busiest lanes, in order of name.
std::vector<Lane> LanesOf(const Graph& graph, const std::vector<NodeSpan>& spans, const NamedLanes& named) {
  std::vector<Lane> out(named.names.size());
  for (uint32_t row = 0; row < graph.size() && row < spans.size(); ++row) {
    const BusyClock::Class c = ClassOf(graph, row);
    if (c == BusyClock::kNothing || spans[row].end <= spans[row].begin) continue;
    out[named.of_row[row]].of_kind[c].emplace_back(spans[row].begin.picos(), spans[row].end.picos());
  }
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].name = named.names[i];
    for (Intervals& intervals : out[i].of_kind) out[i].busy += Join(&intervals);
  }
  std::sort(out.begin(), out.end(), [](const Lane& a, const Lane& b) {
    return a.busy != b.busy ? a.busy > b.busy : a.name < b.name;
  });
  if (out.size() > ActivityMeter::kLanes) out.resize(ActivityMeter::kLanes);
  std::sort(out.begin(), out.end(), [](const Lane& a, const Lane& b) { return a.name < b.name; });
  return out;
}

}  // namespace

ActivityMeter::ActivityMeter(const TraceSet& traces, LanePolicy policy, const SymmetricRanks* symmetric,
                             LaneNames* lanes)
    : traces_(traces), policy_(policy), symmetric_(symmetric), lanes_(lanes) {
  const auto all = static_cast<int64_t>(traces.ranks.size());
  const int64_t shown = std::min<int64_t>(all, kRanks);
  for (int64_t i = 0; i < shown; ++i) ranks_.push_back(static_cast<int>(i * all / shown));
  spans_.resize(ranks_.size());
}

void ActivityMeter::Measure(uint32_t rank, const std::vector<NodeSpan>& spans) {
  for (size_t i = 0; i < ranks_.size(); ++i) {
    if (OfRank(ranks_[i]) != static_cast<int>(rank)) continue;
    const std::lock_guard<std::mutex> lock(mutex_);
    spans_[i] = spans;
  }
}

void ActivityMeter::AddTo(Time end, proto::Report* report) const {
  if (end <= Time::Zero()) return;
  const int64_t bucket = (end.picos() - 1) / kBuckets + 1;
  report->set_activity_bucket_ps(bucket);
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const Graph& graph = *traces_.ranks[static_cast<size_t>(OfRank(ranks_[i]))].graph;
    for (const Lane& lane : LanesOf(graph, spans_[i], *lanes_->Of(graph, policy_))) {
      for (size_t kind = 0; kind < kKinds.size(); ++kind) {
        if (lane.of_kind[kind].empty()) continue;
        proto::ActivityRow& row = *report->add_activity();
        row.set_rank(ranks_[i]);
        row.set_lane(ToUtf8(lane.name));
        row.set_kind(kKinds[kind]);
        row.set_busy(Levels(lane.of_kind[kind], bucket));
      }
    }
  }
}

void AddRecordedActivity(const TraceSet& traces, proto::Report* report) {
  report->set_ranks(static_cast<int>(traces.ranks.size()));
  Time begin = Time::Never(), end;
  for (const RankTrace& rank : traces.ranks) {
    if (rank.graph->start.empty()) continue;
    for (uint32_t row = 0; row < rank.graph->size(); ++row) {
      if (rank.graph->duration[row] <= Time::Zero()) continue;
      const Time start = rank.graph->start[row];
      begin = std::min(begin, start);
      end = std::max(end, start + rank.graph->duration[row]);
    }
  }
  if (end <= begin) return;
  report->set_makespan_ps((end - begin).picos());
  LaneNames lanes;
  ActivityMeter meter(traces, LanePolicy::kRecorded, nullptr, &lanes);
  std::vector<NodeSpan> spans;
  for (uint32_t r = 0; r < traces.ranks.size(); ++r) {
    const Graph& graph = *traces.ranks[r].graph;
    spans.assign(graph.size(), {});
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.start.empty() || graph.duration[row] <= Time::Zero()) continue;
      const Time start = graph.start[row] - begin;
      spans[row] = {start, start + graph.duration[row]};
    }
    meter.Measure(r, spans);
  }
  meter.AddTo(end - begin, report);
}

}  // namespace chakra
