// The trace of a rank, open to edits.
//
// The first rows of a draft are the nodes of the file, in order, as the reader returned them; new rows
// follow. Values, dependencies and whole nodes may change. Write() returns the frames of the result; a node
// that no call changed keeps its bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/edit/node_bytes.h"
#include "trace/model/attribute.h"
#include "trace/model/device_copy.h"
#include "trace/model/trace.h"

namespace chakra::edit {

// A dependency of a row. `row` is kNoRow if the file has no node `id`, or if the reader ignores this
// dependency.
struct Dep {
  uint64_t id = 0;
  uint32_t row = kNoRow;
  bool data = true;                 // in data_deps, otherwise in ctrl_deps
  int64_t delay_ns = 0;             // dep_delay_ns
  absl::string_view kind;           // the entry of dep_kinds; "": the node has no dep_kinds
  int64_t unexplained_ns = 0;       // dep_unexplained_ns: the unexplained part of delay_ns
  int64_t release = kReleaseAtEnd;  // dep_release

  // The time from the start of `row`, which lasts `duration`, until the dependency is satisfied.
  Time Held(Time duration) const { return ReleasedAfter(duration, release) + Time::Nanos(delay_ns); }
  // Takes release and delay of `other`, a dependency on the same row, if `other` holds longer. `duration`:
  // duration of the row; 0: unknown.
  void TakeLonger(const Dep& other, Time duration) {
    const bool later = other.release != release ? other.release > release : other.delay_ns > delay_ns;
    const Time own = Held(duration), others = other.Held(duration);
    if (duration == Time::Zero() || own == others ? !later : others < own) return;
    delay_ns = other.delay_ns;
    unexplained_ns = other.unexplained_ns;
    release = other.release;
  }
};
using Deps = absl::InlinedVector<Dep, 2>;

inline constexpr absl::string_view kEditKind = "edit";  // dep_kinds entry of an added dependency

// Returns the dependency marked as one that an edit added.
inline Dep OfEdit(Dep dep) {
  dep.kind = kEditKind;
  return dep;
}

// Returns the dependency with a delay that counts from the end of its row, for use with another row, where a
// release part of the way has no meaning. `duration`: duration of the row that it depends on.
inline Dep AfterEnd(Dep dep, Time duration) {
  const Time early = duration - ReleasedAfter(duration, dep.release);
  dep.delay_ns = std::max(Time::Zero(), Time::Nanos(dep.delay_ns) - early).picos() / 1000;
  dep.unexplained_ns = std::min(dep.unexplained_ns, dep.delay_ns);
  dep.release = kReleaseAtEnd;
  return dep;
}

// The parts of a node that edits use. The views live as long as the draft.
struct Row {
  absl::string_view body;  // the node's bytes, without the changes marked in `dirty`
  uint64_t id = 0;
  absl::string_view name, shapes, types;
  NodeType type = NodeType::kInvalid;
  uint8_t flags = 0;  // as in Graph::flags
  uint8_t dirty = 0;
  bool removed = false;
  bool added = false;
  bool changed = false;  // any value, or `body`, was changed
  int32_t lane = kNoLane;
  Time start, duration;
  Comm comm;                      // for communication nodes
  Time transfer = Time::Never();  // transfer_ns, for communication nodes
  Peer peer;                      // for communication nodes; Peer::group is not kept up to date: use `group`
  absl::string_view group;        // for communication nodes; "": all ranks
  Work work;                      // for all other nodes
  bool cpu() const { return (flags & kIsCpuOp) != 0; }
  // Whether the node communicates but is not a COMM_* node.
  bool kept_comm() const { return type == NodeType::kComp && (flags & kKeptComm) != 0; }
  bool is_comm() const {
    return type == NodeType::kCollective || type == NodeType::kSend || type == NodeType::kRecv;
  }
  bool is_memory() const { return type == NodeType::kMemLoad || type == NodeType::kMemStore; }
  // Whether the node moves or sets memory; in captures, such nodes are COMP nodes.
  bool copies() const { return is_memory() || (flags & kDeviceCopy) != 0; }
  // Whether the node is neither METADATA nor INVALID.
  bool works() const { return type != NodeType::kMetadata && type != NodeType::kInvalid; }
  uint64_t bytes() const { return is_comm() ? comm.bytes : work.tensor_bytes; }
};

// Chains: consecutive rows of a lane, each of which depends on the end of the previous row. So a row depends
// on all earlier rows of its chain.
struct Chains {
  std::vector<uint32_t> chain, place;  // by row: number of its chain, and position in the chain
  bool knows(uint32_t r) const { return r < chain.size(); }  // false: r is a new row
};

// The values of a node for Draft::Add().
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
  int32_t peer = kNoRank;  // for a send or receive
  int32_t tag = 0;
};

