#include "trace/import/collective_logs/build.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/import/collective_logs/steps.h"
#include "trace/model/graph_builder.h"
#include "trace/model/groups.h"

namespace chakra::collective_logs {
namespace {

constexpr int64_t kMostNanos = std::numeric_limits<int64_t>::max() / 1000;

constexpr absl::string_view kGroupsNode = "## process_group:init ##";
constexpr absl::string_view kWindowNode = "[capture window]";
constexpr absl::string_view kBetweenNode = "[between calls]";
constexpr uint64_t kWindow = 1;  // the node of the begin of the run
constexpr int64_t kComputeStream = 0;

Time Nanos(int64_t ns) { return Time::Picos(ns * 1000); }

// The metadata of the rank's trace, without its steps.
ChakraProtoMsg::GlobalMetadata MetadataOf(const JoinedLogs& joined, const JoinedRank& rank,
                                          absl::string_view format) {
  ChakraProtoMsg::GlobalMetadata metadata = MetadataWith("schema", format);
  AddAttribute("capture", &metadata)->set_string_val("collective_logs");
  AddAttribute("rank", &metadata)->set_int64_val(rank.log.rank);
  AddAttribute("window_end_ns", &metadata)->set_int64_val(joined.timed ? rank.end_ns : 0);
  return metadata;
}

// Whether columns can hold the rank.
bool Fits(const JoinedRank& rank) {
  const LogCalls& calls = rank.log.calls;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (std::max({calls.start_ns(i), calls.duration_ns(i), calls.transfer_ns(i)}) > kMostNanos) return false;
  }
  return true;
}

}  // namespace

// The node of a call.
struct RankBuilder::CallNode {
  CallNode(const JoinedLogs& joined, const JoinedRank& rank, size_t call);
  const CallFacts& facts;
  size_t group = 0;         // row of JoinedLogs::members
  NodeType type;            // kComp: the call keeps its recorded time
  bool kept = false;        // whether it keeps its recorded time; it then gets comm_kind
  bool collective = false;  // by its kind, even if it is kept
  bool has_bytes = false;
  int other = kNoRank;  // the root, or the other side of a message
  // Only collectives have a stream: messages that were launched together run in parallel.
  int64_t stream() const { return kComputeStream + 1 + static_cast<int64_t>(facts.comm); }
};

RankBuilder::CallNode::CallNode(const JoinedLogs& joined, const JoinedRank& rank, size_t call)
    : facts(rank.log.calls.facts(call)), group(static_cast<size_t>(rank.groups[facts.comm])) {
  kept = rank.log.calls.lost(call) || facts.op == kLogUnknown;
  collective = IsCollective(facts.op);
  type = kept                   ? NodeType::kComp
         : collective           ? NodeType::kCollective
         : facts.op == kLogSend ? NodeType::kSend
                                : NodeType::kRecv;
  has_bytes = facts.bytes > 0 || facts.op == static_cast<uint8_t>(CollectiveType::kBarrier);
  const std::vector<int>& members = joined.members[group];
  if (facts.peer >= 0 && facts.peer < static_cast<int>(members.size()))
    other = members[static_cast<size_t>(facts.peer)];
}

void RankBuilder::Reset(bool frames) {
  ClearDraft(&graph_);
  graph_.dep_begin.push_back(0);
  draft_.peers.clear();
  index_of_.clear();
  names_.clear();
  draft_.group_names.assign(1, "");
  draft_.side = {};
  draft_.side.wanted = frames;
}

// Adds the frames of rows 0 and 1.
void RankBuilder::FrameHead(const JoinedLogs& joined, const JoinedRank& rank) {
  if (!draft_.side.wanted) return;
  Groups groups;
  for (const int g : rank.groups)
    groups.emplace(joined.group_names[static_cast<size_t>(g)], joined.members[static_cast<size_t>(g)]);
  SideTable::Frames& frames = draft_.side.rows;
  frames.Has({"name", "type", "is_cpu_op"});
  frames.Text("values", draft_.side.strings.Intern(GroupNodeText(groups)));
  frames.End();
  frames.Has({"id", "name", "type", "is_cpu_op"});
  frames.End();
}

// Adds the fields that the frames of all later rows have. Precondition: the nodes in `after` differ; there
// are at most two.
SideTable::Frames& RankBuilder::FrameOf(const Nodes& after) {
  SideTable::Frames& frames = draft_.side.rows;
  frames.Has({"id", "name", "type", "is_cpu_op", "start_ns", "duration_ns"});
  after.front() > after.back() ? frames.Has("data_deps down") : frames.Has("data_deps");
  return frames;
}

