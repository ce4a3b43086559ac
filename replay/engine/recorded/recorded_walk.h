// The nodes of one rank in recorded order, with the times when each begins and ends: what a run needs where
// all communication takes its recorded time and no lane is queued.
//
// A node begins when what it waits for has ended: its dependencies and the node before it on its lane. So
// times are maxima and sums, and no queue of events is needed: a rank goes on from node to node until one
// waits for a call that not all members have reached.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/lanes.h"
#include "replay/engine/match/match.h"
#include "trace/base/prefetch.h"
#include "trace/model/trace.h"

namespace chakra {

// When a node ended. Of one instant, nodes that take no time end in later rounds: see Engine::Loop().
struct RoundEnd {
  int64_t ps = 0;
  uint32_t round = 0;
  uint32_t waits =
      kNoRow;  // the meeting after whose last member it ends, `ps` later; kNoRow: the end is known
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
        matching_(&matching),
        slots_(&matching.slots[static_cast<size_t>(trace.rank)].index()),
        mask_(shape.window - 1),
        lane_(shape.window),
        ends_(shape.window + shape.lanes) {}

  // Goes on. Calls of `run`, for each node in order:
  //   bool Known(meeting, RoundEnd*): whether the meeting is complete, and when its last member came
  //   bool Arrive(meeting, begin, transfer, eager): communication begins; false: the run is given up
  //   void Ran(row, begin, end): `end.waits` is set where it is not known
  // A meeting is a number: that of a call, or the number of calls and that of a message. Returns kDone, kLost
  // where the walk cannot replay the times, or the meeting that the next node waits for.
  static constexpr uint32_t kDone = kNoRow, kLost = kNoRow - 1;
  template <typename Run>
  uint32_t GoOn(Run* run);

  uint32_t rows_done() const { return at_; }
  // Ask for what the next nodes need, so that several ranks wait for memory at the same time: each for what
  // tells where the next one finds more. The last one returns the sum of what was read, which wraps around;
  // `meeting` is the next one, or kDone.
  void AskFirst() const {
    Prefetch(this);
    Prefetch(&ends_);
  }
  void AskNext() const;
  uint64_t AskLast(uint32_t* meeting) const;
  const Graph& graph() const { return *own_; }

 private:
  static constexpr uint32_t kAhead =
      32;  // rows that are looked at together, so that times are read in one go
  static constexpr uint32_t kTouched = 2;  // rows
  static constexpr int64_t kMost = Time::Never().picos();
  enum Kind : uint8_t { kOther, kEager, kWaits };
  // A row before it begins.
  struct Next {
    int64_t ps;        // how long it takes: kWaits: from when its last member comes
    uint32_t meeting;  // of communication
    uint16_t lane;     // of those of the trace, kNoEnd, or kChained: see ChainOf()
    Kind kind;
  };
  static constexpr uint16_t kNoEnd = 0xffff, kChained = 0xfffe;

