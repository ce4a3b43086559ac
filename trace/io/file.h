// Small files, read whole; any file, written so that nobody sees half of one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// The whole file (or pipe) as it lies on disk. Errors name the path and the
// system's reason; a directory is an error.
absl::StatusOr<std::string> ReadFileAsItIs(const std::string& path);

// The content of a file: unpacked where its first bytes say gzip or zstd. Errors also: a damaged stream,
// with the byte; one that unpacks to too much (kFreelyUnpacked of byte_source.h).
absl::StatusOr<std::string> ReadFile(const std::string& path);
// The same of what is meant to be small: content of more than `most` bytes is an error (InvalidArgument).
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t most);

// The first `most` bytes of a file's content, unpacked as far as that goes. Errors: it cannot be opened or
// read.
absl::StatusOr<std::string> ReadHead(const std::string& path, size_t most);
// The same of a file's bytes, as they lie on disk. "" if they cannot be unpacked.
std::string HeadOf(absl::string_view bytes, absl::string_view path, size_t most);

// The names in a folder, sorted; empty when it cannot be read.
std::vector<std::string> ListFolder(const std::string& folder);

// Adds the files in a folder and in its folders, down to the third below, sorted folder by folder; but for
// the
// "._NAME" that macOS puts beside NAME. Errors: a folder that cannot be listed.
absl::Status ListFiles(const std::string& folder, std::vector<std::string>* files);

// A file that appears under its name only when it is complete: bytes go to a file without a name in the same
// folder, which Commit() gives its name, so that nothing is left behind however the process ends. Where the
// file system has no files without names, bytes go to a temporary name, which is removed without a Commit().
// Devices and pipes are written directly.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // `durable`: Commit() returns when the bytes are on the disk, so that the file outlives a failure of power.
  absl::Status Open(const std::string& path, bool durable = true);
  absl::Status Append(absl::string_view bytes);
  absl::Status Commit();

 private:
  absl::Status Fail(absl::string_view doing);
  bool OpenUnnamed();
  bool Name();

  int fd_ = -1;
  bool durable_ = true;
  std::string path_;    // as given, for messages
  std::string target_;  // symbolic links resolved
  bool unnamed_ = false;
  std::string temporary_;  // "": it has none
};

}  // namespace chakra
