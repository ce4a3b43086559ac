#include "trace/import/linked/linker.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_loader.h"
#include "trace/import/host/host_only.h"
#include "trace/import/host/pair.h"
#include "trace/import/join/one_job.h"
#include "trace/import/kineto/graph_annotations.h"
#include "trace/import/kineto/graph_capture.h"
#include "trace/import/linked/draft.h"
#include "trace/import/linked/report.h"
#include "trace/import/linked/steps.h"
#include "trace/import/timeline/build_timeline.h"
#include "trace/import/timeline/overruns.h"
#include "trace/io/file.h"
#include "trace/model/groups.h"

namespace chakra::pytorch {
namespace {

constexpr size_t kMostAnnotations = size_t{1} << 30;  // bytes

class Linker {
 public:
  // `columns`: the columns of each rank are drafted when the rank has been linked, and replace its events.
  Linker(const ReadOptions& options, bool columns) : options_(options), columns_(columns) {}

  absl::StatusOr<Capture> Take(RecordedRanks recorded) {
    out_.inputs = std::move(recorded.inputs);
    annotations_ = std::move(recorded.graph_annotations);
    for (std::string& text : recorded.warnings) Warn(std::move(text));
    for (std::string& name : recorded.files_left_out) out_.report.add_files_left_out(std::move(name));
    for (CaptureRank& rank : recorded.ranks) by_rank_.emplace(rank.rank, std::move(rank));
    return Join();
  }

 private:
  absl::StatusOr<Capture> Join();
  absl::Status Link(CaptureRank* rank);
  absl::StatusOr<GroupRules> ReadGroupRules();
  void NoteUnusedKeys(const GroupRules& asked);
  void Warn(std::string text) { out_.report.add_warnings(std::move(text)); }

  const ReadOptions& options_;
  const bool columns_;
  Capture out_;
  std::map<int, CaptureRank> by_rank_;
  std::map<int, std::string> annotations_;  // files with annotations of graphs, by rank
};

absl::Status Linker::Link(CaptureRank* rank) {
  TimelineOptions window;
  if (rank->fill != nullptr) std::exchange(rank->fill, nullptr)(rank->device.get());
  const bool host_only = rank->device == nullptr;
  if (host_only) {
    HostOnly only = AsDeviceTrace(*rank->host);
    rank->device = std::make_unique<DeviceTrace>(std::move(only.device));
    rank->pairing = std::move(only.pairing);
  }
  const bool timed = !host_only || !rank->host->linked.empty();
  RETURN_IF_ERROR(timed ? FindSteps(options_.capture, rank->device.get(), &window)
                        : CheckNoSteps(options_.capture, rank->host->file));
  if (!host_only && rank->host != nullptr) {
    ASSIGN_OR_RETURN(rank->pairing, Pair(*rank->host, *rank->device));
  }
  if (const auto notes = annotations_.find(rank->rank); notes != annotations_.end()) {
    ASSIGN_OR_RETURN(const std::string json, ReadFile(notes->second, kMostAnnotations));
    RETURN_IF_ERROR(AnnotateGraphs(json, notes->second, rank->device.get()));
  }
  if (rank->device->schema == DeviceTrace().schema) {
    std::vector<const DeviceTrace*> captures = {rank->device.get()};
    for (const auto& trace : rank->graph_captures) captures.push_back(trace.get());
    rank->graphs = JoinCapturedGraphs(captures, rank->device.get());
    rank->graph_captures.clear();
  }
  CutOverruns(rank->device.get());
  const bool paired = rank->host != nullptr;
  std::vector<EventIds>().swap(rank->device->ids);
  ASSIGN_OR_RETURN(rank->timeline,
                   BuildTimeline(*rank->device, rank->host.get(), paired ? &rank->pairing : nullptr, window));
  CountRank(rank);
  if (!columns_ || paired || !FitsColumns(*rank)) return absl::OkStatus();
  LeaveCalls(rank, DraftColumns(*rank, WantsFrames(options_)));
  return absl::OkStatus();
}

// Reads the user's file of groups; without one, there are no rules.
absl::StatusOr<GroupRules> Linker::ReadGroupRules() {
  const std::string& path = options_.groups_file;
  if (path.empty()) return GroupRules();
  InputFile input;
  ASSIGN_OR_RETURN(std::string text, ReadGroupText(path, &input));
  out_.inputs.push_back(std::move(input));
  ASSIGN_OR_RETURN(Groups groups, ParseGroups(text, path));
  return GroupRules::Make(groups, path, WorldSize(out_.ranks));
}

void Linker::NoteUnusedKeys(const GroupRules& asked) {
  std::set<std::string> used;
  for (const CallGroup& group : out_.joined.call_groups.groups) {
    if (group.origin == GroupOrigin::kAsked) used.insert(group.evidence);
  }
  for (uint32_t rule = 0; rule < asked.size(); ++rule) {
    if (!used.contains(asked.Evidence(rule)))
      Warn(absl::StrCat(asked.file(), ": no call is on group \"", asked.key(rule), "\""));
  }
}

absl::StatusOr<Capture> Linker::Join() {
  const std::vector<int>& wanted = options_.capture.ranks;
  for (const int rank : wanted) {
    if (!by_rank_.contains(rank)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "rank ", rank, " was asked for, but not captured; captured are ",
          absl::StrJoin(by_rank_, ", ", [](std::string* s, const auto& r) { absl::StrAppend(s, r.first); })));
    }
  }
  for (auto& [rank, r] : by_rank_) {
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), rank) != wanted.end())
      out_.ranks.push_back(std::move(r));
  }
  absl::Status status = ForEach(out_.ranks.size(), options_.threads,
                                [&] { return [&](size_t i) { return Link(&out_.ranks[i]); }; });
  if (!status.ok()) return status;
  ASSIGN_OR_RETURN(GroupRules asked, ReadGroupRules());
  out_.joined = JoinRanks(out_.ranks, asked);
  if (status = CheckOneJob(out_.ranks, out_.joined.call_groups); !status.ok()) return status;
  NoteUnusedKeys(asked);
  ReportJoined(&out_);
  if (options_.strict && out_.report.notes_size() > 0) {
    const proto::ConversionNote& n = out_.report.notes(0);
    return absl::InvalidArgumentError(absl::StrCat(n.file(), ": rank ", n.rank(), ": ", n.kind(), ", ",
                                                   n.count(), " times: ", n.detail(),
                                                   " (an error because strict)"));
  }
  return std::move(out_);
}

}  // namespace

absl::StatusOr<Capture> JoinRecorded(RecordedRanks recorded, const ReadOptions& options) {
  return Linker(options, false).Take(std::move(recorded));
}

absl::StatusOr<TraceSet> RecordedTraces(RecordedRanks recorded, const ReadOptions& options) {
  ASSIGN_OR_RETURN(Capture capture, Linker(options, true).Take(std::move(recorded)));
  return CaptureTraces(std::move(capture), options);
}

}  // namespace chakra::pytorch
