#include "trace/import/find_groups.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/checksum.h"
#include "trace/io/file.h"
#include "trace/model/groups.h"

namespace chakra {
namespace {

bool NamesGroups(const TraceSet& set) {
  return std::any_of(set.ranks.begin(), set.ranks.end(),
                     [](const RankTrace& r) { return r.group_names.size() > 1; });
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
      if (!groups.ok()) {  // PyTorch cuts long texts: what it says is lost, the trace is not
        if (strict) return groups.status();
        trace.repairs.push_back({"unreadable_group_node", trace.file, static_cast<int>(r), 1, node.id,
                                 std::string(groups.status().message())});
        continue;
      }
      if (absl::Status s = MergeGroups(*groups, subject, &set->groups, &members); !s.ok()) return s;
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
  if (fit.empty() || (fit.size() > 1 && !NamesGroups(*set))) return absl::OkStatus();
  if (fit.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "several group files lie beside the traces, name one: ", fit[0]->path, ", ", fit[1]->path));
  }
  absl::StatusOr<Groups> groups = ParseGroups(fit[0]->text, fit[0]->path);
  if (!groups.ok()) return groups.status();
  set->groups = *std::move(groups);
  set->group_source = fit[0]->path;
  set->inputs.push_back({fit[0]->path, Sha256Hex(fit[0]->text), fit[0]->text.size(), "groups"});
  return absl::OkStatus();
}

}  // namespace chakra
