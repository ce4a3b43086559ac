// From a joined capture to files, and to traces.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_loader.h"
#include "trace/import/linked/build.h"
#include "trace/import/linked/draft.h"
#include "trace/import/linked/linker.h"

namespace chakra::pytorch {

namespace {

// "the capture (2 inferred, 1 guessed)".
std::string GroupSource(const CallGroups& call_groups) {
  std::map<GroupOrigin, int> count;
  for (const CallGroup& group : call_groups.groups) ++count[group.origin];
  if (count.empty()) return "the capture";
  if (count.size() == 1 && count.begin()->first == GroupOrigin::kNamed) return "the capture";
  return absl::StrCat(
      "the capture (",
      absl::StrJoin(count, ", ",
                    [](std::string* s, const auto& c) { absl::StrAppend(s, c.second, " ", Name(c.first)); }),
      ")");
}

// Frees everything of a rank except numbers and names.
void Release(CaptureRank* rank) {
  rank->host = nullptr;
  rank->device = nullptr;
  rank->graph_captures.clear();
  rank->graphs = {};
  rank->pairing = {};
  rank->timeline = {};
  rank->columns = {};
  rank->calls = {};
}

// The columns of a rank. If `own_capture` is not null, it is `capture`, and the rank's events are freed. It
// must not be null for ranks whose columns are drafted, because the draft is used up. Error: columns cannot
// hold the rank.
absl::StatusOr<RankDraft> ColumnsOf(const Capture& capture, uint32_t index, Capture* own_capture,
                                    bool frames) {
  const CaptureRank& rank = capture.ranks[index];
  if ((!rank.columns.drafted && !FitsColumns(rank)) || !FitsColumns(rank, index, capture.joined)) {
    return absl::InvalidArgumentError(
        absl::StrCat(rank.file(), ": rank ", rank.rank,
                     ": its times, or the sizes of its calls, are outside of the range that a trace can "
                     "record: 106 days from the begin of the run; expected recordings of one run"));
  }
  if (own_capture == nullptr) {
    ColumnDraft draft = DraftColumns(rank, frames);
    draft.steps = rank.timeline.steps;
    return JoinColumns(rank, index, capture.joined, std::move(draft));
  }
  CaptureRank* own = &own_capture->ranks[index];
  if (!rank.columns.drafted) LeaveCalls(own, DraftColumns(rank, frames));
  return JoinColumns(rank, index, capture.joined, std::move(own->columns));
}

absl::Status WriteFiles(const Capture& capture, Capture* own_capture, const std::string& prefix,
                        const std::string& suffix) {
  for (uint32_t i = 0; i < capture.ranks.size(); ++i) {
    ASSIGN_OR_RETURN(const RankDraft rank, ColumnsOf(capture, i, own_capture, /*frames=*/true));
    if (own_capture != nullptr) Release(&own_capture->ranks[i]);
    EtWriter writer(absl::StrCat(prefix, ".", i, ".et", suffix));
    RETURN_IF_ERROR(WriteFrames(rank, &writer));
    RETURN_IF_ERROR(writer.Finish());
  }
  return absl::OkStatus();
}

// If `own_capture` is not null, it is `capture`, and the data of each rank is freed when its columns have
// been made.
absl::StatusOr<TraceSet> TracesOf(const Capture& capture, Capture* own_capture, const ReadOptions& options) {
  TraceSet set;
  GraphPool pool;
  const auto load = [&](size_t i, Worker* worker, chakra::Loaded* out) {
    const CaptureRank& rank = capture.ranks[i];
    const auto index = static_cast<uint32_t>(i);
    ASSIGN_OR_RETURN(RankDraft draft, ColumnsOf(capture, index, own_capture, WantsFrames(options)));
    if (own_capture != nullptr) {
      Release(&own_capture->ranks[i]);
      std::vector<CommPlan>().swap(own_capture->joined.comms[i]);
    }
    RETURN_IF_ERROR(
        FinishColumns(&draft, Keep::kRecording, rank.file(), static_cast<int>(index), options, worker, out));
    const auto own = [&](RankTrace* trace) {
      if (rank.rank != trace->rank) trace->recorded_rank = rank.rank;
    };
    own(&out->trace);
    for (chakra::Loaded& made : out->became) own(&made.trace);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(set.ranks, LoadRanks(capture.ranks.size(), options, &pool, load));
  set.inputs = capture.inputs;
  set.groups = capture.joined.groups;
  set.group_source = GroupSource(capture.joined.call_groups);
  for (const proto::ConversionNote& note : capture.report.notes()) {
    for (RankTrace& rank : set.ranks) {
      const int own = rank.recorded_rank == kNoRank ? rank.rank : rank.recorded_rank;
      if (own == note.rank())
        rank.repairs.push_back({note.kind(), note.file(), rank.rank, note.count(), 0, note.detail()});
    }
  }
  set.warnings.assign(capture.report.warnings().begin(), capture.report.warnings().end());
  return set;
}

}  // namespace

absl::Status WriteRank(const Capture& capture, uint32_t index, EtWriter* writer) {
  ASSIGN_OR_RETURN(const RankDraft rank, ColumnsOf(capture, index, nullptr, /*frames=*/true));
  return WriteFrames(rank, writer);
}

absl::Status WriteCapture(const Capture& capture, const std::string& prefix, const std::string& suffix) {
  return WriteFiles(capture, nullptr, prefix, suffix);
}

absl::Status WriteCapture(Capture&& capture, const std::string& prefix, const std::string& suffix) {
  return WriteFiles(capture, &capture, prefix, suffix);
}

absl::StatusOr<TraceSet> CaptureTraces(const Capture& capture, const ReadOptions& options) {
  return TracesOf(capture, nullptr, options);
}

absl::StatusOr<TraceSet> CaptureTraces(Capture&& capture, const ReadOptions& options) {
  return TracesOf(capture, &capture, options);
}

}  // namespace chakra::pytorch
