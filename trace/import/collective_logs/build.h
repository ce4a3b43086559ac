// Makes the columns of a joined rank: what a Decoder makes of the frames that EmitRank() writes, without
// frames.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/collective_logs/join.h"
#include "trace/import/collective_logs/walk.h"
#include "trace/model/graph_builder.h"
#include "trace/model/trace.h"

namespace chakra::collective_logs {

// Keeps its memory from rank to rank. Not thread-safe; several may share a pool.
class RankBuilder {
 public:
  // `pool` must outlive the builder, which makes the ranks of one JoinedLogs.
  explicit RankBuilder(GraphPool* pool) : pool_(pool) {}

  // Whether columns can hold the rank: its last call ends within the range of Time.
  static bool Fits(const JoinedRank& rank);

  // Rank `r` of `joined`. Precondition: Fits().
  absl::Status Build(const JoinedLogs& joined, size_t r, absl::string_view format, RankTrace* out);

 private:
  void Reset();
  // Adds a row without a payload.
  void Row(uint64_t id, absl::string_view name, NodeType type, uint8_t flags, int64_t begin_ns,
           int64_t duration_ns, int32_t lane, const std::vector<uint64_t>& after);
  void Call(const JoinedLogs& joined, const JoinedRank& rank, uint64_t node, size_t i,
            const std::vector<uint64_t>& after);
  uint32_t GroupIndex(const JoinedLogs& joined, size_t group);
  uint32_t NameIndex(absl::string_view name);
  // StepsMetadata() of the rank, serialised.
  const std::string& Steps(const JoinedLogs& joined, const JoinedRank& rank);

  GraphPool* pool_;
  GraphDraft graph_;
  std::vector<Peer> peers_;
  std::vector<uint64_t> node_of_;
  std::vector<uint32_t> index_of_;  // by group: in group_names; 0: not there
  std::vector<std::string> group_names_;
  std::vector<std::pair<absl::string_view, uint32_t>> names_;  // by where the text is
  // Of the last rank. All calls of `JoinedLogs` are there before the first rank is made, so that no others
  // come to lie where these were.
  const CallFacts* steps_of_ = nullptr;
  std::vector<uint32_t> steps_;
  StepNodes step_nodes_;
  std::string step_bytes_;
};

}  // namespace chakra::collective_logs