// The ranks and groups of a trace set.
struct SetShape {
  int ranks = 0;
  Groups groups;
};

class Draft {
 public:
  // `trace` must have been read with ReadOptions::keep_raw. The draft keeps its graph and frames alive.
  explicit Draft(RankTrace trace);
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  int rank() const { return rank_; }
  void set_rank(int rank) { rank_ = rank; }
  // The set of ranks that the rank belongs to; null: unknown. Owned by the caller.
  const SetShape* shape() const { return shape_; }
  void set_shape(const SetShape* shape) { shape_ = shape; }
  // False: the replay will run nodes by dependencies alone, so edits add no dependencies that keep lanes in
  // order.
  bool keeps_lanes() const { return keeps_lanes_; }
  void set_keeps_lanes(bool keeps) { keeps_lanes_ = keeps; }
  const std::string& file() const { return trace_.file; }
  const std::string& metadata() const { return trace_.metadata; }
  const RankTrace& trace() const { return trace_; }
  uint32_t size() const {
    return static_cast<uint32_t>(rows_.size());
  }  // number of rows, removed ones included
  const Row& row(uint32_t r) const { return rows_[r]; }
  // Returns "node 17 ("matmul")". The caller adds file and rank.
  std::string Describe(uint32_t r) const;
  // Returns an error about a row.
  absl::Status Error(uint32_t r, absl::string_view what) const;

  // Change values. Times are rounded to a nanosecond.
  void SetName(uint32_t r, absl::string_view name);
  void SetDuration(uint32_t r, Time duration);
  void SetStart(uint32_t r, Time start);  // in the draft's time, like Row::start
  void SetBytes(uint32_t r, uint64_t bytes);
  void SetOperations(uint32_t r, int64_t operations);
  void SetTransfer(uint32_t r, Time transfer);
  void SetLane(uint32_t r, bool cpu, int32_t lane);
  void CopyLane(uint32_t r, uint32_t from);  // copies the attributes as they are written
  void SetCollective(uint32_t r, CollectiveType type);
  void SetGroup(uint32_t r, absl::string_view group);
  void SetPeer(uint32_t r, const Peer& peer);  // sets those of src, dst, tag and root that the node has
  void SetInputs(uint32_t r, absl::string_view shapes, absl::string_view types);
  void SetInputValues(uint32_t r, absl::string_view values);  // inputs.values
  absl::string_view InputValues(uint32_t r) const;
  // Sets the node's bytes, for an attribute that the model does not have.
  void SetBody(uint32_t r, std::string body);
  bool Attr(uint32_t r, absl::string_view name, Attribute* out) const {
    return FindAttribute(rows_[r].body, kNodeAttr, name, out);
  }

  // Change the structure.
  const Deps& deps(uint32_t r) { return OpenGraph().deps_[r]; }
  const absl::InlinedVector<uint32_t, 2>& children(uint32_t r) { return OpenGraph().children_[r]; }
  // Makes row r depend on `on`. If it already does, the dependency that holds longer is kept. Does nothing if
  // r is `on`.
  void AddDep(uint32_t r, uint32_t on, bool data, int64_t delay_ns = 0) {
    AddDep(r, on, Dep{0, kNoRow, data, delay_ns, kEditKind});
  }
  // The same with delay, release and kind of `like`; its id and row are ignored.
  void AddDep(uint32_t r, uint32_t on, const Dep& like);
  // Calls AddDep() for each of `more`.
  void AddDeps(uint32_t r, const Deps& more);
  // Removes the dependency of r on `on`. Returns false if there is none. `implied`: the caller ensures that r
  // still waits for everything that `on` waits for.
  bool DropDep(uint32_t r, uint32_t on, bool implied = false);
  // Sets the delay of deps(r)[dep]. The unexplained part keeps its share of the delay.
  void SetDelay(uint32_t r, size_t dep, int64_t delay_ns);
  // Whether a dependency waits for the end of its row: only computation releases other rows before its end.
  bool AtEnd(const Dep& d) const {
    return d.release == kReleaseAtEnd || (d.release > 0 && rows_[d.row].type != NodeType::kComp);
  }
  // Returns the longest dependency of r on `on`, marked as one that an edit added. Precondition: there is
  // one.
  Dep DepOn(uint32_t r, uint32_t on);
  // Calls `move` to change row and release of each dependency on `from`; delay and kind stay.
  void MoveChildren(uint32_t from, absl::FunctionRef<void(Dep*)> move);
  // Makes every row that waits for the end of `from` wait for the end of `to` instead. Rows that `from`
  // releases before its end still depend on `from`.
  void MoveChildren(uint32_t from, uint32_t to);
  // Makes every row that `from` releases at its start depend on the start of `to` instead.
  void MoveBeginChildren(uint32_t from, uint32_t to);
  // Adds a row at the end, without dependencies. Its id is greater than all others.
  uint32_t Add(const NewRow& spec, Time start);
  // Adds a copy of r: same bytes and values, a new id, no dependencies.
  uint32_t Clone(uint32_t r);
  // Removes a row and its dependencies. Precondition: no row depends on it. The caller (`parent`) of the
  // nodes that it called becomes `instead`; kNoRow: the removed row's own caller.
  void Remove(uint32_t r, uint32_t instead = kNoRow);
  // Makes the copy of r's caller in copy_of, if there is one, the caller of `copy`, a copy of r.
  void KeepCaller(uint32_t r, uint32_t copy, const absl::flat_hash_map<uint32_t, uint32_t>& copy_of);

