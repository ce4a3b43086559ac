#include "trace/import/pytorch/convert.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/parallel.h"
#include "trace/et/read_options.h"
#include "trace/import/pytorch/build.h"
#include "trace/import/pytorch/find.h"
#include "trace/import/pytorch/graph_annotations.h"
#include "trace/import/pytorch/graph_capture.h"
#include "trace/import/pytorch/host/host_only.h"
#include "trace/import/pytorch/join/one_job.h"
#include "trace/import/pytorch/load_files.h"
#include "trace/import/pytorch/pair.h"
#include "trace/import/pytorch/place_files.h"
#include "trace/import/pytorch/step_ranges.h"
#include "trace/import/pytorch/timeline/overruns.h"
#include "trace/io/file.h"
#include "trace/model/groups.h"

namespace chakra::pytorch {
namespace {

constexpr size_t kMostAnnotations = size_t{1} << 30;  // bytes

// The step marks of a device trace, begin and end: events named "ProfilerStep#N", or steps told by times.
std::map<int64_t, DeviceStep> Steps(const DeviceTrace& device) {
  std::map<int64_t, DeviceStep> steps;
  for (const Event& e : device.events) {
    int64_t n = 0;
    if (!OnHost(e.kind)) continue;
    const absl::string_view name = device.name_of(e);
    if (absl::StartsWith(name, "ProfilerStep#") && absl::SimpleAtoi(name.substr(13), &n))
      steps.try_emplace(n, DeviceStep{n, e.ts, e.ts + e.dur});
  }
  for (const DeviceStep& step : device.steps) steps.try_emplace(step.number, step);
  return steps;
}

// Sets the window to the steps that "7", "7-9", "first", "last" or "skip-first" selects among the marks.
absl::Status SelectSteps(const DeviceTrace& device, const std::string& wanted, TimelineOptions* window) {
  if (wanted.empty() || wanted == "all") return absl::OkStatus();
  const std::map<int64_t, DeviceStep> steps = Steps(device);
  const auto bad = [&](absl::string_view why) {
    std::string there =
        steps.empty() ? "it has no ProfilerStep marks"
                      : absl::StrCat("it has steps ", steps.begin()->first, " to ", steps.rbegin()->first);
    return absl::InvalidArgumentError(
        absl::StrCat(device.file, ": steps \"", wanted, "\": ", std::string(why), "; ", there));
  };
  if (steps.empty()) return bad("there are none");
  auto first = steps.begin(), last = std::prev(steps.end());
  if (wanted == "first") {
    last = first;
  } else if (wanted == "last") {
    first = last;
  } else if (wanted == "skip-first") {
    if (++first == steps.end()) return bad("nothing is left");
  } else {
    int64_t from = 0, to = 0;
    const size_t dash = wanted.find('-');
    const bool good = absl::SimpleAtoi(wanted.substr(0, dash), &from) &&
                      (dash == wanted.npos || absl::SimpleAtoi(wanted.substr(dash + 1), &to));
    if (!good) return bad("expected all, first, last, skip-first, N or N-M");
    if (dash == wanted.npos) to = from;
    first = steps.find(from);
    last = steps.find(to);
    if (first == steps.end() || last == steps.end() || to < from) return bad("no such steps");
  }
  window->begin = first->second.begin;
  window->end = last->second.end;
  return absl::OkStatus();
}

// Marks the steps of a trace, and sets the window to those that are asked for.
absl::Status FindSteps(const CaptureSelection& asked, DeviceTrace* device, TimelineOptions* window) {
  const bool own = device->schema == DeviceTrace().schema;  // others' readers mark what they find
  if (own || (!asked.step_range.empty() && device->schema != "nsys")) {
    if (absl::Status s = MarkSteps(asked.step_range, device); !s.ok()) return s;
  }
  return SelectSteps(*device, asked.steps, window);
}

// Without times there are no steps to select.
absl::Status CheckNoSteps(const CaptureSelection& asked, const std::string& file) {
  const bool steps = !asked.steps.empty() && asked.steps != "all";
  if (!steps && asked.step_range.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      file, steps ? ": steps \"" : ": --step-range \"", steps ? asked.steps : asked.step_range,
      "\": a host trace has no times by which steps could be told; expected its device trace beside it"));
}

// What the report says of a rank's events, nodes and edges.
void CountRank(CaptureRank* r) {
  proto::RankConversion& to = r->counts;
  if (!r->device_file.empty()) {
    uint64_t host = 0, device = 0, launched = 0;
    for (uint32_t row = 0; row < r->device->events.size(); ++row) {
      const EventKind kind = r->device->events[row].kind;
      host += OnHost(kind) ? 1 : 0;
      device += OnDevice(kind) ? 1 : 0;
      launched += OnDevice(kind) && r->timeline.caller[row] != kNoRow ? 1 : 0;
    }
    to.set_host_events(host);
    to.set_device_events(device);
    to.set_launched(launched);
    to.set_skipped_events(r->device->skipped);
    to.set_graph_kernels(r->graphs.kernels);
    to.set_graph_kernels_joined(r->graphs.joined);
  }
  to.set_nodes(r->timeline.nodes.size() + 1);
  std::array<uint64_t, kEdgeKinds> edges{};
  for (const TimelineEdge& e : r->timeline.edges) ++edges[static_cast<size_t>(e.kind)];
  for (size_t kind = 0; kind < edges.size(); ++kind) {
    if (edges[kind] > 0) (*to.mutable_edges())[std::string(Name(static_cast<EdgeKind>(kind)))] = edges[kind];
  }
}

class Reader {
 public:
  // `columns`: the columns of each rank are drafted as soon as the rank is linked, and take the place of its
  // events.
  Reader(const ReadOptions& options, bool columns) : options_(options), columns_(columns) {}

