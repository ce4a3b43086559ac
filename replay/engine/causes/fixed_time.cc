#include "replay/engine/causes/fixed_time.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

// A replay without lanes, in which only delays and recorded waits take time.
class FixedTimeReplay {
 public:
  FixedTimeReplay(const TraceSet& traces, const std::vector<ComputeTimes>& compute, const Matching& matching,
                  bool recorded_comm, const SymmetricRanks* symmetric)
      : traces_(traces),
        symmetric_(symmetric),
        compute_(compute),
        distinct_(traces),
        matching_(matching),
        recorded_comm_(recorded_comm),
        calls_(matching.calls.size()),
        messages_(matching.messages.size()) {
    for (const Graph* graph : distinct_.graphs) waits_.emplace_back(*graph);
  }

  std::vector<FixedTime> Run() {
    for (const RankTrace& trace : traces_.ranks) {
      const Graph& graph = *trace.graph;
      std::vector<Time>& at = at_.emplace_back();
      std::vector<uint32_t>& unmet = unmet_.emplace_back();
      if (IsSymmetricRank(symmetric_, trace.rank)) continue;
      at.resize(graph.size());
      unmet.resize(graph.size());
      for (uint32_t row = 0; row < graph.size(); ++row) {
        unmet[row] = graph.dep_begin[row + 1] - graph.dep_begin[row];
        if (unmet[row] == 0) ready_.push_back({static_cast<uint32_t>(trace.rank), row});
      }
    }
    while (!ready_.empty()) {
      const Place place = ready_.back();
      ready_.pop_back();
      Begin(place);
    }
    std::vector<FixedTime> out;
    for (uint32_t r = 0; r < at_.size(); ++r) out.push_back(PathOf(r));
    for (uint32_t r = 0; r < at_.size(); ++r) {
      if (IsSymmetricRank(symmetric_, static_cast<int>(r)))
        out[r] = out[static_cast<size_t>((*symmetric_)[r])];
    }
    return out;
  }

 private:
  struct Place {
    uint32_t rank = 0, row = kNoRow;
  };
  // The rendezvous of a call or message: the sides that have begun.
  struct Rendezvous {
    std::vector<Place> here;
    Time last;
    Place latest;  // the side that began at `last`; if several did, the lowest
  };

  const Graph& GraphOf(uint32_t rank) const { return *traces_.ranks[rank].graph; }

  Time WaitOf(Place p) const {
    const uint32_t g = distinct_.of_rank[p.rank];
    return waits_[g].Of(p.row, compute_[g].time[p.row]);
  }

  // When a row begins. Valid once all dependencies of the row have ended. `by`: the first entry of Graph::dep
  // that decides the start; kNoRow: none.
  Time BeginOf(Place p, uint32_t* by) const {
    const Graph& graph = GraphOf(p.rank);
    Time begin;
    *by = kNoRow;
    for (uint32_t e = graph.dep_begin[p.row]; e < graph.dep_begin[p.row + 1]; ++e) {
      const Time delay = graph.dep_delay.empty() ? Time::Zero() : graph.dep_delay[e];
      const Time ready = at_[p.rank][graph.dep[e]] + delay;
      if (ready <= begin) continue;
      begin = ready;
      *by = e;
    }
    return begin;
  }

  // The rendezvous of a row; null: the row is no communication. `expected`: the number of its sides.
  Rendezvous* RendezvousOf(Place p, uint32_t* expected) {
    const Graph& graph = GraphOf(p.rank);
    if (graph.type[p.row] < NodeType::kSend) return nullptr;
    const uint32_t index = matching_.slots[p.rank][graph.payload[p.row]].index;
    if (graph.type[p.row] == NodeType::kCollective) {
      *expected = matching_.calls[index].made;
      return &calls_[index];
    }
    const MatchedMessage& m = matching_.messages[index];
    *expected = (m.send_row != kNoRow) + (m.recv_row != kNoRow);
    return &messages_[index];
  }

  // Whether a row ends without waiting for the other side.
  bool Leaves(Place p) const {
    const Graph& graph = GraphOf(p.rank);
    return graph.type[p.row] == NodeType::kSend &&
           (!recorded_comm_ || graph.comm[graph.payload[p.row]].eager);
  }

