// One rank's trace, open to edits.
//
// A draft begins as what the reader made of the rank: rows are its nodes, in the order of the file, and new
// ones follow. Values, dependencies and whole nodes may change; Write() gives the frames of the result, in
// which every node that no call touched has the bytes that it had.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/edit/node_bytes.h"
#include "trace/model/attribute.h"
#include "trace/model/trace.h"

namespace chakra::edit {

// What a row depends on. `row` is kNoRow where the file has no such node, and where the reader ignores it.
struct Dep {
  uint64_t id = 0;
  uint32_t row = kNoRow;
  bool data = true;        // data_deps, else ctrl_deps
  int64_t delay_ns = 0;    // dep_delay_ns
  absl::string_view kind;  // of dep_kinds; "" where the node has none
};
using Deps = absl::InlinedVector<Dep, 2>;

inline constexpr absl::string_view kEditKind = "edit";  // in dep_kinds: made by an edit

// A node, as far as edits look at it. Views live as long as the draft.
struct Row {
  absl::string_view body;  // bytes without what is pending in `dirty`
  uint64_t id = 0;
  absl::string_view name, shapes, types;
  NodeType type = NodeType::kInvalid;
  uint8_t flags = 0;  // of Graph::flags
  uint8_t dirty = 0;
  bool removed = false;
  bool added = false;
  bool changed = false;  // or its bytes were changed
  int32_t lane = kNoLane;
  Time start, duration;
  Comm comm;                // of communication
  Peer peer;                // likewise; `group` is not kept up: see `group`
  absl::string_view group;  // likewise; "": all ranks
  Work work;                // of the others
  bool cpu() const { return (flags & kIsCpuOp) != 0; }
  bool is_comm() const {
    return type == NodeType::kCollective || type == NodeType::kSend || type == NodeType::kRecv;
  }
  bool is_memory() const { return type == NodeType::kMemLoad || type == NodeType::kMemStore; }
  // Neither METADATA nor INVALID.
  bool works() const { return type != NodeType::kMetadata && type != NodeType::kInvalid; }
  uint64_t bytes() const { return is_comm() ? comm.bytes : work.tensor_bytes; }
};

// Rows that follow each other on a lane, each of which depends on the one before it: through it, on all of
// the chain that come before.
struct Chains {
  std::vector<uint32_t> chain, place;                        // by row: its number, and the row's place in it
  bool knows(uint32_t r) const { return r < chain.size(); }  // else it is new
};

// A node to be made.
struct NewRow {
  std::string name;
  NodeType type = NodeType::kComp;
  bool cpu = false;
  int32_t lane = kNoLane;
  Time duration;
  int64_t operations = 0;
  uint64_t bytes = 0;
  CollectiveType collective = CollectiveType::kAllReduce;
  std::string group;
  int32_t peer = kNoRank;  // of a send or receive
  int32_t tag = 0;
};

// The ranks and groups of a trace set.
struct SetShape {
  int ranks = 0;
  Groups groups;
};

class Draft {
 public:
  // `trace` was read with ReadOptions::keep_raw; the draft keeps its graph and frames alive.
  explicit Draft(RankTrace trace);
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  int rank() const { return rank_; }
  void set_rank(int rank) { rank_ = rank; }
  // The set that the rank is of; null where nobody knows. It must outlive its use.
  const SetShape* shape() const { return shape_; }
  void set_shape(const SetShape* shape) { shape_ = shape; }
  const std::string& file() const { return trace_.file; }
  const std::string& metadata() const { return trace_.metadata; }
  const RankTrace& trace() const { return trace_; }
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }  // rows, removed ones included
  const Row& row(uint32_t r) const { return rows_[r]; }
  // "node 17 ("matmul")". Whoever reads the trace tells file and rank.
  std::string Describe(uint32_t r) const;
  // An error about a row.
  absl::Status Error(uint32_t r, absl::string_view what) const;

  // Values. Times below a nanosecond are rounded to it.
  void SetName(uint32_t r, absl::string_view name);
  void SetDuration(uint32_t r, Time duration);
  void SetStart(uint32_t r, Time start);  // on the draft's clock, that of Row::start
  void SetBytes(uint32_t r, uint64_t bytes);
  void SetOperations(uint32_t r, int64_t operations);
  void SetTransfer(uint32_t r, Time transfer);
  void SetLane(uint32_t r, bool cpu, int32_t lane);
  void CopyLane(uint32_t r, uint32_t from);  // as it is written there
  void SetCollective(uint32_t r, CollectiveType type);
  void SetGroup(uint32_t r, absl::string_view group);
  void SetPeer(uint32_t r, const Peer& peer);  // src, dst, tag and root, where the node has them
  void SetInputs(uint32_t r, absl::string_view shapes, absl::string_view types);
  void SetInputValues(uint32_t r, absl::string_view values);  // inputs.values
  absl::string_view InputValues(uint32_t r) const;
  // An attribute that the model does not keep.
  void SetBody(uint32_t r, std::string body);
  bool Attr(uint32_t r, absl::string_view name, Attribute* out) const {
    return FindAttribute(rows_[r].body, kNodeAttr, name, out);
  }

