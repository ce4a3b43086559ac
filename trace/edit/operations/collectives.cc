#include "trace/edit/operations/collectives.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"
#include "trace/model/groups.h"

namespace chakra::edit {
namespace {

constexpr absl::string_view kGive =
    "expected groups from --groups FILE, from a JSON file next to the traces, or from a process_group:init "
    "node";

// Returns the groups in the rank's own process_group:init nodes.
Groups OwnGroups(Draft* draft) {
  Groups out;
  uint64_t members = 0;
  for (uint32_t r = 0; r < draft->size(); ++r) {
    const Row& row = draft->row(r);
    if (row.removed || row.type != NodeType::kMetadata || !absl::StrContains(row.name, "process_group:init"))
      continue;
    const absl::StatusOr<Groups> here = ParseGroupNode(draft->InputValues(r), draft->Describe(r));
    // The reader has already reported the faults of these nodes.
    if (here.ok() && !MergeGroups(*here, draft->Describe(r), &out, &members).ok()) break;
  }
  return out;
}

}  // namespace

absl::Status OnlyCollectives(const Draft& draft, const std::vector<uint32_t>& rows) {
  for (const uint32_t r : rows) {
    const NodeType type = draft.row(r).type;
    if (type == NodeType::kCollective) continue;
    return draft.Error(
        r, absl::StrCat("is a ", Name(type), ", expected collectives only: select { type: \"collective\" }"));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> GroupSize(Draft* draft, uint32_t r, absl::string_view group) {
  const SetShape* shape = draft->shape();
  const Groups own = shape == nullptr || shape->groups.empty() ? OwnGroups(draft) : Groups();
  const Groups& groups = own.empty() && shape != nullptr ? shape->groups : own;
  const auto it = groups.find(std::string(group));
  if (it != groups.end() && !it->second.empty()) return it->second.size();
  if (group.empty() || group == "0") {
    if (group.empty() && draft->row(r).comm.dims_count > 0)
      return draft->Error(r, "its group is given by involved_dim, expected one with a name (pg_name)");
    if (shape != nullptr) return static_cast<uint64_t>(shape->ranks);
    return draft->Error(r, "the number of ranks is needed, but unknown; expected the traces of all ranks");
  }
  std::vector<std::string> known;
  for (const auto& [name, members] : groups) known.push_back(name);
  return draft->Error(r, absl::StrCat("the size of group \"", group, "\" is needed, but unknown",
                                      known.empty() ? "" : SuggestName(group, known), "; ", kGive));
}

bool Grows(CollectiveType type) {
  return type == CollectiveType::kAllGather || type == CollectiveType::kGather;
}

Time ShareOf(Time total, uint64_t begin, uint64_t end, uint64_t bytes) {
  const auto ns = static_cast<unsigned __int128>((total.picos() + 500) / 1000);
  return Time::Nanos(static_cast<int64_t>(ns * end / bytes) - static_cast<int64_t>(ns * begin / bytes));
}

void CopyDeps(Draft* draft, uint32_t from, uint32_t to) {
  const Deps deps = draft->deps(from);
  for (const Dep& d : deps) {
    if (d.row != kNoRow) draft->AddDep(to, d.row, d);
  }
}

}  // namespace chakra::edit
