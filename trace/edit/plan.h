// A compiled edit script (EditPlan), and its run over the ranks of a trace set (EditRun).
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
  // Compiles scripts that run one after the other. Errors (InvalidArgument) name file and line, the edit by
  // number (from 1) and name, the field, its value and what is expected.
  static absl::StatusOr<EditPlan> Make(const std::vector<Script>& scripts);

  // The names of the scripts.
  const std::string& name() const { return name_; }
  // Whether the plan changes ranks or groups; EditRun must then know the set before it edits the first rank.
  bool reshapes() const;
  // Whether EditRun should know the set, for this or another reason. If it does not, edits of nodes that need
  // the set are errors.
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

// Edits ranks and counts what was done. Several threads may call Rewrite().
class EditRun : public RankRewriter {
 public:
  // `plan` must outlive the run. `keep_lanes`: new nodes get dependencies where their lanes need these to run
  // in order; false: for a replay in which dependencies alone decide.
  explicit EditRun(const EditPlan* plan, bool keep_lanes = true);

  // Tells the run the set. Call it before the first Rewrite(): required if plan->reshapes(), else optional.
  // Errors: ranks or groups that an operation cannot handle.
  absl::Status Begin(const SetShape& shape);

  // Gives the ranks that are made of this rank: usually one; several or none if ranks are added or removed.
  // Their frames are valid Chakra; the metadata's attribute `edits` (a list of texts) records the edits.
  absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>* out) override;

  // The set after the edits; valid after Begin(). Null: only nodes change.
  const SetShape* after() const {
    return plan_.reshapes() && !shapes_.empty() ? shapes_.back().get() : nullptr;
  }

  // Call it after the last Rewrite(). Error (InvalidArgument): an edit without `allow_no_match` that matched
  // nothing on any rank.
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
  // The set before each step and after the last; empty: not known. Consecutive steps share one object where
  // the set does not change.
  std::vector<std::shared_ptr<const SetShape>> shapes_;
  std::vector<std::shared_ptr<const std::vector<int>>> rank_at_;  // likewise; [final rank]: the rank's number
                                                                  // at this step
  std::vector<std::vector<int>> becomes_;                         // [old rank]: its final ranks; empty: not
                                                                  // known
  std::mutex mutex_;
  std::vector<Count> counts_;    // by step
  std::set<std::string> names_;  // some of the nodes' names, for messages
  std::map<std::string, proto::InputFault> faults_;
  int ranks_in_ = 0, ranks_out_ = 0;
  uint64_t nodes_in_ = 0, nodes_out_ = 0;
};

// Reads `inputs` and edits them. `run` is a fresh run of the plan. If `through` is not null, the reader calls
// `through`, which calls `run`. Reads the inputs twice if plan.reshapes(). Errors: those of ReadTraceSet()
// and of the edits.
absl::StatusOr<TraceSet> ReadEdited(const std::vector<std::string>& inputs, const ReadOptions& options,
                                    const EditPlan& plan, EditRun* run, RankRewriter* through = nullptr);

}  // namespace chakra::edit
