#include "trace/import/find_groups.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/checksum.h"
#include "trace/base/status_macros.h"
#include "trace/io/file.h"
#include "trace/model/groups.h"

namespace chakra {
namespace {

// The names of the groups in which the traces communicate.
std::set<std::string> NamedGroups(const TraceSet& set) {
  std::set<std::string> names;
  for (const RankTrace& r : set.ranks)
    names.insert(r.group_names.begin() + (r.group_names.empty() ? 0 : 1), r.group_names.end());
  return names;
}

// Whether the file lists a group of one of these names. True for a file that cannot be parsed, so that its
// error is reported.
bool HasOneOf(const GroupCandidate& candidate, const std::set<std::string>& names) {
  const absl::StatusOr<Groups> groups = ParseGroups(candidate.text, candidate.path);
  return !groups.ok() || std::any_of(groups->begin(), groups->end(),
                                     [&](const auto& group) { return names.contains(group.first); });
}

}  // namespace

bool NamedAsGroups(absl::string_view name) { return absl::EndsWith(name, ".json"); }

std::vector<GroupCandidate> FindCandidates(const std::string& prefix) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(prefix).parent_path();
  std::vector<GroupCandidate> found;
  for (const std::string& name : ListFolder(folder.empty() ? "." : folder.string())) {
    const fs::path path = folder / name;
    std::error_code error;
    if (!NamedAsGroups(name) || !fs::is_regular_file(path, error)) continue;
    if (fs::file_size(path, error) > kMaxGroupFile || error) continue;
    InputFile input;
    absl::StatusOr<std::string> text = ReadGroupText(path.string(), &input);
    if (text.ok()) found.push_back({path.string(), *std::move(text)});
  }
  return found;
}

absl::Status GroupsFromNodes(const std::vector<std::vector<GroupNode>>& nodes, bool strict, TraceSet* set) {
  uint64_t members = 0;
  for (size_t r = 0; r < nodes.size(); ++r) {
    RankTrace& trace = set->ranks[r];
    for (const GroupNode& node : nodes[r]) {
      const std::string subject = absl::StrCat(trace.file, ": rank ", r, ", node ", node.id);
      absl::StatusOr<Groups> groups = ParseGroupNode(node.text, subject);
      if (!groups.ok()) {  // PyTorch cuts long texts: the groups of this node are lost, the trace is not
        if (strict) return groups.status();
        trace.repairs.push_back({"unreadable_group_node", trace.file, static_cast<int>(r), 1, node.id,
                                 std::string(groups.status().message())});
        continue;
      }
      RETURN_IF_ERROR(MergeGroups(*groups, subject, &set->groups, &members));
    }
  }
  if (!set->groups.empty()) set->group_source = "process_group:init nodes";
  return absl::OkStatus();
}

absl::Status GroupsFromCandidates(const std::string& prefix, const std::vector<GroupCandidate>& candidates,
                                  TraceSet* set) {
  std::vector<const GroupCandidate*> fit;
  for (const GroupCandidate& c : candidates) {
    if (!LooksLikeGroups(c.text)) continue;
    if (c.path == prefix + ".json") {
      fit = {&c};
      break;
    }
    fit.push_back(&c);
  }
  if (fit.size() > 1) {
    const std::set<std::string> names = NamedGroups(*set);
    if (names.empty()) return absl::OkStatus();
    // Keep the lists that have a group which the traces name; the other lists belong to something else.
    std::vector<const GroupCandidate*> named;
    std::copy_if(fit.begin(), fit.end(), std::back_inserter(named),
                 [&](const GroupCandidate* c) { return HasOneOf(*c, names); });
    if (!named.empty()) fit = std::move(named);
  }
  if (fit.empty()) return absl::OkStatus();
  if (fit.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("several group files are next to the traces; name one with --groups: ", fit[0]->path,
                     ", ", fit[1]->path));
  }
  ASSIGN_OR_RETURN(set->groups, ParseGroups(fit[0]->text, fit[0]->path));
  set->group_source = fit[0]->path;
  set->inputs.push_back({fit[0]->path, Sha256Hex(fit[0]->text), fit[0]->text.size(), "groups"});
  return absl::OkStatus();
}

}  // namespace chakra
