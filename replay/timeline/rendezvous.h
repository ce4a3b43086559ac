// Finds for each communication node of a timeline the rank that it waited for.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/engine/match/match.h"
#include "replay/engine/spans.h"
#include "replay/timeline/timeline.h"
#include "replay/timeline/writer.h"

namespace chakra {

class AllRendezvous {
 public:
  // Prepares the ranks in `shown` (by rank). Their nodes may have waited for other ranks too, but arrows
  // connect only shown ranks. `input` must outlive the object. Errors: those of MatchCommunication().
  static absl::StatusOr<AllRendezvous> Make(const TimelineInput& input, const std::vector<bool>& shown);

  // Fills values, arrows and the wait of a communication node. The texts are valid as long as the traces and
  // this object.
  void Describe(int rank, uint32_t row, TimelineSlice* slice) const;

 private:
  struct Place {
    int rank = kNoRank;
    uint32_t row = kNoRow;
  };

  AllRendezvous(const TimelineInput& input, Matching matching)
      : input_(&input), matching_(std::move(matching)) {}
  void Arrive(const std::vector<bool>& shown);
  const NodeSpan& SpanOf(const Place& p) const { return (*input_->spans)[p.rank][p.row]; }
  void DescribeCall(const Place& own, uint32_t index, TimelineSlice* slice) const;
  void DescribeMessage(const Place& own, uint32_t index, TimelineSlice* slice) const;

  const TimelineInput* input_;
  Matching matching_;
  std::vector<bool> shown_;
  std::vector<Place> last_;            // by call: the member that arrived last; among equals, the lowest rank
  std::vector<uint64_t> first_place_;  // by call, with one more entry: first index into places_
  std::vector<Place> places_;          // shown members of each call, in order of rank
};

}  // namespace chakra
