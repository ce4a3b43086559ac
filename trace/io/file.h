// Reads small files whole, and writes files so that nobody sees half of a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// Reads a whole file (or pipe), without unpacking it. Errors give the path and the system's reason; a
// directory is an error.
absl::StatusOr<std::string> ReadFileAsItIs(const std::string& path);

// Reads the content of a file, which is unpacked if its first bytes are those of gzip or zstd. Errors, in
// addition to those of ReadFileAsItIs(): a damaged stream, with the byte position; content that exceeds the
// limits of CheckUnpacked() (byte_source.h).
absl::StatusOr<std::string> ReadFile(const std::string& path);
// The same for files that should be small: content of more than `most` bytes is an error (InvalidArgument).
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t most);

// Reads the first `most` bytes of a file's content, or fewer if it is shorter or damaged. Errors: the file
// cannot be opened or read.
absl::StatusOr<std::string> ReadHead(const std::string& path, size_t most);
// Like ReadHead(), for the bytes of a file in memory. Returns "" if they cannot be unpacked.
std::string HeadOf(absl::string_view bytes, absl::string_view path, size_t most);

// The names in a folder, sorted; empty if the folder cannot be read.
std::vector<std::string> ListFolder(const std::string& folder);

// Appends the files in a folder and in its sub-folders, down to three levels below it, sorted within each
// folder. Skips the "._NAME" files that macOS stores next to NAME. Errors: a folder that cannot be listed.
absl::Status ListFiles(const std::string& folder, std::vector<std::string>* files);

// A file that appears under its name only when it is complete. Bytes go to a file without a name in the same
// folder, and Commit() gives the file its name, so nothing is left behind however the process ends. If the
// file system does not support files without names, bytes go to a file with a temporary name, which is
// removed if Commit() is not called. Devices and pipes are written directly.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // `durable`: Commit() returns only when the bytes are on the disk, so the file survives a power failure.
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
  std::string temporary_;  // "": there is no temporary file
};

}  // namespace chakra