  absl::StatusOr<Capture> Read(const std::vector<std::string>& inputs);
  absl::StatusOr<Capture> Take(RecordedRanks recorded);

 private:
  absl::StatusOr<Capture> Join();
  absl::Status Find(const std::vector<std::string>& inputs);
  absl::Status PairFiles();
  absl::Status Link(CaptureRank* rank);
  absl::StatusOr<GroupRules> ReadGroupRules();
  void NoteUnusedKeys(const GroupRules& asked);
  void ReportGroups();
  void Report();
  void Warn(std::string text) { out_.report.add_warnings(std::move(text)); }

  const ReadOptions& options_;
  const bool columns_;
  Capture out_;
  std::vector<CaptureFile> files_;
  std::vector<LoadedFile> loaded_;  // by file; those of archives come first
  std::map<int, CaptureRank> by_rank_;
  std::map<int, std::string> annotations_;  // of graphs: files by rank
};

absl::Status Reader::Find(const std::vector<std::string>& inputs) {
  const CaptureSelection& selection = options_.capture;
  for (const auto* explicit_file : {&selection.host, &selection.device}) {
    if (!explicit_file->empty())
      files_.push_back({*explicit_file, explicit_file == &selection.host, -1, false});
  }
  if (files_.empty()) {
    std::vector<std::string> others, plain;
    for (const std::string& input : inputs) {
      if (!IsArchive(input)) {
        plain.push_back(input);
        continue;
      }
      InputFile archive;
      if (absl::Status s = LoadArchive(input, options_.threads, &files_, &loaded_, &others, &archive);
          !s.ok())
        return s;
      out_.inputs.push_back(std::move(archive));
    }
    absl::StatusOr<std::vector<CaptureFile>> found = FindCaptureFiles(plain, &others);
    if (!found.ok()) return found.status();
    std::move(found->begin(), found->end(), std::back_inserter(files_));
    for (const std::string& o : others) {
      int rank = 0;
      if (NamedAsGraphAnnotations(o, &rank) && !absl::StrContains(o, "!")) {
        annotations_.try_emplace(rank, o);
      } else {
        out_.report.add_files_left_out(o);
      }
    }
  }
  if (!files_.empty()) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat(absl::StrJoin(inputs, ", "),
                   ": no PyTorch capture, expected JSON files of torch.profiler (\"traceEvents\") or of "
                   "the ExecutionTraceObserver (\"schema\" and \"nodes\")"));
}