  // Returns the rows that were not removed, in recorded order (as Graph::order). Errors: a cycle, with its
  // nodes.
  absl::StatusOr<const std::vector<uint32_t>*> Order();
  // Returns the chains of the draft; valid until a dependency within a chain is removed or moved. Errors: a
  // cycle.
  absl::StatusOr<const Chains*> chains();
  // Returns the key of r's lane. Rows with equal keys share a lane, on which they run one after another
  // (replay/engine/lanes.h, policy `recorded`).
  uint64_t LaneKey(uint32_t r) const;
  // Whether the rows of r's lane run in recorded order even if a later row is ready first.
  bool StrictLane(uint32_t r) const;
  // Whether r is `on` or depends on it, directly or through other rows.
  bool Reaches(uint32_t r, uint32_t on);

  // Returns the row of the operator that called r, or kNoRow. The caller is the first that exists of: the
  // attribute `parent` (captures); the row that launched r; the only control dependency, in the output of
  // PyTorch's converter.
  uint32_t Parent(uint32_t r);

  // A step of a capture that an edit added, from the start of row `first` to the end of row `last`.
  struct Step {
    std::string name;
    uint32_t first = 0, last = 0;
  };
  void AddStep(std::string name, uint32_t first, uint32_t last) {
    steps_.push_back({std::move(name), first, last});
  }
  const std::vector<Step>& added_steps() const { return steps_; }

  // Sets the body of the metadata frame. If it is "", Write() adds no metadata frame to a file without one.
  void SetMetadata(std::string body) { trace_.metadata = std::move(body); }
  // Appends the frames to `out`. Errors: dependencies that make a cycle.
  absl::Status Write(std::string* out);
  // The number of rows that were changed or added, and not removed.
  uint64_t changed() const { return changed_; }
  uint64_t live() const { return rows_.size() - removed_; }

  // Returns the row of a node id, or kNoRow.
  uint32_t Find(uint64_t id);
  // Copies a text. The copy lives as long as the draft.
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
  // Reads the id in the attribute `parent`; for a removed node, the id of its replacement. Returns false if
  // there is none.
  bool ParentId(uint32_t r, uint64_t* id) const;
  void KeepParents();

  RankTrace trace_;
  int rank_ = 0;
  bool keeps_lanes_ = true;
  const SetShape* shape_ = nullptr;
  std::vector<Row> rows_;
  std::vector<std::unique_ptr<char[]>> blocks_;  // storage for texts; views into it stay valid
  char* free_ = nullptr;                         // free part of the last block
  size_t left_ = 0;
  std::string scratch_;
  bool open_ = false;
  bool ignore_ctrl_ = false;  // control dependencies have the ids of another trace
  std::vector<Deps> deps_;
  std::vector<absl::InlinedVector<uint32_t, 2>> children_;
  absl::flat_hash_map<uint64_t, uint32_t> row_of_;
  static constexpr uint64_t kNobody = UINT64_MAX;
  absl::flat_hash_map<uint64_t, uint64_t> callers_;  // removed host nodes: replacing caller, or kNobody
  uint64_t last_id_ = 0;
  int64_t epoch_ns_ = 0;  // start as written minus Row::start
  bool has_starts_ = false;
  uint64_t removed_ = 0, changed_ = 0;
  std::vector<uint32_t> order_;  // empty: unknown
  Chains chains_;                // empty: unknown
  std::vector<Step> steps_;
  int from_pytorch_ = -1;  // whether control dependencies are callers; -1: unknown
};

}  // namespace chakra::edit