void RankBuilder::FrameCall(const JoinedLogs& joined, const CallNode& call, const Nodes& after) {
  SideTable::Frames& frames = FrameOf(after);
  StringTable& strings = draft_.side.strings;
  if (call.collective) frames.Has("stream late");
  if (call.kept) {
    frames.Has("comm_kind");
    frames.Text("pg_name kept", strings.Intern(joined.group_names[call.group]));
    if (call.has_bytes) frames.Number("comm_size kept", static_cast<int64_t>(call.facts.bytes));
  } else {
    frames.Has({"pg_name early", "comm_size early", "comm_type", "root", "comm_dst", "comm_src", "comm_tag",
                "eager", "transfer_ns"});
  }
  frames.Text("timed_by", strings.Intern(call.facts.timing == Timing::kDevice ? "device"
                                         : call.facts.timing == Timing::kHost ? "host"
                                                                              : "nothing"));
  frames.End();
}

// Returns the index of a name in the graph's strings. Most names are those of kinds of calls.
uint32_t RankBuilder::NameIndex(absl::string_view name) {
  for (const auto& [known, index] : names_) {
    if (known.data() == name.data() && known.size() == name.size()) return index;
  }
  names_.emplace_back(name, graph_.strings.Intern(name));
  return names_.back().second;
}

void RankBuilder::Row(uint64_t id, absl::string_view name, NodeType type, uint8_t flags, int64_t begin_ns,
                      int64_t duration_ns, int32_t lane, const Nodes& after) {
  graph_.id.push_back(id);
  graph_.name.push_back(NameIndex(name));
  graph_.type.push_back(type);
  graph_.flags.push_back(flags);
  graph_.start.push_back(Nanos(begin_ns));
  graph_.duration.push_back(Nanos(duration_ns));
  graph_.lane.push_back(lane);
  graph_.payload.push_back(kNoRow);
  const auto first = static_cast<std::ptrdiff_t>(graph_.dep.size());
  for (const uint64_t a : after) graph_.dep.push_back(static_cast<uint32_t>(a));  // a node's id is its row
  std::sort(graph_.dep.begin() + first, graph_.dep.end());
  graph_.dep.erase(std::unique(graph_.dep.begin() + first, graph_.dep.end()), graph_.dep.end());
  graph_.dep_begin.push_back(static_cast<uint32_t>(graph_.dep.size()));
}

// Numbers groups in the order in which calls use them.
uint32_t RankBuilder::GroupIndex(const JoinedLogs& joined, size_t group) {
  const std::string& name = joined.group_names[group];
  if (name.empty()) return 0;
  if (group >= index_of_.size()) index_of_.resize(group + 1);
  if (index_of_[group] == 0) {
    index_of_[group] = static_cast<uint32_t>(draft_.group_names.size());
    draft_.group_names.push_back(name);
  }
  return index_of_[group];
}

void RankBuilder::Call(const JoinedLogs& joined, const JoinedRank& rank, uint64_t node, size_t i,
                       const Nodes& after) {
  const LogCalls& calls = rank.log.calls;
  const CallNode call(joined, rank, i);
  const uint8_t flags = call.kept ? kHasCpuAttr | kKeptComm : kHasCpuAttr;
  Row(node, NameOfOp(call.facts.op), call.type, flags, calls.start_ns(i), calls.duration_ns(i),
      call.collective ? static_cast<int32_t>(call.stream()) : kNoLane, after);
  if (draft_.side.wanted) FrameCall(joined, call, after);
  const uint32_t group = GroupIndex(joined, call.group);
  if (call.kept) {
    graph_.payload.back() = static_cast<uint32_t>(graph_.work.size());
    graph_.work.emplace_back().comm_kind = graph_.name.back();
    return;
  }
  graph_.payload.back() = static_cast<uint32_t>(graph_.comm.size());
  Comm& comm = graph_.comm.emplace_back();
  comm.has_bytes = call.has_bytes;
  comm.bytes = call.has_bytes ? call.facts.bytes : 0;
  comm.eager = calls.eager(i);
  if (call.collective) comm.type = call.facts.op;
  graph_.transfer.push_back(calls.transfer_ns(i) < 0 ? Time::Never() : Nanos(calls.transfer_ns(i)));
  Peer& peer = draft_.peers.emplace_back();
  peer.group = group;
  if (call.collective) peer.root = call.other;
  if (call.type == NodeType::kSend) peer.dst = call.other;
  if (call.type == NodeType::kRecv) peer.src = call.other;
  if (!call.collective) peer.tag = static_cast<int32_t>(call.group);
}

