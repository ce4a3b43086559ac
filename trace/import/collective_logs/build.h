// Makes the columns of a joined rank, and where frames are wanted their side table. Frames have the form of
// those of a PyTorch capture (trace/import/linked/build.h).
//
// Node 0 names the groups of the rank, node 1 is the begin of the run. Each call is a collective on the
// stream of its communicator, or a send or receive; what lies between calls, and before the first one, is a
// node "[between calls]" on a stream of its own. Where a call runs while the next one begins, the time
// between the two begins lies beside it. Calls that cannot be matched are computation with comm_kind.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/et/rank_draft.h"
#include "trace/import/collective_logs/join.h"

namespace chakra::collective_logs {

// Keeps its memory from rank to rank, those of one JoinedLogs. Not thread-safe.
class RankBuilder {
 public:
  // Makes rank `r` of `joined`. `format`: "nccl_inspector" or the like; `frames`: with the side table. Error:
  // columns cannot hold the rank, whose last call ends beyond the range of Time.
  absl::Status Build(const JoinedLogs& joined, size_t r, absl::string_view format, bool frames);
  // What was built last.
  RankDraft* draft() { return &draft_; }

 private:
  struct CallNode;
  // The first and last nodes of steps.
  struct StepNodes {
    std::vector<uint64_t> first, last;
    bool operator==(const StepNodes&) const = default;
  };
  using Nodes = std::vector<uint64_t>;
  void Reset(bool frames);
  // Adds all rows but the first two. `after`, here and below: the nodes that a node waits for, at most two.
  void Walk(const JoinedLogs& joined, const JoinedRank& rank);
  void Between(uint64_t node, int64_t begin_ns, int64_t end_ns, const Nodes& after);
  // Adds a row without a payload.
  void Row(uint64_t id, absl::string_view name, NodeType type, uint8_t flags, int64_t begin_ns,
           int64_t duration_ns, int32_t lane, const Nodes& after);
  void Call(const JoinedLogs& joined, const JoinedRank& rank, uint64_t node, size_t i, const Nodes& after);
  // Says what the frames of nodes have, where they are wanted.
  void FrameHead(const JoinedLogs& joined, const JoinedRank& rank);
  SideTable::Frames& FrameOf(const Nodes& after);
  void FrameCall(const JoinedLogs& joined, const CallNode& call, const Nodes& after);
  uint32_t GroupIndex(const JoinedLogs& joined, size_t group);
  uint32_t NameIndex(absl::string_view name);
  // What the rank's metadata say of its steps.
  const std::string& Steps(const JoinedLogs& joined, const JoinedRank& rank);

  RankDraft draft_;
  GraphDraft& graph_ = draft_.graph;
  std::vector<uint64_t> node_of_;
  std::vector<uint32_t> index_of_;                             // by group: in group_names; 0: not there
  std::vector<std::pair<absl::string_view, uint32_t>> names_;  // by where the text is
  // Of the last rank. All calls of `JoinedLogs` are there before the first rank is made, so that no others
  // come to lie where these were.
  const CallFacts* steps_of_ = nullptr;
  std::vector<uint32_t> steps_;
  StepNodes step_nodes_;
  std::string step_bytes_;
};

}  // namespace chakra::collective_logs
