#include "trace/import/collective_logs/build.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/collective_logs/steps.h"

namespace chakra::collective_logs {
namespace {

constexpr int64_t kMostNanos = std::numeric_limits<int64_t>::max() / 1000;

Time Nanos(int64_t ns) { return Time::Picos(ns * 1000); }

}  // namespace

bool RankBuilder::Fits(const JoinedRank& rank) {
  const LogCalls& calls = rank.log.calls;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (std::max({calls.start_ns(i), calls.duration_ns(i), calls.transfer_ns(i)}) > kMostNanos) return false;
  }
  return true;
}

void RankBuilder::Reset() {
  ClearDraft(&graph_);
  graph_.dep_begin.push_back(0);
  peers_.clear();
  index_of_.clear();
  names_.clear();
  group_names_.assign(1, "");
}

// The name's index in the graph's strings, which are those of calls' kinds but for a few.
uint32_t RankBuilder::NameIndex(absl::string_view name) {
  for (const auto& [known, index] : names_) {
    if (known.data() == name.data() && known.size() == name.size()) return index;
  }
  names_.emplace_back(name, graph_.strings.Intern(name));
  return names_.back().second;
}

void RankBuilder::Row(uint64_t id, absl::string_view name, NodeType type, uint8_t flags, int64_t begin_ns,
                      int64_t duration_ns, int32_t lane, const std::vector<uint64_t>& after) {
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

// In the order in which calls name them.
uint32_t RankBuilder::GroupIndex(const JoinedLogs& joined, size_t group) {
  const std::string& name = joined.group_names[group];
  if (name.empty()) return 0;
  if (group >= index_of_.size()) index_of_.resize(group + 1);
  if (index_of_[group] == 0) {
    index_of_[group] = static_cast<uint32_t>(group_names_.size());
    group_names_.push_back(name);
  }
  return index_of_[group];
}

void RankBuilder::Call(const JoinedLogs& joined, const JoinedRank& rank, uint64_t node, size_t i,
                       const std::vector<uint64_t>& after) {
  const LogCalls& calls = rank.log.calls;
  const CallNode call(joined, rank, i);
  const uint8_t flags = call.kept ? kHasCpuAttr | kKeptComm : kHasCpuAttr;
  Row(node, NameOfOp(call.facts.op), call.type, flags, calls.start_ns(i), calls.duration_ns(i),
      call.collective ? static_cast<int32_t>(call.stream()) : kNoLane, after);
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
  Peer& peer = peers_.emplace_back();
  peer.group = group;
  if (call.collective) peer.root = call.other;
  if (call.type == NodeType::kSend) peer.dst = call.other;
  if (call.type == NodeType::kRecv) peer.src = call.other;
  if (!call.collective) peer.tag = static_cast<int32_t>(call.group);
}

// Most ranks have the calls of others, and many their steps.
const std::string& RankBuilder::Steps(const JoinedLogs& joined, const JoinedRank& rank) {
  const LogCalls& calls = rank.log.calls;
  if (calls.key() != steps_of_ || calls.empty()) {
    steps_ = joined.timed ? FindSteps(calls) : std::vector<uint32_t>();
    steps_of_ = calls.key();
  }
  StepNodes nodes = StepNodesOf(steps_, node_of_);
  if (step_bytes_.empty() || !(nodes == step_nodes_)) {
    step_bytes_ = StepsMetadata(nodes).SerializeAsString();
    step_nodes_ = std::move(nodes);
  }
  return step_bytes_;
}

absl::Status RankBuilder::Build(const JoinedLogs& joined, size_t r, absl::string_view format,
                                RankTrace* out) {
  const JoinedRank& rank = joined.ranks[r];
  Reset();
  Row(0, kGroupsNode, NodeType::kMetadata, kHasCpuAttr | kIsCpuOp, 0, 0, kNoLane, {});
  Row(kWindow, kWindowNode, NodeType::kMetadata, kHasCpuAttr | kIsCpuOp, 0, 0, kNoLane, {});
  node_of_.resize(rank.log.calls.size());
  RETURN_IF_ERROR(WalkRank(
      rank,
      [&](uint64_t node, int64_t begin, int64_t end, const std::vector<uint64_t>& after) {
        Row(node, kBetweenNode, NodeType::kComp, kHasCpuAttr, begin, end - begin, kComputeStream, after);
        return absl::OkStatus();
      },
      [&](uint64_t node, size_t i, const std::vector<uint64_t>& after) {
        Call(joined, rank, node, i, after);
        node_of_[i] = node;
        return absl::OkStatus();
      }));
  if (std::all_of(graph_.start.begin(), graph_.start.end(), [](Time t) { return t == Time::Zero(); }))
    graph_.start.clear();
  DropEmptyColumns(&graph_);
  out->rank = static_cast<int>(r);
  out->file = rank.log.file;
  // Fields of one message behind those of another are fields of both together.
  out->metadata = absl::StrCat(MetadataOf(joined, rank, format).SerializeAsString(), Steps(joined, rank));
  ASSIGN_OR_RETURN(out->graph, pool_->InternTimed(&graph_, absl::StrCat(rank.log.file, ": rank ", r)));
  out->peers = pool_->columns().Share(peers_);
  out->group_names = group_names_;
  return absl::OkStatus();
}

}  // namespace chakra::collective_logs
