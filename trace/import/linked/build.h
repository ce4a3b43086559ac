// Makes the columns of a rank: what a Decoder makes of the frames that EmitRank() writes, without frames.
//
// Two steps, so that of a rank only its columns need be kept until all ranks are joined: Draft() takes what
// the rank alone tells, Finish() what joining adds: the begin of the run, and what calls are replayed as.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/join/join.h"
#include "trace/import/linked/rank_facts.h"
#include "trace/import/timeline/column_draft.h"
#include "trace/model/graph_builder.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

// Whether columns can hold what frames can: times within the range of Time, dependencies on nodes before.
bool FitsColumns(const CaptureRank& rank);
// Likewise of what joining adds, for the rank at `index`.
bool FitsColumns(const CaptureRank& rank, uint32_t index, const Joined& joined);

// The columns of `rank`, of which FitsColumns() holds.
ColumnDraft DraftColumns(const CaptureRank& rank);

// Leaves of `rank` what JoinRanks() and ColumnBuilder need, where its columns are drafted: the nodes that
// carry calls, and where their events were (CaptureRank::calls). `draft`, which becomes CaptureRank::columns,
// keeps the steps.
void LeaveCalls(CaptureRank* rank, ColumnDraft draft);

// Keeps its memory from rank to rank. Not thread-safe; several may share a pool.
class ColumnBuilder {
 public:
  // `pool` must outlive the builder.
  explicit ColumnBuilder(GraphPool* pool) : pool_(pool) {}

  // `rank`, the rank at `index`, as replayed rank `index` of `file`; `draft` is its own.
  // Precondition: FitsColumns().
  absl::Status Finish(const CaptureRank& rank, uint32_t index, const Joined& joined, absl::string_view file,
                      ColumnDraft draft, RankTrace* out);

 private:
  // A row that carries a call.
  struct CallRow {
    uint32_t row = 0, comm = 0, strings = 0;  // comm, strings and what follows: as of DraftRow
    Work work;
    int64_t moved = -1;
  };
  void AddRow(const DraftRow& row, int64_t start_ns);
  void Rows(const ColumnDraft& draft, const RankFacts& facts);
  void Calls(const CaptureRank& rank, const std::vector<CommPlan>& plans);
  void NameKinds(const CaptureRank& rank, std::vector<CallRow>* kept);
  void Keep(const CommPlan& plan, CallRow* row);
  void AddCall(const CommPlan& plan, const CallRow& row);
  uint32_t GroupIndex(absl::string_view name);

  GraphPool* pool_;
  GraphDraft g_;
  std::vector<CallRow> calls_;  // by row
  std::vector<Peer> peers_;
  std::vector<std::string> group_names_;
  absl::flat_hash_map<std::string, uint32_t> group_index_;
};

}  // namespace chakra::pytorch
