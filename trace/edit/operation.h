// What an edit does with the nodes that it selected. A new operation is one message in proto/edit.proto, one
// class in a file of its own, and one line in registry.cc.
#pragma once

#include <cstdint>
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

// What happened on one rank; summed up over ranks.
struct Tally {
  uint64_t matched = 0, added = 0, removed = 0;
  std::set<std::string> notes;  // assumptions, and what was left alone with the reason
};

// Immutable; ranks are edited on several threads.
class Operation {
 public:
  virtual ~Operation() = default;
  // `matches` are the selected rows, ascending. Errors name rank and node.
  virtual absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const = 0;
  // Whether Apply() looks at Draft::shape(), or Check() has something to look at.
  virtual bool needs_shape() const { return false; }
  // Before the first rank, of the set as it is then: whether ranks and groups that the edit names are there.
  virtual absl::Status Check(const SetShape&, const std::string& /*where*/) const { return absl::OkStatus(); }
};

// An operation on the set of ranks. It selects nothing; its selector must be empty.
class SetOperation {
 public:
  virtual ~SetOperation() = default;
  // The set afterwards, and source[r]: which rank rank r of it is made of. `notes` as in Tally.
  virtual absl::Status Reshape(const SetShape& before, SetShape* after, std::vector<int>* source,
                               std::set<std::string>* notes) const = 0;
  // Makes the trace of rank `source` that of rank `rank` of the set afterwards.
  virtual absl::Status Apply(Draft* draft, int rank, const SetShape& before, const SetShape& after,
                             Tally* tally) const = 0;
};

// One of the two.
struct AnyOperation {
  std::unique_ptr<Operation> on_rank;
  std::unique_ptr<SetOperation> on_set;
};

// Makes the operation of an edit. `where` begins the errors ("script.txtpb: edit 2 (fuse)"), which name the
// field and what is expected there.
using MakeOperation = absl::StatusOr<AnyOperation> (*)(const proto::Edit& edit, const std::string& where);

struct OperationEntry {
  proto::Edit::OperationCase kind;
  const char* name;  // the field's
  MakeOperation make;
};
const std::vector<OperationEntry>& Operations();

// One function each; registry.cc lists them.
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

// Of what the operation's constructor takes.
template <typename Op, typename... Args>
AnyOperation OnRank(Args&&... args) {
  return {std::make_unique<Op>(std::forward<Args>(args)...), nullptr};
}
template <typename Op, typename... Args>
AnyOperation OnSet(Args&&... args) {
  return {nullptr, std::make_unique<Op>(std::forward<Args>(args)...)};
}

// "WHERE, FIELD: WHAT" (InvalidArgument).
absl::Status BadField(absl::string_view where, absl::string_view field, absl::string_view what);

// A checked NewNode.
struct NodeSpec {
  NewRow row;             // lane: kNoLane unless given; group and name as given
  bool own_lane = false;  // else that of the anchor
  bool own_group = false;
  std::vector<proto::SetAttribute> attributes;
};
absl::StatusOr<NodeSpec> ReadNodeSpec(const proto::NewNode& spec, const std::string& where);
// Makes it, on the lane of `anchor` unless it has its own, recorded to start at `start`.
uint32_t AddNode(Draft* draft, const NodeSpec& spec, uint32_t anchor, Time start);
// Whether the node, or the attribute, names a rank or a group; and whether the set has it. A lone trace may
// be of a larger set, and where no group is known any may be meant.
bool NamesOthers(const NodeSpec& spec);
bool NamesOthers(const proto::SetAttribute& spec);
absl::Status CheckInSet(const NodeSpec& spec, const SetShape& shape, const std::string& where);
absl::Status CheckInSet(const proto::SetAttribute& spec, const SetShape& shape, const std::string& where);

// Sets attributes as SetAttribute says. Precondition: checked by CheckAttribute().
absl::Status CheckAttribute(const proto::SetAttribute& spec, const std::string& where);
void ApplyAttribute(Draft* draft, uint32_t r, const proto::SetAttribute& spec);

// Scales or sets; results below 0 are 0.
double Changed(const proto::Adjustment& change, double old);
absl::Status CheckAdjustment(const proto::Adjustment& change, const std::string& where);

// Of recorded times: picoseconds in 64 bits.
inline constexpr double kMaxMicros = 9.2e12;

// Microseconds to the nearest picosecond.
Time FromMicros(double us);

// `rows` in recorded order. Errors: a cycle.
absl::Status SortRecorded(Draft* draft, std::vector<uint32_t>* rows);

// Takes r away: what depended on it depends on what it depended on, save where that is implied. Delays add
// up, with r's duration where `keep_time`.
// Precondition: what `chains` says is true of the draft, and stays so.
void RemoveRewired(Draft* draft, const Chains& chains, uint32_t r, bool keep_time);

}  // namespace chakra::edit
