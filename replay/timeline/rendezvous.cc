#include "replay/timeline/rendezvous.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "replay/engine/spans.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// Calls f(rank, row, slot) for each collective of the traces.
template <typename F>
void ForEachCall(const TraceSet& traces, const Matching& matching, const F& f) {
  for (const RankTrace& trace : traces.ranks) {
    const Graph& graph = *trace.graph;
    if (graph.comm.empty()) continue;
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] != NodeType::kCollective) continue;
      f(trace.rank, row, matching.slots[trace.rank][graph.payload[row]].index);
    }
  }
}

}  // namespace

absl::StatusOr<AllRendezvous> AllRendezvous::Make(const TimelineInput& input,
                                                  const std::vector<bool>& shown) {
  ASSIGN_OR_RETURN(Matching matching,
                   MatchCommunication(*input.traces, input.dimension_sizes, input.recorded_comm));
  AllRendezvous all_rendezvous(input, std::move(matching));
  all_rendezvous.Arrive(shown);
  return all_rendezvous;
}

void AllRendezvous::Arrive(const std::vector<bool>& shown) {
  shown_ = shown;
  last_.resize(matching_.calls.size());
  first_place_.assign(matching_.calls.size() + 1, 0);
  ForEachCall(*input_->traces, matching_, [&](int rank, uint32_t row, uint32_t call) {
    const Place place = {rank, row};
    Place& last = last_[call];
    if (last.row == kNoRow || SpanOf(place).begin > SpanOf(last).begin) last = place;
    if (shown[rank]) ++first_place_[call + 1];
  });
  for (size_t c = 1; c < first_place_.size(); ++c) first_place_[c] += first_place_[c - 1];
  places_.resize(first_place_.back());
  std::vector<uint64_t> next(first_place_.begin(), first_place_.end() - 1);
  ForEachCall(*input_->traces, matching_, [&](int rank, uint32_t row, uint32_t call) {
    if (shown[rank]) places_[next[call]++] = {rank, row};
  });
}

void AllRendezvous::Describe(int rank, uint32_t row, TimelineSlice* slice) const {
  const RankTrace& trace = input_->traces->ranks[rank];
  const Graph& graph = *trace.graph;
  const uint32_t payload = graph.payload[row];
  slice->values.push_back({"bytes", graph.comm[payload].bytes});
  const uint32_t index = matching_.slots[rank][payload].index;
  if (graph.type[row] == NodeType::kCollective) {
    DescribeCall({rank, row}, index, slice);
  } else {
    DescribeMessage({rank, row}, index, slice);
  }
}

void AllRendezvous::DescribeCall(const Place& own, uint32_t index, TimelineSlice* slice) const {
  const CollectiveCall& call = matching_.calls[index];
  const GroupInfo& group = matching_.groups[call.group];
  const absl::string_view kind = Name(call.type);
  slice->values.push_back({"collective", 0, kind});
  slice->values.push_back({"group", 0, group.name.empty() ? "all ranks" : absl::string_view(group.name)});
  slice->values.push_back({"group_ranks", static_cast<uint64_t>(group.size)});
  slice->values.push_back({"call", call.position});
  if (input_->metrics != nullptr) {
    const auto& measured = input_->metrics->collectives;
    const auto it = measured.find({std::string(kind), group.name});
    if (it != measured.end() && it->second.chosen.size() == 1)
      slice->values.push_back({"algorithm", 0, it->second.chosen[0].algorithm});
  }
  const Place& last = last_[index];
  slice->values.push_back({"last_rank", static_cast<uint64_t>(last.rank)});
  const NodeSpan& came = SpanOf(last);
  if (last.rank == own.rank) {
    for (uint64_t p = first_place_[index]; p < first_place_[index + 1]; ++p) {
      if (places_[p].rank != own.rank) slice->arrows.push_back({p + 1, true, came, SpanOf(places_[p])});
    }
    return;
  }
  if (slice->span.end <= came.begin) return;  // the node did not need the last member
  slice->values.push_back({"wait_ps", static_cast<uint64_t>((came.begin - slice->span.begin).picos())});
  slice->wait = absl::StrCat("until rank ", last.rank, " arrives");
  slice->wait_end = came.begin;
  if (!shown_[last.rank]) return;
  const auto begin = places_.begin() + static_cast<ptrdiff_t>(first_place_[index]);
  const auto end = places_.begin() + static_cast<ptrdiff_t>(first_place_[index + 1]);
  const auto it =
      std::lower_bound(begin, end, own.rank, [](const Place& p, int rank) { return p.rank < rank; });
  slice->arrows.push_back({static_cast<uint64_t>(it - places_.begin()) + 1, false, came, slice->span});
}

void AllRendezvous::DescribeMessage(const Place& own, uint32_t index, TimelineSlice* slice) const {
  const MatchedMessage& m = matching_.messages[index];
  slice->values.push_back({"from", static_cast<uint64_t>(m.src)});
  slice->values.push_back({"to", static_cast<uint64_t>(m.dst)});
  if (m.tag >= 0) slice->values.push_back({"tag", static_cast<uint64_t>(m.tag)});
  if (m.send_row == kNoRow || m.recv_row == kNoRow) return;  // no trace has the other side
  const NodeSpan &sent = SpanOf({m.src, m.send_row}), &received = SpanOf({m.dst, m.recv_row});
  const bool sends = m.src == own.rank && m.send_row == own.row;
  if (!sends && sent.begin > received.begin && sent.begin < received.end) {
    slice->values.push_back({"wait_ps", static_cast<uint64_t>((sent.begin - received.begin).picos())});
    slice->wait = absl::StrCat("until rank ", m.src, " sends");
    slice->wait_end = sent.begin;
  }
  if (shown_[m.src] && shown_[m.dst])
    slice->arrows.push_back({places_.size() + index + 1, sends, sent, received});
}

}  // namespace chakra