  // Begins `p`, all of whose dependencies have ended. at_ contains the time when `p` may begin.
  void Begin(Place p) {
    uint32_t expected = 0;
    Rendezvous* rendezvous = RendezvousOf(p, &expected);
    const Time begin = at_[p.rank][p.row];
    if (rendezvous == nullptr) return End(p, begin + WaitOf(p));
    const auto lower = [](Place a, Place b) { return std::pair(a.rank, a.row) < std::pair(b.rank, b.row); };
    if (rendezvous->here.empty() || begin > rendezvous->last ||
        (begin == rendezvous->last && lower(p, rendezvous->latest))) {
      rendezvous->last = begin;
      rendezvous->latest = p;
    }
    rendezvous->here.push_back(p);
    if (Leaves(p)) End(p, begin);
    if (rendezvous->here.size() < expected) return;
    for (const Place side : rendezvous->here) {
      if (!Leaves(side)) End(side, rendezvous->last);
    }
  }

  void End(Place p, Time end) {
    const Graph& graph = GraphOf(p.rank);
    at_[p.rank][p.row] = end;
    for (uint32_t e = graph.child_begin[p.row]; e < graph.child_begin[p.row + 1]; ++e) {
      const uint32_t child = graph.child[e];
      Time& begin = at_[p.rank][child];
      begin = std::max(begin, end + (graph.child_delay.empty() ? Time::Zero() : graph.child_delay[e]));
      if (--unmet_[p.rank][child] == 0) ready_.push_back({p.rank, child});
    }
  }

  // The fixed time on the path to the rank's last end.
  FixedTime PathOf(uint32_t rank) {
    FixedTime out;
    if (at_[rank].empty()) return out;
    const auto last = std::max_element(at_[rank].begin(), at_[rank].end());
    Place p = {rank, static_cast<uint32_t>(last - at_[rank].begin())};
    while (true) {
      uint32_t expected = 0, by = kNoRow;
      if (const Rendezvous* rendezvous = RendezvousOf(p, &expected); rendezvous == nullptr) {
        out[FixedTimeCause::kRecordedWaits] += WaitOf(p);
      } else if (!Leaves(p) && BeginOf(p, &by) < rendezvous->last) {
        p = rendezvous->latest;
      }
      BeginOf(p, &by);
      if (by == kNoRow) return out;
      const Graph& graph = GraphOf(p.rank);
      if (HasDelays(graph)) AddDelay(graph, by, &out);
      p.row = graph.dep[by];
    }
  }

  const TraceSet& traces_;
  const SymmetricRanks* const symmetric_;
  const std::vector<ComputeTimes>& compute_;
  const DistinctGraphs distinct_;
  const Matching& matching_;
  const bool recorded_comm_;
  std::vector<RecordedWaits> waits_;          // by distinct graph
  std::vector<std::vector<uint32_t>> unmet_;  // by rank and row: dependencies that have not ended
  std::vector<std::vector<Time>> at_;  // by rank and row: when the row may begin; once it has ended, its end
  std::vector<Rendezvous> calls_, messages_;
  std::vector<Place> ready_;
};

}  // namespace

std::vector<FixedTime> FixedTimeOfRanks(const TraceSet& traces, const std::vector<ComputeTimes>& compute,
                                        const Matching& matching, bool recorded_comm,
                                        const SymmetricRanks* symmetric) {
  return FixedTimeReplay(traces, compute, matching, recorded_comm, symmetric).Run();
}

FixedTime FixedTimeOfPath(const CauseRef& final, const TraceSet& traces,
                          const std::vector<ComputeTimes>& compute) {
  const DistinctGraphs distinct(traces);
  std::vector<RecordedWaits> waits;
  for (const Graph* graph : distinct.graphs) waits.emplace_back(*graph);
  FixedTime out;
  for (const Cause* cause = final.get(); cause != nullptr; cause = cause->parent.get()) {
    if (cause->kind == Cause::kNode) {
      const uint32_t g = distinct.of_rank[cause->rank];
      const Time length = cause->at - cause->parent.at();
      out[FixedTimeCause::kRecordedWaits] +=
          waits[g].Of(cause->row, std::min(length, compute[g].time[cause->row]));
    } else if (cause->kind == Cause::kDelay) {
      const Graph& graph = *traces.ranks[cause->rank].graph;
      const auto begin = graph.dep.begin() + graph.dep_begin[cause->row];
      const auto end = graph.dep.begin() + graph.dep_begin[cause->row + 1];
      const auto dep = std::lower_bound(begin, end, cause->of);
      AddDelay(graph, static_cast<uint32_t>(dep - graph.dep.begin()), &out);
    }
  }
  return out;
}

}  // namespace chakra
