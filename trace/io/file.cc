#include "trace/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/io/byte_source.h"

namespace chakra {
namespace {

namespace fs = std::filesystem;

constexpr int kDepth = 3;  // levels of sub-folders that ListFiles() visits

absl::Status Errno(absl::string_view doing, absl::string_view path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat("cannot ", doing, " '", path, "'"));
}

// Reads the file, but stops once more than `most` bytes were read.
absl::StatusOr<std::string> ReadRaw(const std::string& path, size_t most) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Errno("open", path, errno);
  std::string content;
  struct stat st;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) content.reserve(static_cast<size_t>(st.st_size) + 1);
  size_t used = 0;
  int error = 0;
  for (;;) {
    content.resize(std::max(content.capacity(), used + 65536));
    const ssize_t n = read(fd, content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error = errno;
    if (n <= 0) break;
    used += static_cast<size_t>(n);
    if (used > most) break;
  }
  close(fd);
  if (error != 0) return Errno("read", path, error);
  content.resize(used);
  return content;
}

absl::Status TooLarge(absl::string_view path, size_t most) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": too large; expected at most ", most, " bytes"));
}

absl::StatusOr<std::string> UnpackAll(absl::string_view packed, const std::string& path, size_t most) {
  constexpr size_t kChunk = size_t{1} << 16;
  MemorySource raw(packed);
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenContent(&raw, path));
  std::string content;
  for (size_t used = 0;;) {
    content.resize(std::max(used + kChunk, std::min(used * 2, content.max_size())));
    ASSIGN_OR_RETURN(const size_t got, source->Read(content.data() + used, content.size() - used));
    used += got;
    if (used > most) return TooLarge(path, most);
    RETURN_IF_ERROR(CheckUnpacked(*source, path, used));
    if (got > 0) continue;
    content.resize(used);
    return content;
  }
}

std::string PathOfOpen(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

std::string Head(ByteSource* content, size_t most) {
  std::string head(most, '\0');
  size_t got = 0;
  while (got < head.size()) {
    const absl::StatusOr<size_t> n = content->Read(head.data() + got, head.size() - got);
    if (!n.ok() || *n == 0) break;  // damage is reported when the whole file is read
    got += *n;
  }
  head.resize(got);
  return head;
}

absl::Status List(const fs::path& folder, int depth, std::vector<std::string>* files) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  if (error) return absl::PermissionDeniedError(absl::StrCat(folder.string(), ": ", error.message()));
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    if (fs::is_directory(entry, error)) {
      if (depth == kDepth) continue;
      RETURN_IF_ERROR(List(entry, depth + 1, files));
    } else if (!absl::StartsWith(entry.filename().string(), "._")) {
      files->push_back(entry.string());
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> ListFolder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<std::string> ReadFileAsItIs(const std::string& path) { return ReadRaw(path, SIZE_MAX); }

absl::StatusOr<std::string> ReadFile(const std::string& path) { return ReadFile(path, SIZE_MAX); }

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t most) {
  ASSIGN_OR_RETURN(std::string content, ReadRaw(path, most));
  if (content.size() > most) return TooLarge(path, most);
  if (!LooksCompressed(content)) return content;
  return UnpackAll(content, path, most);
}

absl::StatusOr<std::string> ReadHead(const std::string& path, size_t most) {
  ASSIGN_OR_RETURN(const std::unique_ptr<FileSource> file, FileSource::Open(path));
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> content, OpenContent(file.get(), path));
  return Head(content.get(), most);
}

std::string HeadOf(absl::string_view bytes, absl::string_view path, size_t most) {
  MemorySource raw(bytes);
  const absl::StatusOr<std::unique_ptr<ByteSource>> content = OpenContent(&raw, path);
  return content.ok() ? Head(content->get(), most) : "";
}

absl::Status ListFiles(const std::string& folder, std::vector<std::string>* files) {
  return List(folder, 0, files);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status OutputFile::Fail(absl::string_view doing) { return Errno(doing, path_, errno); }

absl::Status OutputFile::Open(const std::string& path, bool durable) {
  durable_ = durable;
  path_ = target_ = path;
  struct stat st;
  const bool exists = stat(path.c_str(), &st) == 0;
  if (exists && !S_ISREG(st.st_mode)) {
    fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return fd_ < 0 ? Fail("open") : absl::OkStatus();
  }
  if (exists) {
    if (char* real = realpath(path.c_str(), nullptr)) {
      target_ = real;
      free(real);
    }
  }
  if (!OpenUnnamed()) {
    std::string temporary = target_ + ".XXXXXX";
    fd_ = mkostemp(temporary.data(), O_CLOEXEC);
    if (fd_ < 0) return Fail("create");
    temporary_ = temporary;
  }
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd_, exists ? st.st_mode & 0777 : 0666 & ~mask) != 0) return Fail("create");
  return absl::OkStatus();
}

bool OutputFile::OpenUnnamed() {
  const std::string folder = fs::path(target_).parent_path().string();
  fd_ = open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  unnamed_ = fd_ >= 0 && access(PathOfOpen(fd_).c_str(), F_OK) == 0;  // Name() needs this path
  if (fd_ >= 0 && !unnamed_) {
    close(fd_);
    fd_ = -1;
  }
  return unnamed_;
}

// Gives the unnamed file its name. A file that has this name already stays until the new file replaces it.
bool OutputFile::Name() {
  const std::string from = PathOfOpen(fd_);
  const auto name = [&](const std::string& to) {
    return linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (name(target_)) return true;
  for (int i = 0; errno == EEXIST && i < 1000; ++i) {
    const std::string beside = absl::StrCat(target_, ".", getpid(), "-", i);
    if (!name(beside)) continue;
    if (rename(beside.c_str(), target_.c_str()) == 0) return true;
    const int error = errno;
    unlink(beside.c_str());
    errno = error;
  }
  return false;
}

absl::Status OutputFile::Append(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Fail("write");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  if (durable_ && (unnamed_ || !temporary_.empty()) && fsync(fd_) != 0) return Fail("write");
  if (unnamed_ && !Name()) return Fail("create");
  const int closed = close(fd_);
  fd_ = -1;
  if (closed != 0) return Fail("write");
  if (temporary_.empty()) return absl::OkStatus();
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return Fail("create");
  temporary_.clear();
  return absl::OkStatus();
}

}  // namespace chakra
