#include "trace/base/status_macros.h"
#include "trace/edit/operation.h"

namespace chakra::edit {
namespace {

class RemoveEdit : public Operation {
 public:
  explicit RemoveEdit(const proto::Remove& spec) : keep_time_(spec.keep_time()) {}
  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    ASSIGN_OR_RETURN(const Chains* chains, draft->chains());
    for (const uint32_t r : matches) {
      if (draft->row(r).is_comm())
        tally->notes.insert(
            "communication was removed: remove the call on all its ranks, or the replay stops and names the "
            "ranks that wait");
      RemoveRewired(draft, *chains, r, keep_time_);
      ++tally->removed;
    }
    return absl::OkStatus();
  }

 private:
  const bool keep_time_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeRemove(const proto::Edit& edit, const std::string&) {
  return OnRank<RemoveEdit>(edit.remove());
}

}  // namespace chakra::edit
