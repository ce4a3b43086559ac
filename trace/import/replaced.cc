#include "trace/import/replaced.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/et/rank_index.h"
#include "trace/import/inputs.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"
#include "trace/model/groups.h"

namespace chakra {
namespace fs = std::filesystem;
namespace {

// `convert --to text` writes traces named PREFIX.N.txtpb; these names, and those that end in .txt, are read
// like PREFIX.N.et.
TraceName NameOf(const std::string& name) {
  const absl::string_view plain = WithoutCompression(name);
  for (const absl::string_view ending : {".txtpb", ".txt"}) {
    if (absl::EndsWith(plain, ending))
      return ParseTraceName(absl::StrCat(plain.substr(0, plain.size() - ending.size()), ".et"));
  }
  return ParseTraceName(name);
}

bool IsGroups(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  return text.ok() && LooksLikeGroups(*text);
}

}  // namespace

absl::Status CheckReplaceable(const std::string& folder, absl::string_view prefix) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot write ", folder, ": a file of this name exists, expected a folder for several traces"));
  }
  std::string own(prefix);
  const std::vector<std::string> names = ListFolder(folder);
  for (const std::string& name : names) {
    const TraceName trace = NameOf(name);
    if (own.empty() && trace.is_trace && trace.rank >= 0) own = trace.prefix;
  }
  for (const std::string& name : names) {
    const std::string path = (fs::path(folder) / name).string();
    const TraceName trace = NameOf(name);
    const bool file = fs::is_regular_file(path, error);
    if (file && trace.is_trace && trace.rank >= 0 && trace.prefix == own) continue;
    if (file && WithoutCompression(name) == own + kRankIndexEnding) continue;
    if (file && (name == own + ".json" || (own.empty() && absl::EndsWith(name, ".json"))) && IsGroups(path))
      continue;
    return absl::InvalidArgumentError(
        absl::StrCat("cannot replace the folder ", folder, ": it holds \"", name,
                     "\"; expected an empty folder, or one that has only ", own.empty() ? "PREFIX" : own,
                     ".N.et and the groups of these traces"));
  }
  return absl::OkStatus();
}

std::vector<std::string> TracesOfPrefix(const std::string& prefix) {
  const fs::path folder = fs::path(prefix).parent_path();
  const std::string own = fs::path(prefix).filename().string();
  std::vector<std::pair<int, std::string>> found;
  for (const std::string& name : ListFolder(folder.empty() ? "." : folder.string())) {
    const TraceName trace = ParseTraceName(name);
    if (trace.native && trace.rank >= 0 && trace.prefix == own)
      found.emplace_back(trace.rank, (folder / name).string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (auto& [rank, path] : found) out.push_back(std::move(path));
  return out;
}

}  // namespace chakra
