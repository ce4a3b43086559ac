#include "trace/edit/write_set.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/et/read_options.h"
#include "trace/import/inputs.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"
#include "trace/model/groups.h"

namespace chakra::edit {
namespace fs = std::filesystem;
namespace {

constexpr char kPartial[] = ".partial-";

absl::Status SystemError(absl::string_view doing, absl::string_view path, int error) {
  return absl::UnavailableError(absl::StrCat("cannot ", doing, " ", path, ": ", std::strerror(error)));
}

// The name prefix of a trace: "workload" for "dir/workload.3.et.zst" or "a.tar!x/workload.3.et"; "trace" for
// captures.
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
  if (absl::Status s = file.Open(path, compression, {.durable = durable, .zstd_level = 1}); !s.ok()) return s;
  return file.Finish(frames);
}

// `path` without slashes at its end; for a link, its target.
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

EditedOutput::~EditedOutput() {
  std::error_code error;
  if (lock_ >= 0) close(lock_);
  if (!folder_.empty()) fs::remove_all(folder_, error);
}

void EditedOutput::Discard() {
  const std::lock_guard<std::mutex> lock(folder_mutex_);
  std::error_code error;
  // Threads that still write may add a file while the folder is being emptied.
  for (int i = 0; i < 100 && !folder_.empty() && fs::exists(folder_, error); ++i)
    fs::remove_all(folder_, error);
}

// The folder that Commit() replaces is lost, so it must hold an earlier set of the same prefix and nothing
// else.
absl::Status EditedOutput::CheckFolder(const std::string& prefix) const {
  std::error_code error;
  if (fs::exists(output_, error) && !fs::is_directory(output_, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot write ", output_, ": a file of this name exists, expected a folder for several traces"));
  }
  std::string own = prefix;
  for (const std::string& name : ListFolder(output_)) {
    const TraceName trace = ParseTraceName(name);
    const bool et = trace.is_trace && trace.rank >= 0 && absl::StrContains(name, ".et");
    if (et && own.empty()) own = trace.prefix;
    if (et && trace.prefix == own && !fs::is_directory(fs::path(output_) / name, error)) continue;
    if (name == own + ".json" || (own.empty() && absl::EndsWith(name, ".json"))) {
      absl::StatusOr<std::string> text = ReadFile((fs::path(output_) / name).string());
      if (text.ok() && LooksLikeGroups(*text)) continue;
    }
    return absl::InvalidArgumentError(absl::StrCat("cannot replace the folder ", output_, ": it holds \"",
                                                   name, "\", expected none, or one with nothing but ",
                                                   own.empty() ? "PREFIX" : own,
                                                   ".N.et and the groups of these traces"));
  }
  return absl::OkStatus();
}

// Removes folders of killed runs: folders whose lock nobody holds.
void EditedOutput::RemoveStale() const {
  const fs::path path(output_);
  const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
  const std::string begin = path.filename().string() + kPartial;
  for (const std::string& name : ListFolder(parent)) {
    if (!absl::StartsWith(name, begin)) continue;
    const std::string folder = (fs::path(parent) / name).string();
    const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    std::error_code error;
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, error);
    if (fd >= 0) close(fd);
  }
}

absl::Status EditedOutput::Open(bool many) {
  std::error_code error;
  many_ = many_ || many || fs::is_directory(output_, error);
  if (!many_) return absl::OkStatus();
  if (output_ == "-")
    return absl::InvalidArgumentError("cannot write several traces to standard output, expected a folder");
  if (absl::Status s = CheckFolder(""); !s.ok()) return s;
  RemoveStale();
  const std::string folder = absl::StrCat(output_, kPartial, getpid());
  if (!fs::create_directory(folder, error))
    return error ? SystemError("make the folder", folder, error.value())
                 : absl::InvalidArgumentError(absl::StrCat("cannot make the folder ", folder, ": it exists"));
  {
    const std::lock_guard<std::mutex> lock(folder_mutex_);
    folder_ = folder;
  }
  lock_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0) flock(lock_, LOCK_EX);
  return absl::OkStatus();
}

