#include "trace/edit/write_set.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/et/read_options.h"
#include "trace/import/inputs.h"
#include "trace/import/replaced.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"
#include "trace/model/groups.h"

namespace chakra::edit {
namespace fs = std::filesystem;
namespace {

absl::Status SystemError(absl::string_view doing, absl::string_view path, int error) {
  return absl::UnavailableError(absl::StrCat("cannot ", doing, " ", path, ": ", std::strerror(error)));
}

// Returns the name prefix of a trace: "workload" for "dir/workload.3.et.zst" or "a.tar!x/workload.3.et";
// "trace" for captures.
std::string PrefixOf(const std::string& file) {
  const size_t bang = file.find('!');
  const TraceName name = ParseTraceName(bang == file.npos ? file : file.substr(bang + 1));
  if (!name.is_trace) return "trace";
  const std::string prefix = fs::path(name.prefix).filename().string();
  return prefix.empty() ? "trace" : prefix;
}

absl::Status WriteStream(const std::string& path, Compression compression, absl::string_view frames,
                         bool durable) {
  CompressedFile file;
  RETURN_IF_ERROR(file.Open(path, compression, {.durable = durable, .zstd_level = 1}));
  return file.Finish(frames);
}

// Returns `path` without trailing slashes; for a link, its target.
std::string Resolved(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::error_code error;
  const fs::path real = path == "-" ? fs::path() : fs::canonical(path, error);
  return error || real.empty() ? path : real.string();
}

}  // namespace

EditedOutput::EditedOutput(std::string output, std::optional<Compression> compression, EditRun* run)
    : output_(Resolved(output)), compression_(compression), run_(*run), many_(absl::EndsWith(output, "/")) {}

Compression EditedOutput::Method(const std::string& file) const {
  if (compression_.has_value()) return *compression_;
  if (!many_) return CompressionOf(output_);
  const std::string outer = file.substr(0, file.find('!'));
  const bool trace = ParseTraceName(outer).is_trace || outer.size() < file.size();
  return trace ? CompressionOf(outer) : Compression::kNone;
}

absl::Status EditedOutput::Open(bool many) {
  std::error_code error;
  many_ = many_ || many || fs::is_directory(output_, error);
  if (!many_) return absl::OkStatus();
  if (output_ == "-")
    return absl::InvalidArgumentError("cannot write several traces to standard output, expected a folder");
  RETURN_IF_ERROR(CheckReplaceable(output_, ""));
  return folder_.Open(output_);
}

absl::Status EditedOutput::Rewrite(RankTrace trace, std::vector<Rewritten>*) {
  const std::string prefix = PrefixOf(trace.file);
  const Compression compression = Method(trace.file);
  std::vector<Rewritten> made;
  RETURN_IF_ERROR(run_.Rewrite(std::move(trace), &made));
  for (Rewritten& one : made) {
    if (!many_) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (have_isolated_) return absl::InvalidArgumentError("several traces, expected a folder for them");
      isolated_ = std::move(one.frames);
      have_isolated_ = true;
      continue;
    }
    const char* ending = compression == Compression::kGzip   ? ".gz"
                         : compression == Compression::kZstd ? ".zst"
                                                             : "";
    const std::string name = absl::StrCat(prefix, ".", one.rank, ".et", ending);
    RETURN_IF_ERROR(WriteStream(folder_.PathOf(name), compression, one.frames, false));
    const std::lock_guard<std::mutex> lock(mutex_);
    prefixes_.insert(prefix);
    files_.push_back(name);
  }
  return absl::OkStatus();
}

// Gives all traces the same prefix: files that together make a run may have any names.
absl::Status EditedOutput::NameAlike() {
  if (prefixes_.size() < 2) return absl::OkStatus();
  std::set<std::string> names;
  for (std::string& file : files_) {
    const TraceName name = ParseTraceName(file);
    const std::string to = absl::StrCat("trace", absl::string_view(file).substr(name.prefix.size()));
    if (!names.insert(to).second)
      return absl::InvalidArgumentError(absl::StrCat("two traces would be written to ", to));
    RETURN_IF_ERROR(folder_.Rename(file, absl::StrCat(to, ".named")));
    file = to;
  }
  for (const std::string& file : files_) {
    RETURN_IF_ERROR(folder_.Rename(absl::StrCat(file, ".named"), file));
  }
  prefixes_ = {"trace"};
  return absl::OkStatus();
}

absl::Status EditedOutput::Commit(const TraceSet& set) {
  if (!many_) {
    if (!have_isolated_) return absl::InvalidArgumentError("the edits leave no rank, expected at least one");
    if (output_ != "-") return WriteStream(output_, Method(""), isolated_, true);
    std::string bytes;
    CompressedFile file;
    RETURN_IF_ERROR(file.Open(&bytes, Method("")));
    RETURN_IF_ERROR(file.Finish(isolated_));
    if (fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && fflush(stdout) == 0)
      return absl::OkStatus();
    return SystemError("write", "standard output", errno);
  }
  if (files_.empty()) return absl::InvalidArgumentError("the edits leave no rank, expected at least one");
  RETURN_IF_ERROR(NameAlike());
  std::sort(files_.begin(), files_.end());
  const std::string& prefix = *prefixes_.begin();
  RETURN_IF_ERROR(CheckReplaceable(output_, prefix));
  const auto groups = std::find_if(set.inputs.begin(), set.inputs.end(), [](const InputFile& f) {
    return f.role == "groups" || f.role == "index" || f.role == "workload";
  });
  const bool changed = run_.after() != nullptr;
  if (groups != set.inputs.end() || (changed && !set.groups.empty())) {
    std::string text = GroupFileText(set.groups);
    if (!changed && groups->role == "groups" && !absl::StrContains(groups->path, "!")) {
      ASSIGN_OR_RETURN(text, ReadFileAsItIs(groups->path));
    }
    const std::string name = absl::StrCat(prefix, ".json");
    RETURN_IF_ERROR(WriteFile(folder_.PathOf(name), text));
    files_.push_back(name);
  }
  return folder_.Commit();
}

}  // namespace chakra::edit
