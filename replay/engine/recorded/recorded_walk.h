// The nodes of one rank in recorded order, with the times when each begins and ends. Walks replay a run in
// which all communication takes its recorded time and no lane is queued.
//
// A node begins when its dependencies and the previous node of its lane have ended. So times are maxima and
// sums, and no queue of events is needed: a rank continues from node to node until one waits for a call that
// not all members have reached.
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

// When a node ended. Among ends at the same instant, nodes that take no time end in later rounds: see
// Engine::Loop().
struct RoundEnd {
  int64_t ps = 0;
  uint32_t round = 0;
  uint32_t waits =
      kNoRow;  // the end is `ps` after the last arrival at this rendezvous; kNoRow: the end is known
  bool Before(const RoundEnd& o) const { return ps != o.ps ? ps < o.ps : round < o.round; }
};

// The properties that graphs have in common if they share all columns except those of times.
struct RecordedShape {
  static constexpr int32_t kMostLanes = 4096;
  const Graph* like = nullptr;  // one of these graphs; all ranks read its columns, so that the columns stay
                                // in the caches
  // Whether a walk can replay the graph. This requires no delays, no releases before the end, no node on a
  // queued lane, no memory nodes, no lanes of the host, and rows in recorded order.
  bool fits = false;
  uint32_t window = 1;  // a power of 2; each dependency is fewer rows back than this
  uint32_t lanes = 0;   // all lanes are below this
  static RecordedShape Of(const Graph& graph);
};

// A walk of one rank through its nodes.
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

  // Continues the walk. Calls these functions of `run`, for each node in order:
  //   bool Known(rendezvous, RoundEnd*): whether the rendezvous is complete, and when its last member arrived
  //   bool Arrive(rendezvous, begin, transfer, eager): communication begins; false: give up the run
  //   void Ran(row, begin, end): a node ran; `end.waits` is set if its end is not known
  // The number `rendezvous` is that of a call, or the number of calls plus that of a message. Returns kDone,
  // kLost if the walk cannot replay the times, or the rendezvous that the next node waits for.
  static constexpr uint32_t kDone = kNoRow, kLost = kNoRow - 1;
  template <typename Run>
  uint32_t GoOn(Run* run);

  uint32_t rows_done() const { return at_; }
  // Prefetch the data of the next nodes, so that several ranks wait for memory at the same time. Call them in
  // this order: each prefetches the addresses that the next one reads. AskLast() returns the sum of what it
  // read, which wraps around; it sets `rendezvous` to the rank's next rendezvous, or kDone.
  void AskFirst() const {
    Prefetch(this);
    Prefetch(&ends_);
  }
  void AskNext() const;
  uint64_t AskLast(uint32_t* rendezvous) const;
  const Graph& graph() const { return *own_; }

 private:
  static constexpr uint32_t kAhead = 32;  // rows that are prepared together, so that times are read in one go
  static constexpr uint32_t kTouched = 2;  // rows that AskLast() prefetches
  static constexpr int64_t kMost = Time::Never().picos();
  enum Kind : uint8_t { kOther, kEager, kWaits };
  // A row that has not begun.
  struct Next {
    int64_t ps;        // its duration; kWaits: from the arrival of the last member on
    uint32_t rendezvous;  // for communication
    uint16_t lane;     // lane in the trace, kNoEnd, or kChained: see ChainOf()
    Kind kind;
  };
  static constexpr uint16_t kNoEnd = 0xffff, kChained = 0xfffe;

  bool LooksAheadSoon() const { return at_ + kTouched >= looked_ && looked_ < graph_->size(); }
  void LookAhead();
  void ReadTransfers(const uint32_t* payload, uint32_t count, Time* times) const;
  uint16_t LaneOf(uint32_t row) const;
  // The end of the previous node in the row's chain, for communication without a recorded lane.
  RoundEnd* ChainOf(uint32_t row);
  template <typename Run>
  bool Settle(Run* run, RoundEnd* end);
  template <typename Run>
  static bool Begin(Run* run, const Next& next, const RoundEnd& begin, RoundEnd* end);

  // Sets `end` to `ps` after `begin`. Returns false if `ps` is negative or the end exceeds the longest
  // simulated time.
  static bool After(const RoundEnd& begin, int64_t ps, RoundEnd* end) {
    end->waits = kNoRow;
    if (ps < 0 || __builtin_add_overflow(begin.ps, ps, &end->ps) || end->ps == kMost) return false;
    end->round = ps == 0 ? begin.round + 1 : 0;
    return true;
  }

  const Graph* graph_;  // a graph of the shape: all columns except times
  const Graph* own_;
  const RowTimes* compute_;
  const Matching* matching_;
  const Column<uint32_t>* slots_;  // numbers of calls and messages, by index into Graph::comm
  uint32_t mask_, lane_;           // of ends_: the last rows, at row & mask_; then the lanes, from lane_ on
  uint32_t at_ = 0, looked_ = 0;   // the next row; the row after those in ahead_
  uint32_t waits_for_ = kDone;
  std::vector<RoundEnd> ends_;
  // The last ends of communication without a recorded lane, by group, or by destination with bit 32 set.
  absl::flat_hash_map<uint64_t, RoundEnd> chains_;
  std::array<Next, kAhead> ahead_;  // row i is at i % kAhead
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

inline uint64_t RecordedWalk::AskLast(uint32_t* rendezvous) const {
  *rendezvous = kDone;
  for (uint32_t row = at_; row < std::min(at_ + kTouched, looked_); ++row) {
    const Next& next = ahead_[row % kAhead];
    if (next.kind != kOther) *rendezvous = next.rendezvous;
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

// The row's lane, or where else the end of its predecessor is stored.
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

// Whether the end is known, or can be computed now.
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
  if (next.ps < 0 || !run->Arrive(next.rendezvous, begin, next.ps, eager)) return false;
  if (eager) return After(begin, next.ps, end);  // an eager send does not wait
  end->ps = next.ps;
  end->waits = next.rendezvous;
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
