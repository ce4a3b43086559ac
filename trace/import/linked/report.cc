#include "trace/import/linked/report.h"

#include <array>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace chakra::pytorch {
namespace {

void ReportGroups(const Joined& joined, proto::ConversionReport* report) {
  report->set_peers_inferred(joined.peers_inferred);
  report->set_peer_evidence(joined.peer_evidence);
  for (const CallGroup& group : joined.call_groups.groups) {
    proto::GroupConversion* to = report->add_groups();
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

}  // namespace

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

void ReportJoined(Capture* capture) {
  proto::ConversionReport& report = capture->report;
  report.set_world_size(capture->joined.world_size);
  ReportGroups(capture->joined, &report);
  bool device_ops = false, host_only = false, device_only = false;
  int linked = 0;
  for (size_t i = 0; i < capture->ranks.size(); ++i) {
    const CaptureRank& r = capture->ranks[i];
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
      const CommPlan& plan = capture->joined.comms[i][node.comm];
      if (plan.type == NodeType::kComp) continue;
      to->set_comm_nodes(to->comm_nodes() + 1);
      to->set_comm_node_bytes(to->comm_node_bytes() + plan.bytes);
    }
    to->set_window_ns(r.timeline.window_end - r.timeline.window_begin);
    to->set_clock_offset_ns(capture->joined.clock_offset_ns[i]);
    to->set_steps(r.timeline.steps.size());
    if (r.host != nullptr) AddNotes(r.host->repairs, r.rank, &report);
    AddNotes(r.device->repairs, r.rank, &report);
    AddNotes(r.pairing.repairs, r.rank, &report);
    AddNotes(r.timeline.repairs, r.rank, &report);
  }
  for (const Repair& r : capture->joined.repairs) AddNotes({r}, r.rank, &report);
  std::set<std::string> cut;
  for (const proto::ConversionNote& note : report.notes()) {
    if (absl::StartsWith(note.kind(), "truncated_") && note.kind() != "truncated_process_groups" &&
        cut.insert(note.file()).second)
      report.add_warnings(
          absl::StrCat(note.file(), " was cut short: ", note.detail(), "; --strict refuses it"));
  }
  if (host_only) {
    report.add_warnings(
        "there is no device trace: operators have no times, and kernels are unknown; give Kineto's trace "
        "of the same "
        "run, or a kernel table");
  } else if (!device_ops) {
    report.add_warnings("the device traces show no device operation: only the host is replayed");
  }
  if (linked > 0) {
    report.add_warnings(
        "the host traces were linked by chakra_trace_link, which keeps neither launches nor waits between "
        "streams: each device operation is launched where its operator begins; the two original files "
        "contain more");
  }
  if (device_only) {
    report.add_warnings(
        "there is no host trace: communication and shapes are known only as far as the device trace contains "
        "them");
  }
  if (capture->joined.world_size > static_cast<int>(capture->ranks.size())) {
    report.add_warnings(absl::StrCat("the job has ", capture->joined.world_size, " ranks, ",
                                     capture->ranks.size(), " of them captured: the others are unknown"));
  }
}

}  // namespace chakra::pytorch
