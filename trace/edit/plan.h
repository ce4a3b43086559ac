// An edit script, compiled, and its run over the ranks of a trace set.
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

// Immutable.
class EditPlan {
 public:
  // Scripts, one after the other. Errors (InvalidArgument) name file and line, the edit by number (from 1)
  // and name, the field, what it holds and what is expected there.
  static absl::StatusOr<EditPlan> Make(const std::vector<Script>& scripts);

  // What the scripts are called.
  const std::string& name() const { return name_; }
  // Whether ranks or groups change, so that EditRun must know them before the first rank is edited.
  bool reshapes() const;
  // Whether it must know them for this or another reason. Without, edits of nodes that need them are errors.
  bool needs_shape() const;

 private:
  friend class EditRun;
  struct Step {
    std::string where;    // "script.txtpb: edit 2 (fuse) \"optimizer\""
    std::string subject;  // the same without the file
    std::string operation;
    proto::Edit edit;
    Selector select;
    AnyOperation apply;
    size_t script = 0;  // of scripts_
    int index = 0;      // in it
  };
  absl::Status Add(const Script& script);

  std::string name_;
  std::vector<Script> scripts_;
  std::vector<Step> steps_;
};

// Edits rank after rank, on as many threads as call it, and counts.
class EditRun : public RankRewriter {
 public:
  // `plan` must outlive it.
  explicit EditRun(const EditPlan* plan);

  // Before the first Rewrite(); required where plan->reshapes(), allowed always. Errors: ranks or groups that
  // an operation cannot handle.
  absl::Status Begin(const SetShape& shape);

  // The ranks that the rank becomes: one, or several or none where ranks are added or removed. The frames of
  // each are valid Chakra, and carry a record in the metadata (attribute `edits`, a list of texts).
  absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>* out) override;

  // The set as it is afterwards; valid after Begin(). Null: nothing but nodes changed.
  const SetShape* after() const {
    return plan_.reshapes() && !shapes_.empty() ? shapes_.back().get() : nullptr;
  }

  // After the last Rewrite(). Error (InvalidArgument): an edit that matched nothing on any rank, and may not.
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
  // Before each step, and after the last; empty: not known. Steps that change nothing share them.
  std::vector<std::shared_ptr<const SetShape>> shapes_;
  std::vector<std::shared_ptr<const std::vector<int>>> rank_at_;  // [final rank]: its rank then; likewise
  std::vector<std::vector<int>> becomes_;                         // [first rank]: final ranks; likewise
  std::mutex mutex_;
  std::vector<Count> counts_;    // by step
  std::set<std::string> names_;  // some of the nodes' names, for messages
  std::map<std::string, proto::InputFault> faults_;
  int ranks_in_ = 0, ranks_out_ = 0;
  uint64_t nodes_in_ = 0, nodes_out_ = 0;
};

// The traces of `inputs` after the edits; `run` is of the plan, and of nothing before. Where `through` is not
// null, ranks go through it, and it calls the run. Reads twice where plan.reshapes(). Errors:
// ReadTraceSet()'s and the edits'.
absl::StatusOr<TraceSet> ReadEdited(const std::vector<std::string>& inputs, const ReadOptions& options,
                                    const EditPlan& plan, EditRun* run, RankRewriter* through = nullptr);

}  // namespace chakra::edit
