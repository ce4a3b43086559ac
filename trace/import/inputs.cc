#include "trace/import/inputs.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/import/registry.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShown = 8;

std::string Shorten(const std::vector<std::string>& names) {
  const size_t n = std::min(names.size(), kShown);
  std::string text = absl::StrJoin(names.begin(), names.begin() + static_cast<ptrdiff_t>(n), ", ");
  if (names.size() > n) absl::StrAppend(&text, ", ... (", names.size(), " in all)");
  return text;
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string Join(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : (fs::path(folder) / name).string();
}

// Whether the names in `folder` can be read.
absl::Status CheckListing(const std::string& folder) {
  std::error_code error;
  const fs::directory_iterator unused(folder, error);
  if (!error) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(folder, ": cannot list this folder: ", absl::AsciiStrToLower(error.message())));
}

absl::Status NothingThere(const std::string& input) {
  const std::string folder = FolderOf(input);
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat(input, ": no such file, folder, or prefix of traces (",
                                            NamesOfTraces(), "); there is no folder ", folder));
  }
  RETURN_IF_ERROR(CheckListing(folder));
  const std::string wanted = fs::path(input).filename().string();
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& name : ListFolder(folder)) {
    if (wanted.size() < 256 && name.size() < 256) near.emplace_back(EditDistance(wanted, name), name);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (const auto& [distance, name] : near) {
    if (names.size() < 4) names.push_back(name);
  }
  return absl::NotFoundError(absl::StrCat(input, ": no such file, folder, or prefix of traces (",
                                          NamesOfTraces(), "); ", folder, " holds ",
                                          names.empty() ? "nothing" : Shorten(names)));
}

// Traces in `folder` that have a rank in their name: all of them, or only those of `prefix`. Traces of other
// formats are returned only if there is no native trace.
std::vector<TraceFile> FindTraces(const std::string& folder, const std::string* prefix,
                                  std::vector<std::string>* passed_over) {
  std::vector<TraceFile> found, others;
  for (const std::string& name : ListFolder(folder.empty() ? "." : folder)) {
    const std::string path = Join(folder, name);
    const TraceName parsed = ParseTraceName(path);
    if (!parsed.is_trace || parsed.rank < 0) continue;
    if (prefix != nullptr && parsed.prefix != *prefix) continue;
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
      (parsed.native ? found : others).push_back({path, parsed.prefix, parsed.rank});
    }
  }
  if (found.empty()) return others;
  for (const TraceFile& other : others) {
    const bool beside = std::any_of(found.begin(), found.end(),
                                    [&](const TraceFile& f) { return f.prefix == other.prefix; });
    if (beside && passed_over != nullptr) passed_over->push_back(other.path);
  }
  return found;
}

absl::StatusOr<std::vector<TraceFile>> ReadFolder(const std::string& folder,
                                                  std::vector<std::string>* passed_over) {
  RETURN_IF_ERROR(CheckListing(folder));
  std::vector<TraceFile> found = FindTraces(folder, nullptr, passed_over);
  const std::vector<std::string> names = ListFolder(folder);
  if (found.empty()) {
    std::vector<std::string> inner;
    for (const std::string& name : names) {
      std::error_code error;
      if (fs::is_directory(Join(folder, name), error)) inner.push_back(Join(folder, name));
    }
    if (inner.size() == 1) found = FindTraces(inner[0], nullptr, passed_over);
  }
  if (found.empty()) {
    return absl::NotFoundError(absl::StrCat(folder, ": expected ", ExpectedInFolders(), "; the folder holds ",
                                            names.empty() ? "nothing" : Shorten(names)));
  }
  std::set<std::string> prefixes;
  for (const TraceFile& f : found) prefixes.insert(f.prefix);
  if (prefixes.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder, ": traces of several runs, expected one; name one of these prefixes: ",
                     Shorten({prefixes.begin(), prefixes.end()})));
  }
  return found;
}

}  // namespace

TraceName ParseTraceName(absl::string_view path) {
  TraceName name;
  absl::string_view s = path;
  const Importer* importer = ConsumeEnding(&s);
  if (importer == nullptr) s = WithoutCompression(s);
  name.is_trace = importer != nullptr && !absl::StartsWith(path.substr(path.rfind('/') + 1), "._");
  name.native = name.is_trace && importer->native;
  const size_t dot = s.rfind('.');
  int rank = 0;
  if (name.is_trace && dot != s.npos && dot + 1 < s.size() &&
      std::all_of(s.begin() + static_cast<ptrdiff_t>(dot) + 1, s.end(),
                  [](char c) { return c >= '0' && c <= '9'; }) &&
      absl::SimpleAtoi(s.substr(dot + 1), &rank)) {
    name.rank = rank;
    s = s.substr(0, dot);
  }
  name.prefix = std::string(s);
  return name;
}

absl::StatusOr<std::vector<TraceFile>> ResolveInputs(const std::vector<std::string>& inputs,
                                                     std::vector<std::string>* passed_over) {
  if (inputs.empty()) return absl::InvalidArgumentError("no trace is given");
  std::vector<TraceFile> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    const fs::file_status status = fs::status(input, error);
    std::vector<TraceFile> found;
    if (fs::is_directory(status)) {
      ASSIGN_OR_RETURN(found, ReadFolder(input, passed_over));
    } else if (fs::exists(status)) {
      const TraceName name = ParseTraceName(input);
      found.push_back({input, name.prefix, name.rank});
    } else {
      const std::string folder = fs::path(input).parent_path().string();
      const std::string prefix = Join(folder, fs::path(input).filename().string());
      found = FindTraces(folder, &prefix, passed_over);
      if (found.empty()) return NothingThere(input);
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

absl::Status CheckRanks(std::vector<TraceFile>* files) {
  std::stable_sort(files->begin(), files->end(),
                   [](const TraceFile& a, const TraceFile& b) { return a.rank < b.rank; });
  if (files->size() == 1 && files->front().rank < 0) files->front().rank = 0;
  std::vector<std::string> missing;
  int next = 0;
  for (size_t i = 0; i < files->size(); ++i) {
    const TraceFile& f = (*files)[i];
    if (f.rank < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(f.path, ": expected a rank in the name, PREFIX.N.et, as one of several traces"));
    }
    if (i > 0 && f.rank == (*files)[i - 1].rank) {
      return absl::InvalidArgumentError(absl::StrCat(
          "rank ", f.rank, " has two traces, expected one: ", (*files)[i - 1].path, ", ", f.path));
    }
    for (; next < f.rank && missing.size() <= kShown; ++next) missing.push_back(absl::StrCat(next));
    next = f.rank + 1;
  }
  if (missing.empty()) return absl::OkStatus();
  if (missing.size() > kShown) missing.back() = "...";
  return absl::InvalidArgumentError(absl::StrCat(
      files->back().path, ": expected ranks 0 to ", files->back().rank,
      "; these ranks have no trace: ", absl::StrJoin(missing, ", "),
      "; give the files of all ranks, or one file with --ranks N to replay it as N equal ranks"));
}

}  // namespace chakra
