// Compiled edit scripts (EditPlan), and their run over the ranks of a trace set (EditRun).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/edit.pb.h"
#include "trace/edit/operation.h"
#include "trace/edit/script.h"
#include "trace/et/read_options.h"

namespace chakra::edit {

// Compiled edit scripts. Immutable.
class EditPlan {
 public:
  // Compiles scripts that run one after another. Errors (InvalidArgument) give file and line, the edit by
  // number (from 1) and name, the field, its value and what is expected.
  static absl::StatusOr<EditPlan> Make(const std::vector<Script>& scripts);

  // The names of the scripts.
  const std::string& name() const { return name_; }
  // Whether the plan changes ranks or groups. EditRun must then know the set before it edits the first rank.
  bool reshapes() const;
  // Whether EditRun should know the set, for this or another reason. If it does not know the set, edits of
  // nodes that need it are errors.
  bool needs_shape() const;

 private:
  friend class EditRun;
  struct Step {
    std::string where;    // "script.txtpb: edit 2 (fuse) \"optimizer\""
    std::string subject;  // `where` without the file
    std::string operation;
    proto::Edit edit;
    Selector select;
    AnyOperation apply;
    size_t script = 0;  // index into scripts_
    int index = 0;      // index of the edit in the script
  };
  absl::Status Add(const Script& script);

  std::string name_;
  std::vector<Script> scripts_;
  std::vector<Step> steps_;
};

// Edits ranks and counts the changes. Several threads may call Rewrite().
class EditRun : public RankRewriter {
 public:
  // `plan` must outlive the run. `keep_lanes`: new nodes get the dependencies that their lanes need to run in
  // order; false: for a replay in which dependencies alone decide.
  explicit EditRun(const EditPlan* plan, bool keep_lanes = true);

  // Passes the set to the run. Must be called before the first Rewrite() if plan->reshapes(), otherwise
  // optional. Errors: ranks or groups that an operation cannot handle.
  absl::Status Begin(const SetShape& shape);

  // Returns the ranks that are made from this rank: usually one; several or none if ranks are added or
  // removed. Their frames are valid Chakra. The metadata's attribute `edits` (a list of texts) records the
  // edits.
  absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>* out) override;

  // The set after the edits; valid after Begin(). Null: only nodes change.
  const SetShape* after() const {
    return plan_.reshapes() && !shapes_.empty() ? shapes_.back().get() : nullptr;
  }

  // Must be called after the last Rewrite(). Error (InvalidArgument): an edit without `allow_no_match` that
  // matched nothing on any rank.
  absl::StatusOr<proto::EditReport> Finish();

 private:
  struct Count {
    Tally tally;
    uint64_t ranks = 0, changed = 0;
  };

  absl::Status EditOne(const RankTrace& trace, int final_rank, std::string* frames);
  absl::Status RunStep(size_t step, int final_rank, Draft* draft, std::vector<std::string>* record);
  void KeepNames(const RankTrace& trace);
  void CountFaults(const RankTrace& trace);
  int RankBefore(size_t step, int final_rank) const;

  const EditPlan& plan_;
  const bool keep_lanes_;
  // The set before each step and after the last; empty: unknown. Consecutive steps share an object if the set
  // does not change.
  std::vector<std::shared_ptr<const SetShape>> shapes_;
  std::vector<std::shared_ptr<const std::vector<int>>> rank_at_;  // by step: final rank to rank at the step
  std::vector<std::vector<int>> becomes_;  // by old rank: its final ranks; empty: unknown
  std::mutex mutex_;
  std::vector<Count> counts_;    // by step
  std::set<std::string> names_;  // names of some nodes, for messages
  std::map<std::string, proto::InputFault> faults_;
  int ranks_in_ = 0, ranks_out_ = 0;
  uint64_t nodes_in_ = 0, nodes_out_ = 0;
};

// Reads `inputs` and edits them. `run` must be a new run of `plan`. If `through` is not null, the reader
// calls `through`, which calls `run`. Reads the inputs twice if plan.needs_shape(). Errors: those of
// ReadTraceSet() and of the edits.
absl::StatusOr<TraceSet> ReadEdited(const std::vector<std::string>& inputs, const ReadOptions& options,
                                    const EditPlan& plan, EditRun* run, RankRewriter* through = nullptr);

}  // namespace chakra::edit
