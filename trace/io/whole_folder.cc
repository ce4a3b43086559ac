#include "trace/io/whole_folder.h"

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
#include "trace/base/status_macros.h"
#include "trace/io/file.h"

namespace chakra {
namespace fs = std::filesystem;
namespace {

constexpr char kPartial[] = ".partial-";

absl::Status FolderError(absl::string_view doing, absl::string_view path, int error) {
  return absl::UnavailableError(absl::StrCat("cannot ", doing, " ", path, ": ", std::strerror(error)));
}

// Returns `path` without trailing slashes; for a link, its target.
std::string Resolved(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error || real.empty() ? path : real.string();
}

}  // namespace

WholeFolder::~WholeFolder() {
  std::error_code error;
  if (lock_ >= 0) close(lock_);
  if (!folder_.empty()) fs::remove_all(folder_, error);
}

void WholeFolder::Discard() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::error_code error;
  // Threads that still write may add a file while the folder is being removed.
  for (int i = 0; i < 100 && !folder_.empty() && fs::exists(folder_, error); ++i)
    fs::remove_all(folder_, error);
}

// Removes folders of killed runs: those that no process has locked.
void WholeFolder::RemoveStale() const {
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

absl::Status WholeFolder::Open(const std::string& output) {
  output_ = Resolved(output);
  std::error_code error;
  RemoveStale();
  const std::string folder = absl::StrCat(output_, kPartial, getpid());
  if (!fs::create_directory(folder, error)) {
    return error ? FolderError("make the folder", folder, error.value())
                 : absl::InvalidArgumentError(absl::StrCat("cannot make the folder ", folder, ": it exists"));
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    folder_ = folder;
  }
  lock_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0) flock(lock_, LOCK_EX);
  return absl::OkStatus();
}

std::string WholeFolder::PathOf(absl::string_view name) const { return absl::StrCat(folder_, "/", name); }

absl::Status WholeFolder::Rename(absl::string_view name, absl::string_view to) const {
  if (name == to) return absl::OkStatus();
  return MoveOut(name, PathOf(to));
}

absl::Status WholeFolder::MoveOut(absl::string_view name, const std::string& path) const {
  return rename(PathOf(name).c_str(), path.c_str()) == 0 ? absl::OkStatus()
                                                         : FolderError("write", path, errno);
}

absl::Status WholeFolder::Commit() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::error_code error;
  if (!fs::exists(output_, error)) {
    if (rename(folder_.c_str(), output_.c_str()) != 0) return FolderError("rename to", output_, errno);
    folder_.clear();
    return absl::OkStatus();
  }
  if (renameat2(AT_FDCWD, folder_.c_str(), AT_FDCWD, output_.c_str(), RENAME_EXCHANGE) == 0)
    return absl::OkStatus();  // the destructor removes the old folder
  const std::string old = absl::StrCat(output_, ".old-", getpid());
  if (rename(output_.c_str(), old.c_str()) != 0) return FolderError("rename", output_, errno);
  if (rename(folder_.c_str(), output_.c_str()) != 0) {
    const int failed = errno;
    rename(old.c_str(), output_.c_str());
    return FolderError("rename to", output_, failed);
  }
  folder_ = old;
  return absl::OkStatus();
}

absl::Status WholeFolder::MoveInto(const std::string& folder, const std::vector<std::string>& stale,
                                   std::vector<std::string> files) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& path : stale) {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return FolderError("remove", path, errno);
  }
  std::reverse(files.begin(), files.end());
  for (const std::string& name : files) {
    RETURN_IF_ERROR(MoveOut(name, (fs::path(folder) / name).string()));
  }
  return absl::OkStatus();
}

}  // namespace chakra