absl::Status Reader::PairFiles() {
  PlacedFiles placed;
  if (absl::Status s = PlaceFiles(files_, &loaded_, options_.capture.rank_of, &placed); !s.ok()) return s;
  by_rank_ = std::move(placed.ranks);
  for (std::string& text : placed.warnings) Warn(std::move(text));
  for (std::string& file : placed.left_out) out_.report.add_files_left_out(std::move(file));
  return absl::OkStatus();
}

absl::Status Reader::Link(CaptureRank* rank) {
  TimelineOptions window;
  if (rank->fill != nullptr) std::exchange(rank->fill, nullptr)(rank->device.get());
  const bool host_only = rank->device == nullptr;
  if (host_only) {
    HostOnly only = AsDeviceTrace(*rank->host);
    rank->device = std::make_unique<DeviceTrace>(std::move(only.device));
    rank->pairing = std::move(only.pairing);
  }
  const bool timed = !host_only || !rank->host->linked.empty();
  if (absl::Status s = timed ? FindSteps(options_.capture, rank->device.get(), &window)
                             : CheckNoSteps(options_.capture, rank->host->file);
      !s.ok())
    return s;
  if (!host_only && rank->host != nullptr) {
    absl::StatusOr<Pairing> pairing = Pair(*rank->host, *rank->device);
    if (!pairing.ok()) return pairing.status();
    rank->pairing = *std::move(pairing);
  }
  if (const auto notes = annotations_.find(rank->rank); notes != annotations_.end()) {
    const absl::StatusOr<std::string> json = ReadFile(notes->second, kMostAnnotations);
    if (!json.ok()) return json.status();
    if (absl::Status s = AnnotateGraphs(*json, notes->second, rank->device.get()); !s.ok()) return s;
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
  absl::StatusOr<Timeline> timeline =
      BuildTimeline(*rank->device, rank->host.get(), paired ? &rank->pairing : nullptr, window);
  if (!timeline.ok()) return timeline.status();
  rank->timeline = *std::move(timeline);
  CountRank(rank);
  if (!columns_ || paired || !FitsColumns(*rank)) return absl::OkStatus();
  LeaveCalls(rank, DraftColumns(*rank));
  return absl::OkStatus();
}

// The user's file of groups; without one, none.
absl::StatusOr<GroupRules> Reader::ReadGroupRules() {
  const std::string& path = options_.groups_file;
  if (path.empty()) return GroupRules();
  InputFile input;
  absl::StatusOr<std::string> text = ReadGroupText(path, &input);
  if (!text.ok()) return text.status();
  out_.inputs.push_back(std::move(input));
  absl::StatusOr<Groups> groups = ParseGroups(*text, path);
  if (!groups.ok()) return groups.status();
  return GroupRules::Make(*groups, path, WorldSize(out_.ranks));
}

void Reader::NoteUnusedKeys(const GroupRules& asked) {
  std::set<std::string> used;
  for (const CallGroup& group : out_.joined.call_groups.groups) {
    if (group.origin == GroupOrigin::kAsked) used.insert(group.evidence);
  }
  for (uint32_t rule = 0; rule < asked.size(); ++rule) {
    if (!used.contains(asked.Evidence(rule)))
      Warn(absl::StrCat(asked.file(), ": no call is of group \"", asked.key(rule), "\""));
  }
}

void Reader::ReportGroups() {
  out_.report.set_peers_inferred(out_.joined.peers_inferred);
  out_.report.set_peer_evidence(out_.joined.peer_evidence);
  for (const CallGroup& group : out_.joined.call_groups.groups) {
    proto::GroupConversion* to = out_.report.add_groups();
    to->set_name(group.name);
    for (const int rank : group.ranks) to->add_ranks(rank);
    to->set_origin(std::string(Name(group.origin)));
    to->set_evidence(group.evidence);
    to->set_calls(group.calls);
  }
}

void AddNotes(const std::vector<Repair>& repairs, int rank, proto::ConversionReport* report) {
  for (const Repair& r : repairs) {
    proto::ConversionNote* note = report->add_notes();
    note->set_kind(r.kind);
    note->set_file(r.file);
    note->set_rank(rank);
    note->set_count(r.count);
    note->set_detail(r.detail);
  }
}

void Reader::Report() {
  proto::ConversionReport& report = out_.report;
  report.set_world_size(out_.joined.world_size);
  ReportGroups();
  bool device_ops = false, host_only = false, device_only = false;
  int linked = 0;
  for (size_t i = 0; i < out_.ranks.size(); ++i) {
    const CaptureRank& r = out_.ranks[i];
    proto::RankConversion* to = report.add_ranks();
    *to = r.counts;
    to->set_rank(r.rank);
    to->set_host_file(r.host_file);
    to->set_device_file(r.device_file);
    if (r.host != nullptr) {
      to->set_host_schema(r.host->schema);
      to->set_host_nodes(r.host->nodes.size());
      to->set_pairing(r.pairing.method);
      to->set_paired(r.pairing.matched);
      to->set_host_unpaired(r.pairing.nodes_unmatched);
      to->set_device_unpaired(r.pairing.ops_unmatched);
    }
    host_only = host_only || (r.device_file.empty() && r.host->linked.empty());
    if (r.device_file.empty() && !r.host->linked.empty()) ++linked;
    device_only = device_only || (r.host_file.empty() && r.device->schema == DeviceTrace().schema);
    device_ops = device_ops || to->device_events() > 0;
    const CommTally& tally = r.timeline.tally;
    to->set_comm_calls(tally.calls);
    to->set_comm_bytes(tally.bytes);
    to->set_comm_left_out(tally.left_out);
    to->set_comm_left_out_bytes(tally.left_out_bytes);
    for (const TimelineNode& node : r.timeline.nodes) {
      if (node.comm == kNoRow) continue;
      const CommPlan& plan = out_.joined.comms[i][node.comm];
      if (plan.type == NodeType::kComp) continue;
      to->set_comm_nodes(to->comm_nodes() + 1);
      to->set_comm_node_bytes(to->comm_node_bytes() + plan.bytes);
    }
    to->set_window_ns(r.timeline.window_end - r.timeline.window_begin);
    to->set_clock_offset_ns(out_.joined.clock_offset_ns[i]);
    to->set_steps(r.timeline.steps.size());
    if (r.host != nullptr) AddNotes(r.host->repairs, r.rank, &report);
    AddNotes(r.device->repairs, r.rank, &report);
    AddNotes(r.pairing.repairs, r.rank, &report);
    AddNotes(r.timeline.repairs, r.rank, &report);
  }
  for (const Repair& r : out_.joined.repairs) AddNotes({r}, r.rank, &report);
  std::set<std::string> cut;
  for (const proto::ConversionNote& note : report.notes()) {
    if (absl::StartsWith(note.kind(), "truncated_") && note.kind() != "truncated_process_groups" &&
        cut.insert(note.file()).second)
      Warn(absl::StrCat(note.file(), " was cut short: ", note.detail(), "; --strict refuses it"));
  }
  if (host_only) {
    Warn(
        "there is no device trace: operators have no times, and kernels are not known; give Kineto's trace "
        "of the same "
        "run, or a kernel table");
  } else if (!device_ops) {
    Warn("the device traces show no device operation: only the host is replayed");
  }
  if (linked > 0) {
    Warn(
        "the host traces were linked by chakra_trace_link, which keeps neither launches nor waits between "
        "streams: each device operation is launched where its operator begins; the two files that they were "
        "linked from tell more");
  }
  if (device_only) {
    Warn("there is no host trace: communication and shapes are known as far as the device trace tells them");
  }
  if (out_.joined.world_size > static_cast<int>(out_.ranks.size())) {
    Warn(absl::StrCat("the job has ", out_.joined.world_size, " ranks, ", out_.ranks.size(),
                      " of them captured: what the others did is not known"));
  }
}

absl::StatusOr<Capture> Reader::Read(const std::vector<std::string>& inputs) {
  if (absl::Status s = Find(inputs); !s.ok()) return s;
  const size_t done = loaded_.size();
  loaded_.resize(files_.size());
  absl::Status status = ForEach(files_.size() - done, options_.threads, [&] {
    return [&](size_t i) { return LoadFile(files_[done + i], &loaded_[done + i]); };
  });
  if (!status.ok()) return status;
  for (size_t i = done; i < loaded_.size(); ++i) out_.inputs.push_back(loaded_[i].input);
  if (status = PairFiles(); !status.ok()) return status;
  return Join();
}

absl::StatusOr<Capture> Reader::Take(RecordedRanks recorded) {
  out_.inputs = std::move(recorded.inputs);
  for (std::string& text : recorded.warnings) Warn(std::move(text));
  for (std::string& name : recorded.files_left_out) out_.report.add_files_left_out(std::move(name));
  for (CaptureRank& rank : recorded.ranks) by_rank_.emplace(rank.rank, std::move(rank));
  return Join();
}

// From ranks that were read to the capture.
absl::StatusOr<Capture> Reader::Join() {
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
  absl::StatusOr<GroupRules> asked = ReadGroupRules();
  if (!asked.ok()) return asked.status();
  out_.joined = JoinRanks(out_.ranks, *asked);
  if (status = CheckOneJob(out_.ranks, out_.joined.call_groups); !status.ok()) return status;
  NoteUnusedKeys(*asked);
  Report();
  if (options_.strict && out_.report.notes_size() > 0) {
    const proto::ConversionNote& n = out_.report.notes(0);
    return absl::InvalidArgumentError(absl::StrCat(n.file(), ": rank ", n.rank(), ": ", n.kind(), ", ",
                                                   n.count(), " times: ", n.detail(),
                                                   " (an error because strict)"));
  }
  return std::move(out_);
}

// Whether columns are all that is asked for, and not frames.
bool ToColumns(const ReadOptions& options) { return options.rewriter == nullptr && !options.keep_raw; }

}  // namespace

absl::StatusOr<Capture> ReadCapture(const std::vector<std::string>& inputs, const ReadOptions& options) {
  return Reader(options, false).Read(inputs);
}

absl::StatusOr<Capture> JoinRecorded(RecordedRanks recorded, const ReadOptions& options) {
  return Reader(options, false).Take(std::move(recorded));
}

absl::StatusOr<TraceSet> ReadCaptureTraces(const std::vector<std::string>& inputs,
                                           const ReadOptions& options) {
  absl::StatusOr<Capture> capture = Reader(options, ToColumns(options)).Read(inputs);
  if (!capture.ok()) return capture.status();
  return CaptureTraces(*std::move(capture), options);
}

absl::StatusOr<TraceSet> RecordedTraces(RecordedRanks recorded, const ReadOptions& options) {
  absl::StatusOr<Capture> capture = Reader(options, ToColumns(options)).Take(std::move(recorded));
  if (!capture.ok()) return capture.status();
  return CaptureTraces(*std::move(capture), options);
}

}  // namespace chakra::pytorch