absl::Status EditedOutput::Rewrite(RankTrace trace, std::vector<Rewritten>*) {
  const std::string prefix = PrefixOf(trace.file);
  const Compression compression = Method(trace.file);
  std::vector<Rewritten> made;
  if (absl::Status s = run_.Rewrite(std::move(trace), &made); !s.ok()) return s;
  for (Rewritten& one : made) {
    if (!many_) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (have_lone_) return absl::InvalidArgumentError("several traces, expected a folder for them");
      lone_ = std::move(one.frames);
      have_lone_ = true;
      continue;
    }
    const char* ending = compression == Compression::kGzip   ? ".gz"
                         : compression == Compression::kZstd ? ".zst"
                                                             : "";
    const std::string name = absl::StrCat(prefix, ".", one.rank, ".et", ending);
    if (absl::Status s = WriteStream((fs::path(folder_) / name).string(), compression, one.frames, false);
        !s.ok())
      return s;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (prefix_.empty() || prefix < prefix_) prefix_ = prefix;
    files_.push_back(name);
  }
  return absl::OkStatus();
}

// Puts the new folder in the place of the old one, in one step if the system can.
absl::Status EditedOutput::Swap() {
  const std::lock_guard<std::mutex> lock(folder_mutex_);
  std::error_code error;
  if (!fs::exists(output_, error)) {
    if (rename(folder_.c_str(), output_.c_str()) != 0) return SystemError("rename to", output_, errno);
    folder_.clear();
    return absl::OkStatus();
  }
  if (renameat2(AT_FDCWD, folder_.c_str(), AT_FDCWD, output_.c_str(), RENAME_EXCHANGE) == 0)
    return absl::OkStatus();  // the destructor removes the old folder
  const std::string old = absl::StrCat(output_, ".old-", getpid());
  if (rename(output_.c_str(), old.c_str()) != 0) return SystemError("rename", output_, errno);
  if (rename(folder_.c_str(), output_.c_str()) != 0) {
    const int failed = errno;
    rename(old.c_str(), output_.c_str());
    return SystemError("rename to", output_, failed);
  }
  folder_ = old;
  return absl::OkStatus();
}

absl::Status EditedOutput::Commit(const TraceSet& set) {
  if (!many_) {
    if (!have_lone_) return absl::InvalidArgumentError("the edits leave no rank, expected at least one");
    if (output_ != "-") return WriteStream(output_, Method(""), lone_, true);
    std::string bytes;
    CompressedFile file;
    if (absl::Status s = file.Open(&bytes, Method("")); !s.ok()) return s;
    if (absl::Status s = file.Finish(lone_); !s.ok()) return s;
    if (fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && fflush(stdout) == 0)
      return absl::OkStatus();
    return SystemError("write", "standard output", errno);
  }
  if (files_.empty()) return absl::InvalidArgumentError("the edits leave no rank, expected at least one");
  std::sort(files_.begin(), files_.end());
  if (absl::Status s = CheckFolder(prefix_); !s.ok()) return s;
  const auto groups = std::find_if(set.inputs.begin(), set.inputs.end(), [](const InputFile& f) {
    return f.role == "groups" || f.role == "index" || f.role == "workload";
  });
  const bool changed = run_.after() != nullptr;
  if (groups != set.inputs.end() || (changed && !set.groups.empty())) {
    std::string text = GroupFileText(set.groups);
    if (!changed && groups->role == "groups" && !absl::StrContains(groups->path, "!")) {
      absl::StatusOr<std::string> as_it_is = ReadFileAsItIs(groups->path);
      if (!as_it_is.ok()) return as_it_is.status();
      text = *std::move(as_it_is);
    }
    const std::string name = absl::StrCat(prefix_, ".json");
    if (absl::Status s = WriteFile((fs::path(folder_) / name).string(), text); !s.ok()) return s;
    files_.push_back(name);
  }
  return Swap();
}

}  // namespace chakra::edit