// Many ranks have the same calls, and often the same steps. A step lasts until the next one begins: the
// computation before that belongs to it.
const std::string& RankBuilder::Steps(const JoinedLogs& joined, const JoinedRank& rank) {
  const LogCalls& calls = rank.log.calls;
  if (calls.key() != steps_of_ || calls.empty()) {
    steps_ = joined.timed ? FindSteps(calls) : std::vector<uint32_t>();
    steps_of_ = calls.key();
  }
  StepNodes nodes;
  for (size_t i = 0; i + 1 < steps_.size(); ++i) {
    nodes.first.push_back(node_of_[steps_[i]]);
    nodes.last.push_back(steps_[i + 1] < node_of_.size() ? node_of_[steps_[i + 1]] - 1 : node_of_.back());
  }
  if (!step_bytes_.empty() && nodes == step_nodes_) return step_bytes_;
  ChakraProtoMsg::GlobalMetadata metadata;
  auto& names = *AddAttribute("step_names", &metadata)->mutable_string_list();
  auto& first = *AddAttribute("step_first_nodes", &metadata)->mutable_uint64_list();
  auto& last = *AddAttribute("step_last_nodes", &metadata)->mutable_uint64_list();
  for (size_t i = 0; i < nodes.first.size(); ++i) names.add_values(absl::StrCat("step#", i));
  first.mutable_values()->Add(nodes.first.begin(), nodes.first.end());
  last.mutable_values()->Add(nodes.last.begin(), nodes.last.end());
  step_nodes_ = std::move(nodes);
  return step_bytes_ = metadata.SerializeAsString();
}

void RankBuilder::Between(uint64_t node, int64_t begin_ns, int64_t end_ns, const Nodes& after) {
  Row(node, kBetweenNode, NodeType::kComp, kHasCpuAttr, begin_ns, end_ns - begin_ns, kComputeStream, after);
  if (!draft_.side.wanted) return;
  SideTable::Frames& frame = FrameOf(after);
  frame.Has("stream late");
  frame.Text("category", draft_.side.strings.Intern("between_calls"));
  frame.End();
}

void RankBuilder::Walk(const JoinedLogs& joined, const JoinedRank& rank) {
  struct Running {
    int64_t end;
    uint64_t node;
    bool operator<(const Running& o) const { return end != o.end ? end > o.end : node > o.node; }
  };
  const LogCalls& calls = rank.log.calls;
  node_of_.resize(calls.size());
  std::priority_queue<Running> running;
  Nodes after = {kWindow};
  int64_t now = 0;  // when `after` are done; 0: the begin of the run, that of the first call of all ranks
  uint64_t next = kWindow + 1;
  for (size_t i = 0; i < calls.size(); ++i) {
    const int64_t start = calls.start_ns(i);
    while (!running.empty() && running.top().end <= start) {
      if (running.top().end >= now) {
        after.push_back(running.top().node);
        now = running.top().end;
        if (after.size() > 2) after.erase(after.begin() + 1);
      }
      running.pop();
    }
    if (start > now) {
      Between(next, now, start, after);
      after.assign(1, next++);
    }
    now = start;
    node_of_[i] = next++;
    Call(joined, rank, node_of_[i], i, after);
    running.push({calls.end_ns(i), node_of_[i]});
  }
}

absl::Status RankBuilder::Build(const JoinedLogs& joined, size_t r, absl::string_view format, bool frames) {
  const JoinedRank& rank = joined.ranks[r];
  if (!Fits(rank)) {
    return absl::InvalidArgumentError(absl::StrCat(
        rank.log.file, ": rank ", rank.log.rank,
        ": its calls are outside of the times that a trace can record: 106 days from the begin of the run; "
        "expected logs of one run"));
  }
  Reset(frames);
  FrameHead(joined, rank);
  Row(0, kGroupsNode, NodeType::kMetadata, kHasCpuAttr | kIsCpuOp, 0, 0, kNoLane, {});
  Row(kWindow, kWindowNode, NodeType::kMetadata, kHasCpuAttr | kIsCpuOp, 0, 0, kNoLane, {});
  Walk(joined, rank);
  if (std::all_of(graph_.start.begin(), graph_.start.end(), [](Time t) { return t == Time::Zero(); }))
    graph_.start.clear();
  DropEmptyColumns(&graph_);
  // Encoded fields that are appended to an encoded message become fields of that message.
  draft_.metadata = absl::StrCat(MetadataOf(joined, rank, format).SerializeAsString(), Steps(joined, rank));
  return absl::OkStatus();
}

}  // namespace chakra::collective_logs
