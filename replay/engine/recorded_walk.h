// The nodes of one rank in recorded order, with the times when each begins and ends: what a run needs where
// all communication takes its recorded time and no lane is queued.
//
// A node begins when what it waits for has ended: its dependencies and the node before it on its lane. So
// times are maxima and sums, and no queue of events is needed: a rank goes on from node to node until one
// waits for a call that not all members have reached.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/lanes.h"
#include "replay/engine/match.h"
#include "trace/model/trace.h"

namespace chakra {

// When a node ended. Of one instant, nodes that take no time end in later rounds: see Engine::Loop().
struct RoundEnd {
  int64_t ps = 0;
  uint32_t round = 0;
  uint32_t waits = kNoRow;  // the row of a call whose end is not yet known; kNoRow: the end is known
  bool Before(const RoundEnd& o) const { return ps != o.ps ? ps < o.ps : round < o.round; }
};

// What graphs that share all columns but those of times have in common.
struct RecordedShape {
  static constexpr int32_t kMostLanes = 4096;
  const Graph* like = nullptr;  // one of them: ranks read its columns, so that these stay in the caches
  // Whether a walk can replay the graph: no delays, no releases before the end, no node on a queued lane, no
  // memory, no lanes of the host, and rows in recorded order.
  bool fits = false;
  uint32_t window = 1;  // a power of 2: dependencies are fewer rows before
  uint32_t lanes = 0;   // all lanes are below
  static RecordedShape Of(const Graph& graph);
};

// A rank on its way.
class RecordedWalk {
 public:
  // The arguments must outlive the walk.
  RecordedWalk(const RankTrace& trace, const RecordedShape& shape, const ComputeTimes& compute,
               const Matching& matching)
      : graph_(shape.like),
        own_(trace.graph.get()),
        compute_(&compute.time),
        transfer_(own_->transfer),
        matching_(&matching),
        slots_(matching.slots[static_cast<size_t>(trace.rank)].data()),
        mask_(shape.window - 1),
        lane_(shape.window),
        ends_(shape.window + shape.lanes) {}

  // Goes on. Calls of `run`, for each node in order:
  //   bool Known(meeting, RoundEnd*): whether the meeting is complete, and when its last member came
  //   bool Arrive(row, meeting, begin, transfer, eager): communication begins; false: the run is given up
  //   void Ran(row, begin, end): `end.waits` is set where it is not known
  // A meeting is a number: that of a call, or the number of calls and that of a message. Returns kDone, kLost
  // where the walk cannot replay the times, or the meeting that the next node waits for.
  static constexpr uint32_t kDone = kNoRow, kLost = kNoRow - 1;
  template <typename Run>
  uint32_t GoOn(Run* run);

  uint32_t rows_done() const { return at_; }
  uint32_t waits_for() const { return waits_for_; }
  // The recorded time of communication.
  int64_t Recorded(uint32_t row) const {
    const Time measured = transfer_.empty() ? Time::Never() : transfer_[graph_->payload[row]];
    return (measured == Time::Never() ? own_->duration[row] : measured).picos();
  }
  // Reads what the next nodes need, so that it is in the caches: the reads of several ranks wait for memory
  // at the same time. Returns what it read; `meeting` is the next one, or kDone.
  int64_t Touch(uint32_t* meeting) const {
    *meeting = kDone;
    int64_t read = ends_[at_ & mask_].ps + ends_.back().ps;
    for (uint32_t row = at_; row < std::min(at_ + kTouched, graph_->size()); ++row) {
      if (graph_->type[row] == NodeType::kComp) {
        read += (*compute_)[row].picos();
      } else if (graph_->type[row] >= NodeType::kSend) {
        read += Recorded(row);
        *meeting = MeetingOf(row);
      }
    }
    return read;
  }
  uint32_t MeetingOf(uint32_t row) const {
    const uint32_t index = slots_[graph_->payload[row]].index;
    return graph_->type[row] == NodeType::kCollective
               ? index
               : static_cast<uint32_t>(matching_->calls.size()) + index;
  }
  const Graph& graph() const { return *own_; }

