// From a capture that was joined to files, and to traces.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_loader.h"
#include "trace/et/read_options.h"
#include "trace/import/linked/build.h"
#include "trace/import/linked/emit.h"
#include "trace/import/linked/linker.h"

namespace chakra::pytorch {

absl::Status WriteCapture(const Capture& capture, const std::string& prefix, const std::string& suffix) {
  for (uint32_t i = 0; i < capture.ranks.size(); ++i) {
    EtWriter writer(absl::StrCat(prefix, ".", i, ".et", suffix));
    RETURN_IF_ERROR(EmitRank(capture.ranks[i], i, capture.joined, &writer));
    RETURN_IF_ERROR(writer.Finish());
  }
  return absl::OkStatus();
}

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

// All but numbers and names.
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

const std::string& FileOf(const CaptureRank& rank) {
  return rank.device_file.empty() ? rank.host_file : rank.device_file;
}

absl::Status ByFrames(const Capture& capture, uint32_t index, Capture* own_capture,
                      const ReadOptions& options, Worker* worker, chakra::Loaded* out) {
  std::string frames;
  EtWriter writer(&frames, Compression::kNone);
  const CaptureRank& rank = capture.ranks[index];
  RETURN_IF_ERROR(EmitRank(rank, index, capture.joined, &writer));
  RETURN_IF_ERROR(writer.Finish());
  if (own_capture != nullptr) Release(&own_capture->ranks[index]);
  return DecodeFrames(frames, FileOf(rank), static_cast<int>(index), options, worker, out);
}

// Where the rewriter takes frames as they are made.
absl::Status AsMade(const Capture& capture, uint32_t index, RankRewriter* rewriter, chakra::Loaded* out) {
  RankTrace rank;
  rank.rank = static_cast<int>(index);
  rank.file = FileOf(capture.ranks[index]);
  out->trace.file = rank.file;
  out->trace.rank = rank.rank;
  out->rewritten = true;
  return rewriter->WriteAsMade(std::move(rank), [&](EtWriter* writer) {
    RETURN_IF_ERROR(EmitRank(capture.ranks[index], index, capture.joined, writer));
    return writer->Finish();
  });
}

// Precondition: of ranks whose columns are drafted `own_capture` is not null, for a draft is used up.
absl::Status ByColumns(const Capture& capture, uint32_t index, Capture* own_capture, ColumnBuilder* builder,
                       RankTrace* out) {
  const CaptureRank& rank = capture.ranks[index];
  if (rank.columns.drafted && !FitsColumns(rank, index, capture.joined)) {
    return absl::InvalidArgumentError(
        absl::StrCat(FileOf(rank), ": rank ", rank.rank,
                     ": its times, or the sizes of its calls, lie outside of what a trace can "
                     "hold: 106 days from the begin of the run; expected recordings of one run"));
  }
  ColumnDraft draft;
  if (rank.columns.drafted) {
    draft = std::move(own_capture->ranks[index].columns);
  } else {
    draft = DraftColumns(rank);
    draft.steps = rank.timeline.steps;
  }
  return builder->Finish(rank, index, capture.joined, FileOf(rank), std::move(draft), out);
}

// `own_capture`, if not null, is `capture`: what a rank has is freed as soon as it is written.
absl::StatusOr<TraceSet> TracesOf(const Capture& capture, Capture* own_capture, const ReadOptions& options) {
  TraceSet set;
  GraphPool pool;
  std::vector<chakra::Loaded> loaded(capture.ranks.size());
  const auto load = [&](size_t i, Worker* worker, ColumnBuilder* builder) {
    const CaptureRank& rank = capture.ranks[i];
    const auto index = static_cast<uint32_t>(i);
    absl::Status status;
    const bool as_made = options.rewriter != nullptr && options.rewriter->WritesAsMade();
    const bool plain = as_made || (options.rewriter == nullptr && !options.keep_raw);
    const bool fits =
        rank.columns.drafted || (plain && FitsColumns(rank) && FitsColumns(rank, index, capture.joined));
    if (fits && as_made) {
      status = AsMade(capture, index, options.rewriter, &loaded[i]);
    } else if (fits) {
      status = ByColumns(capture, index, own_capture, builder, &loaded[i].trace);
    } else {
      status = ByFrames(capture, index, own_capture, options, worker, &loaded[i]);
    }
    if (!status.ok()) return status;
    if (own_capture != nullptr) {
      Release(&own_capture->ranks[i]);
      std::vector<CommPlan>().swap(own_capture->joined.comms[i]);
    }
    const auto own = [&](RankTrace* trace) {
      if (rank.rank != trace->rank) trace->recorded_rank = rank.rank;
    };
    own(&loaded[i].trace);
    for (chakra::Loaded& made : loaded[i].became) own(&made.trace);
    return absl::OkStatus();
  };
  absl::Status status = ForEach(capture.ranks.size(), options.threads, [&] {
    return [&load, worker = std::make_unique<Worker>(&pool),
            builder = std::make_unique<ColumnBuilder>(&pool)](size_t i) {
      return load(i, worker.get(), builder.get());
    };
  });
  if (status.ok()) status = Flatten(&loaded);
  if (!status.ok()) return status;
  for (chakra::Loaded& l : loaded) set.ranks.push_back(std::move(l.trace));
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

absl::StatusOr<TraceSet> CaptureTraces(const Capture& capture, const ReadOptions& options) {
  return TracesOf(capture, nullptr, options);
}

absl::StatusOr<TraceSet> CaptureTraces(Capture&& capture, const ReadOptions& options) {
  return TracesOf(capture, &capture, options);
}

}  // namespace chakra::pytorch