  // Structure.
  const Deps& deps(uint32_t r) { return OpenGraph().deps_[r]; }
  const absl::InlinedVector<uint32_t, 2>& children(uint32_t r) { return OpenGraph().children_[r]; }
  // Row r depends on `on`; where it does already, the longer delay counts. No-op for r itself.
  void AddDep(uint32_t r, uint32_t on, bool data, int64_t delay_ns = 0, absl::string_view kind = kEditKind);
  // Several, as one after the other.
  void AddDeps(uint32_t r, const Deps& more);
  // False: it does not depend on it. `implied`: the caller sees to it that r waits for what `on` waits for.
  bool DropDep(uint32_t r, uint32_t on, bool implied = false);
  void SetDelay(uint32_t r, size_t dep, int64_t delay_ns);  // of deps(r)[dep]
  // What depends on `from` depends on `to` instead, with its delay.
  void MoveChildren(uint32_t from, uint32_t to);
  // A new row, at the end, that depends on nothing. Its id is larger than all.
  uint32_t Add(const NewRow& spec, Time start);
  // A new row like r: same bytes and values, another id, no dependencies.
  uint32_t Clone(uint32_t r);
  // Takes a row away with its dependencies. Who depended on it is the caller's business: nobody must.
  void Remove(uint32_t r);

  // The rows that are there in recorded order (as Graph::order). Errors: a cycle, with its nodes.
  absl::StatusOr<const std::vector<uint32_t>*> Order();
  // They stay where they are until dependencies in a chain are dropped or moved. Errors: a cycle.
  absl::StatusOr<const Chains*> chains();
  // Where rows run one after the other: rows of equal keys share a lane (replay/engine/lanes.h, policy
  // `recorded`).
  uint64_t LaneKey(uint32_t r) const;
  // Whether the rows of r's lane run in recorded order, whatever is ready.
  bool StrictLane(uint32_t r) const;
  // Whether r, or what it depends on, reaches `on`.
  bool Reaches(uint32_t r, uint32_t on);

  // Row of the operator that r was called from, or kNoRow: attribute `parent` (captures), what launched it,
  // or the one control dependency of what PyTorch's converter wrote.
  uint32_t Parent(uint32_t r);

  // A step of a capture that the edit made, from the start of one row to the end of another.
  struct Step {
    std::string name;
    uint32_t first = 0, last = 0;
  };
  void AddStep(std::string name, uint32_t first, uint32_t last) {
    steps_.push_back({std::move(name), first, last});
  }
  const std::vector<Step>& added_steps() const { return steps_; }

  // The metadata's body afterwards; "" keeps it away where the file had none.
  void SetMetadata(std::string body) { trace_.metadata = std::move(body); }
  // Appends the frames. Errors: dependencies that make a cycle.
  absl::Status Write(std::string* out);
  // Rows that are there and are not as they were, new ones included.
  uint64_t changed() const { return changed_; }
  uint64_t live() const { return rows_.size() - removed_; }

  // Row of a node id, or kNoRow.
  uint32_t Find(uint64_t id);
  // Keeps a text for the draft's life.
  absl::string_view Keep(absl::string_view text);

 private:
  enum Dirty : uint8_t { kDuration = 1, kBytes = 2, kOperations = 4, kStart = 8, kDeps = 16, kTransfer = 32 };

  Draft& OpenGraph();
  void ReadDeps(uint32_t r);
  uint32_t Push(Row row, absl::string_view body);
  void Touch(uint32_t r, uint8_t what = 0);
  void Link(uint32_t r, const Dep& dep);
  void Flush(uint32_t r);
  void FlushDeps(uint32_t r);
  void FlushTimes(uint32_t r);
  int64_t RawStart(Time start) const;
  void Changed() { order_.clear(); }
  bool Chained(uint32_t a, uint32_t b) const;

  RankTrace trace_;
  int rank_ = 0;
  const SetShape* shape_ = nullptr;
  std::vector<Row> rows_;
  std::vector<std::unique_ptr<char[]>> blocks_;  // of texts; views into them stay
  char* free_ = nullptr;                         // in the last block
  size_t left_ = 0;
  std::string scratch_;
  bool open_ = false;
  bool ignore_ctrl_ = false;  // control dependencies are in the ids of another trace
  std::vector<Deps> deps_;
  std::vector<absl::InlinedVector<uint32_t, 2>> children_;
  absl::flat_hash_map<uint64_t, uint32_t> row_of_;
  uint64_t last_id_ = 0;
  int64_t epoch_ns_ = 0;  // raw start less Row::start
  bool has_starts_ = false;
  uint64_t removed_ = 0, changed_ = 0;
  std::vector<uint32_t> order_;  // empty: not known
  Chains chains_;                // likewise
  std::vector<Step> steps_;
  int from_pytorch_ = -1;  // whether control dependencies are callers; -1: not known
};

}  // namespace chakra::edit