  bool LooksAheadSoon() const { return at_ + kTouched >= looked_ && looked_ < graph_->size(); }
  void LookAhead();
  void ReadTransfers(const uint32_t* payload, uint32_t count, Time* times) const;
  uint16_t LaneOf(uint32_t row) const;
  // Where the end of the communication before, without a recorded lane, is.
  RoundEnd* ChainOf(uint32_t row);
  template <typename Run>
  bool Settle(Run* run, RoundEnd* end);
  template <typename Run>
  static bool Begin(Run* run, const Next& next, const RoundEnd& begin, RoundEnd* end);

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
  const Matching* matching_;
  const Column<uint32_t>* slots_;  // calls and messages by row of Graph::comm
  uint32_t mask_, lane_;           // of ends_: the last rows, by row; then the lanes
  uint32_t at_ = 0, looked_ = 0;   // the next row; the row behind those in ahead_
  uint32_t waits_for_ = kDone;
  std::vector<RoundEnd> ends_;
  // Communication without a recorded lane: by group, or destination and bit 32.
  absl::flat_hash_map<uint64_t, RoundEnd> chains_;
  std::array<Next, kAhead> ahead_;  // of row i: i % kAhead
};

inline void RecordedWalk::AskNext() const {
  constexpr size_t kLine = 64 / sizeof(RoundEnd);
  Prefetch(&ahead_[at_ % kAhead]);
  Prefetch(&ends_[at_ & mask_]);
  for (size_t i = lane_; i < std::min(ends_.size(), lane_ + 4 * kLine); i += kLine) Prefetch(&ends_[i]);
  if (!LooksAheadSoon()) return;
  Prefetch(compute_);
  Prefetch(reinterpret_cast<const char*>(compute_ + 1) - 1);
  Prefetch(&own_->transfer);
  Prefetch(slots_);
}

inline uint64_t RecordedWalk::AskLast(uint32_t* meeting) const {
  *meeting = kDone;
  for (uint32_t row = at_; row < std::min(at_ + kTouched, looked_); ++row) {
    const Next& next = ahead_[row % kAhead];
    if (next.kind != kOther) *meeting = next.meeting;
  }
  if (!LooksAheadSoon()) return 0;
  auto read = static_cast<uint64_t>((*compute_)[looked_].picos());
  for (uint32_t row = looked_; row < std::min(looked_ + kTouched, graph_->size()); ++row) {
    if (graph_->type[row] < NodeType::kSend) continue;
    const uint32_t payload = graph_->payload[row];
    read += (*slots_)[payload];
    if (!own_->transfer.empty()) read += static_cast<uint64_t>(own_->transfer[payload].picos());
  }
  return read;
}

// The row's lane, or where else the end of the node before it is.
inline uint16_t RecordedWalk::LaneOf(uint32_t row) const {
  if (RunsOnRecordedLane(*graph_, row)) return static_cast<uint16_t>(graph_->lane[row]);
  const NodeType type = graph_->type[row];
  return type == NodeType::kSend || type == NodeType::kCollective ? kChained : kNoEnd;
}

inline RoundEnd* RecordedWalk::ChainOf(uint32_t row) {
  const uint32_t index = (*slots_)[graph_->payload[row]];
  return &chains_[graph_->type[row] == NodeType::kSend
                      ? uint64_t{1} << 32 | static_cast<uint32_t>(matching_->messages[index].dst)
                      : uint64_t{matching_->calls[index].group}];
}

// Whether the end is known, or has become so.
template <typename Run>
bool RecordedWalk::Settle(Run* run, RoundEnd* end) {
  if (end->waits == kNoRow) return true;
  RoundEnd last;
  if (!run->Known(end->waits, &last)) {
    waits_for_ = end->waits;
    return false;
  }
  if (After(last, end->ps, end)) return true;
  waits_for_ = kLost;
  return false;
}

template <typename Run>
bool RecordedWalk::Begin(Run* run, const Next& next, const RoundEnd& begin, RoundEnd* end) {
  if (next.kind == kOther) return After(begin, next.ps, end);
  const bool eager = next.kind == kEager;
  if (next.ps < 0 || !run->Arrive(next.meeting, begin, next.ps, eager)) return false;
  if (eager) return After(begin, next.ps, end);  // it leaves its message behind
  end->ps = next.ps;
  end->waits = next.meeting;
  return true;
}

template <typename Run>
uint32_t RecordedWalk::GoOn(Run* run) {
  const Graph& graph = *graph_;
  for (const uint32_t rows = graph.size(); at_ < rows; ++at_) {
    const uint32_t row = at_;
    if (row == looked_) LookAhead();
    const Next& next = ahead_[row % kAhead];
    RoundEnd begin;
    for (uint32_t e = graph.dep_begin[row]; e < graph.dep_begin[row + 1]; ++e) {
      RoundEnd* dep = &ends_[graph.dep[e] & mask_];
      if (!Settle(run, dep)) return waits_for_;
      if (begin.Before(*dep)) begin = *dep;
    }
    RoundEnd* lane = next.lane < kChained    ? &ends_[lane_ + next.lane]
                     : next.lane == kChained ? ChainOf(row)
                                             : nullptr;
    if (lane != nullptr) {
      if (!Settle(run, lane)) return waits_for_;
      if (begin.Before(*lane)) begin = *lane;
    }
    RoundEnd end;
    if (!Begin(run, next, begin, &end)) return waits_for_ = kLost;
    run->Ran(row, begin, end);
    ends_[row & mask_] = end;
    if (lane != nullptr) *lane = end;
  }
  return waits_for_ = kDone;
}

}  // namespace chakra
