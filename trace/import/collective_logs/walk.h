// The nodes of a joined rank, in their order: what emit.h writes as frames, and build.h as columns.
//
// Node 0 names the groups of the rank, node 1 is the begin of the run. Each call is a collective on the
// stream of its communicator, or a send or receive; what lies between calls, and before the first one, is a
// node "[between calls]" on a stream of its own. Where a call runs while the next one begins, the time
// between the two begins lies beside it. Calls that cannot be matched are computation with comm_kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/et_def.pb.h"
#include "trace/import/collective_logs/join.h"

namespace chakra::collective_logs {

inline constexpr absl::string_view kGroupsNode = "## process_group:init ##";
inline constexpr absl::string_view kWindowNode = "[capture window]";
inline constexpr absl::string_view kBetweenNode = "[between calls]";
inline constexpr uint64_t kWindow = 1;  // the node of the begin of the run
inline constexpr int64_t kComputeStream = 0;

// What a call is written as.
struct CallNode {
  CallNode(const JoinedLogs& joined, const JoinedRank& rank, size_t call);
  const CallFacts& facts;
  size_t group = 0;         // row of JoinedLogs::members
  NodeType type;            // kComp: no machine can price it
  bool kept = false;        // then its comm_kind is said
  bool collective = false;  // by its kind, even where it is kept
  bool has_bytes = false;
  int other = kNoRank;  // the root, or the other side of a message
  // Messages that were launched together run beside each other: they have no stream.
  int64_t stream() const { return kComputeStream + 1 + static_cast<int64_t>(facts.comm); }
};

// Calls between(node, begin_ns, end_ns, after) and call(node, number of the call, after) for each node from 2
// on, in order; `after`: the nodes that the node waits for, at most two. Both return absl::Status.
template <typename Between, typename Call>
absl::Status WalkRank(const JoinedRank& rank, const Between& between, const Call& call) {
  struct Running {
    int64_t end;
    uint64_t node;
    bool operator<(const Running& o) const { return end != o.end ? end > o.end : node > o.node; }
  };
  const LogCalls& calls = rank.log.calls;
  std::priority_queue<Running> running;
  std::vector<uint64_t> after = {kWindow};
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
      if (absl::Status s = between(next, now, start, after); !s.ok()) return s;
      after.assign(1, next++);
    }
    now = start;
    const uint64_t node = next++;
    if (absl::Status s = call(node, i, after); !s.ok()) return s;
    running.push({calls.end_ns(i), node});
  }
  return absl::OkStatus();
}

// What the rank's trace says of itself, but of its steps. `format`: "nccl_inspector" or the like.
ChakraProtoMsg::GlobalMetadata MetadataOf(const JoinedLogs& joined, const JoinedRank& rank,
                                          absl::string_view format);

// The first and last nodes of steps.
struct StepNodes {
  std::vector<uint64_t> first, last;
  bool operator==(const StepNodes&) const = default;
};
// `steps` as FindSteps() returns them; `node_of`: by call.
StepNodes StepNodesOf(const std::vector<uint32_t>& steps, const std::vector<uint64_t>& node_of);
// What follows MetadataOf() in the trace's metadata.
ChakraProtoMsg::GlobalMetadata StepsMetadata(const StepNodes& nodes);

}  // namespace chakra::collective_logs
