// The interface of edit operations: what an edit does with the nodes that its selector matched. A new
// operation needs a message in proto/edit.proto, a class in its own file, and a line in registry.cc.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/edit.pb.h"
#include "trace/edit/draft.h"
#include "trace/edit/selector.h"
#include "trace/model/trace.h"

namespace chakra::edit {

// What an edit did on a rank. EditRun sums it over ranks.
struct Tally {
  uint64_t matched = 0, added = 0, removed = 0;
  std::set<std::string> notes;                        // assumptions
  std::map<std::string, uint64_t, std::less<>> left;  // number of unchanged matches, by reason
  std::array<uint64_t, 4> scaled = {};  // number of nodes whose time `duration` changed, by kScaled

  void Leave(absl::string_view reason, uint64_t nodes = 1);
  // Adds the counts and notes of another rank; with `notes_only`, only the notes.
  void Add(const Tally& other, bool notes_only);
};
inline constexpr const char* kScaled[] = {"on the host", "on the device", "of communication", "of memory"};

// An operation on one rank. Immutable, because several threads edit ranks.
class Operation {
 public:
  virtual ~Operation() = default;
  // `matches` are the selected rows, ascending. Errors give rank and node.
  virtual absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const = 0;
  // Whether Apply() uses Draft::shape(), or Check() has something to check.
  virtual bool needs_shape() const { return false; }
  // Called before the first rank is edited, with the set as it is before this edit. Checks that the ranks and
  // groups named in the edit exist.
  virtual absl::Status Check(const SetShape&, const std::string& /*where*/) const { return absl::OkStatus(); }
};

// An operation on the set of ranks. It selects no nodes, so its selector must be empty.
class SetOperation {
 public:
  virtual ~SetOperation() = default;
  // Returns the set after the edit. source[r] is the old rank from which the new rank r is made. `notes`: as
  // in Tally.
  virtual absl::Status Reshape(const SetShape& before, SetShape* after, std::vector<int>* source,
                               std::set<std::string>* notes) const = 0;
  // Turns `draft`, the trace of an old rank, into the trace of `rank` in the set after the edit.
  virtual absl::Status Apply(Draft* draft, int rank, const SetShape& before, const SetShape& after,
                             Tally* tally) const = 0;
};

// An operation either on a rank or on the set; the other pointer is null.
struct AnyOperation {
  std::unique_ptr<Operation> on_rank;
  std::unique_ptr<SetOperation> on_set;
};

// Makes the operation of an edit. Errors begin with `where` ("script.txtpb: edit 2 (fuse)") and give the
// field and what is expected there.
using MakeOperation = absl::StatusOr<AnyOperation> (*)(const proto::Edit& edit, const std::string& where);

struct OperationEntry {
  proto::Edit::OperationCase kind;
  const char* name;  // the field's name
  MakeOperation make;
};
const std::vector<OperationEntry>& Operations();

// One function for each operation, listed in registry.cc.
absl::StatusOr<AnyOperation> MakeDuration(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeBytes(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeWork(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeDelay(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeDtype(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeRename(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeAttribute(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeRemove(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeInsert(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeReplace(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeFuse(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeSplit(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeMove(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeAddDependency(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeDropDependency(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeReorder(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeMergeCollectives(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeSplitCollectives(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeChangeCollective(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeCompress(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeStorage(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeRemapGroups(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeRemapRanks(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeDelayRank(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeRepeat(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeDuplicate(const proto::Edit& edit, const std::string& where);
absl::StatusOr<AnyOperation> MakeRescale(const proto::Edit& edit, const std::string& where);

// Make an operation from the arguments of its constructor.
template <typename Op, typename... Args>
AnyOperation OnRank(Args&&... args) {
  return {std::make_unique<Op>(std::forward<Args>(args)...), nullptr};
}
template <typename Op, typename... Args>
AnyOperation OnSet(Args&&... args) {
  return {nullptr, std::make_unique<Op>(std::forward<Args>(args)...)};
}

// Returns the error "WHERE, FIELD: WHAT" (InvalidArgument).
absl::Status BadField(absl::string_view where, absl::string_view field, absl::string_view what);

// A checked NewNode.
struct NodeSpec {
  NewRow row;             // `lane` is kNoLane unless given
  bool own_lane = false;  // false: the node runs on the anchor's lane
  bool own_group = false;
  std::vector<proto::SetAttribute> attributes;
};
absl::StatusOr<NodeSpec> ReadNodeSpec(const proto::NewNode& spec, const std::string& where);
// Adds the node, on the lane of `anchor` unless `spec` has a lane, with the recorded start `start`.
uint32_t AddNode(Draft* draft, const NodeSpec& spec, uint32_t anchor, Time start);
// NamesOthers(): whether the node, or the attribute, refers to a rank or a group. CheckInSet(): error if the
// set does not have this rank or group. Ranks are not checked for a single trace, which may belong to a
// larger set; groups are not checked if no groups are known.
bool NamesOthers(const NodeSpec& spec);
bool NamesOthers(const proto::SetAttribute& spec);
absl::Status CheckInSet(const NodeSpec& spec, const SetShape& shape, const std::string& where);
absl::Status CheckInSet(const proto::SetAttribute& spec, const SetShape& shape, const std::string& where);

// ApplyAttribute() sets an attribute. Precondition: CheckAttribute() accepted `spec`.
absl::Status CheckAttribute(const proto::SetAttribute& spec, const std::string& where);
void ApplyAttribute(Draft* draft, uint32_t r, const proto::SetAttribute& spec);

// Returns `old`, scaled or replaced by `change`; at least 0.
double Changed(const proto::Adjustment& change, double old);
absl::Status CheckAdjustment(const proto::Adjustment& change, const std::string& where);

// The maximum recorded time in microseconds: in picoseconds it must fit in 64 bits.
inline constexpr double kMaxMicros = 9.2e12;

// Converts microseconds to the nearest picosecond.
Time FromMicros(double us);

// Sorts `rows` in recorded order. Errors: a cycle.
absl::Status SortRecorded(Draft* draft, std::vector<uint32_t>* rows);

// Returns a dependency that makes r wait for another row as r waits for `on`. Precondition: r depends on
// `on`.
inline Dep LikeDepOn(Draft* draft, uint32_t r, uint32_t on) {
  Dep out = OfEdit(draft->DepOn(r, on));
  out.data = true;
  return out;
}

// Removes r. Every row that depended on r then depends on all rows that r depended on, unless other
// dependencies imply this. The delays of both dependencies are added, except if the row waited for a row of
// its own lane by way of r and then woke up (see the implementation). With `keep_time`, the duration of r is
// added too. Precondition: `chains` is valid for the draft, before and after the call.
void RemoveRewired(Draft* draft, const Chains& chains, uint32_t r, bool keep_time);

}  // namespace chakra::edit
