#include "replay/timeline/timeline.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "replay/engine/measure/name_times.h"
#include "replay/timeline/overall.h"
#include "replay/timeline/rendezvous.h"
#include "replay/timeline/tracks.h"
#include "replay/timeline/writer.h"
#include "trace/base/status_macros.h"
#include "trace/edit/selector.h"

namespace chakra {
namespace {

constexpr int kMostRanks = 1 << 24;

// The ranks to write, and the number of their nodes.
struct Choice {
  std::vector<int> ranks;
  std::vector<bool> shown;  // by rank of the traces: whether all nodes of the rank are written
  uint64_t nodes = 0;
  std::string left_out;
};

std::string RankRange(int first, int last) {
  return first == last ? absl::StrCat("rank ", first) : absl::StrCat("ranks ", first, " to ", last);
}

// Ranks as text that ParseTimelineRanks() reads.
std::string RankList(const std::vector<int>& ranks, size_t begin) {
  std::string out;
  for (size_t i = begin; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    absl::StrAppend(&out, out.empty() ? "" : ",", ranks[i]);
    if (end - i > 1) absl::StrAppend(&out, "-", ranks[end - 1]);
    i = end;
  }
  return out;
}

absl::StatusOr<Choice> Choose(const TimelineInput& input) {
  const std::vector<RankTrace>& traces = input.traces->ranks;
  const int all = static_cast<int>(traces.size());
  std::vector<int> asked = input.ranks;
  if (asked.empty()) {
    asked.resize(traces.size());
    std::iota(asked.begin(), asked.end(), 0);
  }
  for (const int rank : asked) {
    if (rank >= 0 && rank < all) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the timeline cannot show rank ", rank, ": the traces have ", RankRange(0, all - 1)));
  }
  for (int r = 0; r < all; ++r) {
    if (input.spans->size() == traces.size() && (*input.spans)[r].size() == traces[r].graph->size()) continue;
    return absl::InternalError(absl::StrCat("the times of rank ", r, " do not fit its trace"));
  }
  Choice choice;
  choice.shown.assign(traces.size(), false);
  uint64_t wanted = 0;
  for (const int rank : asked) wanted += traces[rank].graph->size();
  const uint64_t most = input.most_nodes == 0 ? wanted : input.most_nodes;
  for (const int rank : asked) {
    const uint64_t nodes = traces[rank].graph->size();
    if (!choice.ranks.empty() && choice.nodes + nodes > most) break;
    choice.ranks.push_back(rank);
    choice.shown[rank] = nodes <= most;  // arrows could otherwise lead to nodes that are left out
    choice.nodes += std::min(nodes, most);
  }
  if (choice.nodes == wanted) return choice;
  choice.left_out = absl::StrCat("the timeline has ", choice.nodes, " of ", wanted, " nodes, those of ",
                                 RankRange(choice.ranks.front(), choice.ranks.back()));
  if (choice.ranks.size() < asked.size()) {
    absl::StrAppend(&choice.left_out, "; for the others: --timeline-ranks ",
                    RankList(asked, choice.ranks.size()));
  }
  absl::StrAppend(&choice.left_out, "; for all at once: --timeline-nodes 0");
  return choice;
}

class Timeline {
 public:
  Timeline(const TimelineInput& input, const Choice& choice, const AllRendezvous& all_rendezvous,
           TimelineWriter* writer)
      : input_(input), choice_(choice), all_rendezvous_(all_rendezvous), writer_(writer) {}

  absl::StatusOr<TimelineTotals> Write();

 private:
  absl::Status WriteRank(int rank);
  void Describe(int rank, uint32_t row);

