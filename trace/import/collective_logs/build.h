// Makes the columns of a joined rank and, on request, the side table of its frames. Frames have the form of
// those of a PyTorch capture (trace/import/linked/build.h).
//
// Node 0 names the groups of the rank; node 1 is the begin of the run. Each call is a collective on the
// stream of its group, or a send or receive. The time between calls, and before the first one, is a node
// "[between calls]" on a stream of its own. If a call still runs when the next call begins, the time between
// the two begins is such a node too, parallel to the first call. Calls that cannot be matched are computation
// with comm_kind.
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

// Builds the ranks of one JoinedLogs, and reuses its memory from rank to rank. Not thread-safe.
class RankBuilder {
 public:
  // Builds rank `r` of `joined`. `format`: "nccl_inspector" or the like; `frames`: whether to make the side
  // table. Error: columns cannot hold the rank, because its last call ends beyond the range of Time.
  absl::Status Build(const JoinedLogs& joined, size_t r, absl::string_view format, bool frames);
  // The draft of the last Build().
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
  // Adds all rows except rows 0 and 1. `after`, here and below: the nodes that a node waits for, at most two.
  void Walk(const JoinedLogs& joined, const JoinedRank& rank);
  void Between(uint64_t node, int64_t begin_ns, int64_t end_ns, const Nodes& after);
  // Adds a row without a payload.
  void Row(uint64_t id, absl::string_view name, NodeType type, uint8_t flags, int64_t begin_ns,
           int64_t duration_ns, int32_t lane, const Nodes& after);
  void Call(const JoinedLogs& joined, const JoinedRank& rank, uint64_t node, size_t i, const Nodes& after);
  // Add to the side table the fields that frames of nodes have, if frames are wanted.
  void FrameHead(const JoinedLogs& joined, const JoinedRank& rank);
  SideTable::Frames& FrameOf(const Nodes& after);
  void FrameCall(const JoinedLogs& joined, const CallNode& call, const Nodes& after);
  uint32_t GroupIndex(const JoinedLogs& joined, size_t group);
  uint32_t NameIndex(absl::string_view name);
  // Returns the steps of the rank as encoded metadata.
  const std::string& Steps(const JoinedLogs& joined, const JoinedRank& rank);

  RankDraft draft_;
  GraphDraft& graph_ = draft_.graph;
  std::vector<uint64_t> node_of_;
  std::vector<uint32_t> index_of_;                             // by group: index in group_names; 0: not there
  std::vector<std::pair<absl::string_view, uint32_t>> names_;  // by address of the text
  // The calls, steps and encoded steps of the last rank, reused for ranks with the same calls. The address is
  // a safe key: all calls of a JoinedLogs exist before the first Build(), so no other calls get the same
  // address.
  const CallFacts* steps_of_ = nullptr;
  std::vector<uint32_t> steps_;
  StepNodes step_nodes_;
  std::string step_bytes_;
};

}  // namespace chakra::collective_logs