 private:
  static constexpr uint32_t kTouched = 2;  // rows
  static constexpr int64_t kMost = Time::Never().picos();
  // Where the end of the node before `row` on its lane is; null: it has none.
  RoundEnd* LaneOf(uint32_t row);
  template <typename Run>
  bool Settle(Run* run, RoundEnd* end);
  template <typename Run>
  bool Begin(Run* run, uint32_t row, const RoundEnd& begin, RoundEnd* end);

  // `ps` after `begin`; false: past the longest time, or before it.
  static bool After(const RoundEnd& begin, int64_t ps, RoundEnd* end) {
    end->waits = kNoRow;
    if (ps < 0 || __builtin_add_overflow(begin.ps, ps, &end->ps) || end->ps == kMost) return false;
    end->round = ps == 0 ? begin.round + 1 : 0;
    return true;
  }

  const Graph* graph_;  // of the shape: all but times
  const Graph* own_;
  const RowTimes* compute_;
  NarrowColumn<Time> transfer_;
  const Matching* matching_;
  const CommSlot* slots_;
  uint32_t mask_, lane_;  // of ends_: the last rows, by row; then the lanes
  uint32_t at_ = 0;       // the next row
  uint32_t waits_for_ = kDone;
  std::vector<RoundEnd> ends_;
  // Communication without a recorded lane: by group, or destination and bit 32.
  absl::flat_hash_map<uint64_t, RoundEnd> chains_;
};

inline RoundEnd* RecordedWalk::LaneOf(uint32_t row) {
  if (RunsOnRecordedLane(*graph_, row)) return &ends_[lane_ + static_cast<uint32_t>(graph_->lane[row])];
  const NodeType type = graph_->type[row];
  if (type != NodeType::kSend && type != NodeType::kCollective) return nullptr;
  const uint32_t index = slots_[graph_->payload[row]].index;
  return &chains_[type == NodeType::kSend
                      ? uint64_t{1} << 32 | static_cast<uint32_t>(matching_->messages[index].dst)
                      : uint64_t{matching_->calls[index].group}];
}

// Whether the end is known, or has become so.
template <typename Run>
bool RecordedWalk::Settle(Run* run, RoundEnd* end) {
  if (end->waits == kNoRow) return true;
  const uint32_t row = end->waits, meeting = MeetingOf(row);
  RoundEnd last;
  if (!run->Known(meeting, &last)) {
    waits_for_ = meeting;
    return false;
  }
  if (After(last, Recorded(row), end)) return true;
  waits_for_ = kLost;
  return false;
}

template <typename Run>
bool RecordedWalk::Begin(Run* run, uint32_t row, const RoundEnd& begin, RoundEnd* end) {
  const NodeType type = graph_->type[row];
  if (type < NodeType::kSend)
    return After(begin, type == NodeType::kComp ? (*compute_)[row].picos() : 0, end);
  const bool eager = type == NodeType::kSend && graph_->comm[graph_->payload[row]].eager;
  const int64_t transfer = eager ? own_->duration[row].picos() : Recorded(row);
  if (transfer < 0 || !run->Arrive(row, MeetingOf(row), begin, transfer, eager)) return false;
  if (eager) return After(begin, transfer, end);  // it leaves its message behind
  end->waits = row;
  return true;
}

template <typename Run>
uint32_t RecordedWalk::GoOn(Run* run) {
  const Graph& graph = *graph_;
  for (const uint32_t rows = graph.size(); at_ < rows; ++at_) {
    const uint32_t row = at_;
    RoundEnd begin;
    for (uint32_t e = graph.dep_begin[row]; e < graph.dep_begin[row + 1]; ++e) {
      RoundEnd* dep = &ends_[graph.dep[e] & mask_];
      if (!Settle(run, dep)) return waits_for_;
      if (begin.Before(*dep)) begin = *dep;
    }
    RoundEnd* lane = LaneOf(row);
    if (lane != nullptr) {
      if (!Settle(run, lane)) return waits_for_;
      if (begin.Before(*lane)) begin = *lane;
    }
    RoundEnd end;
    if (!Begin(run, row, begin, &end)) return waits_for_ = kLost;
    run->Ran(row, begin, end);
    ends_[row & mask_] = end;
    if (lane != nullptr) *lane = end;
  }
  return waits_for_ = kDone;
}

}  // namespace chakra