  const TimelineInput& input_;
  const Choice& choice_;
  const AllRendezvous& all_rendezvous_;
  TimelineWriter* writer_;
  LaneNames lanes_;
  TimelineSlice slice_;
  TimelineTotals totals_;
};

void Timeline::Describe(int rank, uint32_t row) {
  const Graph& graph = *input_.traces->ranks[rank].graph;
  slice_.name = TimelineName(graph, row);
  slice_.category = TimelineCategory(graph, row);
  slice_.arrows.clear();
  slice_.wait.clear();
  slice_.values.clear();
  slice_.values.push_back({"node", graph.id[row]});
  AddSpan((*input_.spans)[rank][row], &slice_);
  if (graph.payload[row] == kNoRow) return;
  // Communication that keeps its recorded time is shown as communication, but has no partner.
  if (graph.type[row] >= NodeType::kSend) return all_rendezvous_.Describe(rank, row, &slice_);
  if (graph.is_kept_comm(row)) slice_.values.push_back({"collective", 0, graph.kept_kind(row)});
  const Work& work = graph.work[graph.payload[row]];
  if (work.has_num_ops)
    slice_.values.push_back({"operations", static_cast<uint64_t>(std::max<int64_t>(work.num_ops, 0))});
  if (work.has_tensor_bytes) slice_.values.push_back({"bytes", work.tensor_bytes});
}

absl::Status Timeline::WriteRank(int rank) {
  const Graph& graph = *input_.traces->ranks[rank].graph;
  const std::shared_ptr<const NamedLanes> lanes = lanes_.Of(graph, input_.lanes);
  writer_->Process(rank, rank, absl::StrCat("rank ", rank));
  const uint64_t most = input_.most_nodes == 0 ? graph.size() : input_.most_nodes;
  int place = 0;
  for (const TimelineTrack& track : LayOutTracks(*lanes, (*input_.spans)[rank], most)) {
    writer_->Track(++place, track.name);
    for (const uint32_t row : track.rows) {
      Describe(rank, row);
      RETURN_IF_ERROR(writer_->Slice(slice_));
    }
    totals_.nodes += track.rows.size();
  }
  ++totals_.ranks;
  return absl::OkStatus();
}

absl::StatusOr<TimelineTotals> Timeline::Write() {
  for (const int rank : choice_.ranks) {
    RETURN_IF_ERROR(WriteRank(rank));
  }
  const int all = static_cast<int>(input_.traces->ranks.size());
  if (input_.links != nullptr) {
    RETURN_IF_ERROR(WriteLinkCounters(*input_.links, all, writer_, &totals_.samples));
  }
  if (input_.meter != nullptr) {
    RETURN_IF_ERROR(WritePowerCounters(*input_.meter, choice_.ranks, all + 2, writer_, &totals_.samples));
  }
  if (input_.path != nullptr) {
    RETURN_IF_ERROR(WriteCriticalPath(*input_.path, *input_.traces, all + 1, writer_));
  }
  RETURN_IF_ERROR(writer_->Finish());
  totals_.arrows = writer_->arrows();
  totals_.left_out = choice_.left_out;
  return totals_;
}

}  // namespace

absl::StatusOr<TimelineFormat> TimelineFormatOf(absl::string_view path) {
  absl::string_view name = absl::StripSuffix(path, ".gz");
  if (absl::EndsWith(name, ".json")) return TimelineFormat::kChromeJson;
  if (absl::EndsWith(name, ".perfetto-trace") || absl::EndsWith(name, ".pftrace"))
    return TimelineFormat::kPerfetto;
  const bool zstd = absl::ConsumeSuffix(&name, ".zst");
  return absl::InvalidArgumentError(
      absl::StrCat(path, zstd ? ": viewers open .gz, not .zst" : ": its ending names no format of timelines",
                   "; expected .perfetto-trace, .pftrace or .json, with or without .gz",
                   zstd ? "" : ", or --timeline-format"));
}

absl::StatusOr<TimelineFormat> ParseTimelineFormat(absl::string_view name) {
  if (name == "perfetto") return TimelineFormat::kPerfetto;
  if (name == "json") return TimelineFormat::kChromeJson;
  return absl::InvalidArgumentError(absl::StrCat("\"", name, "\", expected perfetto or json"));
}

absl::StatusOr<std::vector<int>> ParseTimelineRanks(absl::string_view text) {
  const auto count = [](const edit::Interval& i) { return (i.last - i.first) / i.step + 1; };
  std::vector<edit::Interval> intervals;
  int64_t left = kMostRanks;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    ASSIGN_OR_RETURN(const edit::Interval interval, edit::ParseInterval(part));
    if (interval.last >= kMostRanks || count(interval) > left) {
      return absl::InvalidArgumentError(absl::StrCat("\"", part, "\", expected ranks below ", kMostRanks,
                                                     ", and at most as many ranks in all"));
    }
    left -= count(interval);
    intervals.push_back(interval);
  }
  std::vector<int> ranks;
  for (const edit::Interval& i : intervals) {
    for (int64_t k = 0; k < count(i); ++k) ranks.push_back(static_cast<int>(i.first + k * i.step));
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

absl::StatusOr<TimelineTotals> WriteTimeline(const TimelineInput& input, TimelineFormat format,
                                             const WriteBytes& write) {
  ASSIGN_OR_RETURN(const Choice choice, Choose(input));
  ASSIGN_OR_RETURN(const AllRendezvous all_rendezvous, AllRendezvous::Make(input, choice.shown));
  const std::unique_ptr<TimelineWriter> writer =
      format == TimelineFormat::kPerfetto ? NewPerfettoWriter(write) : NewChromeJsonWriter(write);
  return Timeline(input, choice, all_rendezvous, writer.get()).Write();
}

}  // namespace chakra
