// Why each node of a run begins and ends when it does.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/engine/causes/cause.h"
#include "replay/engine/lanes.h"
#include "trace/model/symmetric_ranks.h"
#include "trace/model/trace.h"

namespace chakra {

// The engine keeps these during a run: one cause for each node that is ready or runs.
class NodeCauses {
 public:
  // Without Prepare() nothing is kept, and only on() may be called. Nothing is kept for ranks that are not
  // simulated because they are symmetric to others.
  void Prepare(const TraceSet& traces, const SymmetricRanks* symmetric) {
    for (const RankTrace& rank : traces.ranks)
      nodes_.emplace_back(IsSymmetricRank(symmetric, rank.rank) ? 0 : rank.graph->size());
    lanes_.resize(nodes_.size());
  }
  bool on() const { return !nodes_.empty(); }

  // The rank of a node without dependencies starts at `at`.
  void RankStarts(uint32_t rank, uint32_t row, Time at) {
    nodes_[rank][row] = Because({}, {.kind = Cause::kStart, .rank = rank, .row = row, .at = at});
  }
  // The node that ended last, in row `by`, delays this node until `at`, longer than any earlier node did.
  void Delays(uint32_t rank, uint32_t row, uint32_t by, Time at) {
    nodes_[rank][row] = Because(last_, {.kind = Cause::kDelay, .rank = rank, .row = row, .of = by, .at = at});
  }
  // The running node `by` releases this node at `released`, before its own end; a delay lasts until `at`.
  void Releases(uint32_t rank, uint32_t row, uint32_t by, Time released, Time at) {
    CauseRef ran = Because(nodes_[rank][by], {.rank = rank, .row = by, .at = released});
    nodes_[rank][row] =
        Because(std::move(ran), {.kind = Cause::kDelay, .rank = rank, .row = row, .of = by, .at = at});
  }
  // The node is ready because of the node that ended last.
  void Ready(uint32_t rank, uint32_t row) { nodes_[rank][row] = last_; }
  // The node begins on queued lane `lane`; it may have been ready earlier.
  void BeginsOn(size_t lane, uint32_t rank, uint32_t row, Time now) {
    if (nodes_[rank][row].at() < now) nodes_[rank][row] = Lane(rank, lane);
  }
  // Why a running node began; after EndsFor(), why it ends, if more than its own duration decides its end.
  const CauseRef& of(uint32_t rank, uint32_t row) const { return nodes_[rank][row]; }
  void EndsFor(uint32_t rank, uint32_t row, CauseRef cause) { nodes_[rank][row] = std::move(cause); }
  void Ends(uint32_t rank, uint32_t row, Time now) {
    last_ = Because(std::exchange(nodes_[rank][row], {}), {.rank = rank, .row = row, .at = now});
    if (now > final_.at() || (now == final_.at() && rank < final_rank_)) {
      final_ = last_;
      final_rank_ = rank;
    }
  }
  // The node that ended last frees queued lane `lane`.
  void Frees(size_t lane, uint32_t rank) { Lane(rank, lane) = last_; }

  // Why the last node of the run ended; of several nodes that ended last, the one on the lowest rank.
  const CauseRef& final() const { return final_; }

 private:
  CauseRef& Lane(uint32_t rank, size_t lane) {
    if (lanes_[rank].size() <= lane) lanes_[rank].resize(lane + 1);
    return lanes_[rank][lane];
  }
  std::vector<std::vector<CauseRef>> nodes_;
  std::vector<std::vector<CauseRef>> lanes_;
  CauseRef last_, final_;
  uint32_t final_rank_ = ~uint32_t{0};
};

}  // namespace chakra
