// Makes the columns of a joined rank: what a Decoder makes of the frames that EmitRank() writes, without
// frames.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/pytorch/join.h"
#include "trace/import/pytorch/rank_facts.h"
#include "trace/model/graph_builder.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

// Keeps its memory from rank to rank. Not thread-safe; several may share a pool.
class ColumnBuilder {
 public:
  // `pool` must outlive the builder.
  explicit ColumnBuilder(GraphPool* pool) : pool_(pool) {}

  // Whether columns can hold what frames can: times within the range of Time, dependencies on nodes before.
  static bool Fits(const CaptureRank& rank, uint32_t index, const Joined& joined);

  // `rank`, the rank at `index`, as replayed rank `index` of `file`. Precondition: Fits().
  absl::Status Build(const CaptureRank& rank, uint32_t index, const Joined& joined, absl::string_view file,
                     RankTrace* out);

 private:
  struct Row {
    uint32_t name = 0, shapes = 0, types = 0;  // in the graph's strings
    NodeType type = NodeType::kComp;
    uint8_t flags = 0;
    int64_t start = 0, duration = 0;  // ns
    int32_t lane = kNoLane;
    Work work;
  };

  void Reset(const CaptureRank& rank);
  void Node(uint32_t i);
  void Deps(uint32_t i);
  void Operands(const TimelineNode& node, Row* row);
  bool ToldOperands(const TimelineNode& node, Row* row);
  void KeptComm(const CommPlan& plan, const CommCall& call, Row* row);
  void AddCall(const CommPlan& plan);
  void Add(const Row& row, const CommPlan* plan);
  uint32_t Text(uint32_t string);  // of the device trace
  uint32_t GroupIndex(const std::string& name);
  int32_t LaneOf(int64_t number);

  GraphPool* pool_;
  const CaptureRank* rank_ = nullptr;
  const RankFacts* facts_ = nullptr;
  const std::vector<CommPlan>* plans_ = nullptr;
  GraphDraft g_;
  std::vector<Peer> peers_;
  std::vector<std::string> group_names_;
  absl::flat_hash_map<std::string, uint32_t> group_index_;
  absl::flat_hash_map<int64_t, int32_t> big_lanes_;
  std::vector<uint32_t> text_of_;           // by string of the device trace: in the graph's; kNoRow: not yet
  bool delays_ = false, releases_ = false;  // whether any dependency has some
};

}  // namespace chakra::pytorch
