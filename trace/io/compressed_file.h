// Bytes to a file or a string, compressed on the way where asked for.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

enum class Compression { kNone, kGzip, kZstd };

// By the ending of the name: ".gz" and ".zst" compress.
Compression CompressionOf(absl::string_view path);
// The name without that ending: what is left of it tells the format of the content.
absl::string_view WithoutCompression(absl::string_view path);

// What is taken upon a file.
struct FileEffort {
  bool durable = true;  // as of OutputFile
  int zstd_level = 3;   // 1 is faster
};

// One stream: Open(), Append() as often as needed, Finish(). The same bytes in the same pieces give the same
// bytes. A file appears under its name in Finish() and not before; one that is destroyed without a Finish()
// leaves nothing behind. Errors name the path and what the system said; after one, nothing more may be
// called.
class CompressedFile {
 public:
  CompressedFile();
  ~CompressedFile();
  CompressedFile(const CompressedFile&) = delete;
  CompressedFile& operator=(const CompressedFile&) = delete;

  absl::Status Open(const std::string& path) { return Open(path, CompressionOf(path)); }
  absl::Status Open(const std::string& path, Compression compression, const FileEffort& effort = {});
  // To a string that outlives this; complete after Finish().
  absl::Status Open(std::string* out, Compression compression);
  absl::Status Append(absl::string_view bytes);
  // `bytes` are the last.
  absl::Status Finish(absl::string_view bytes = {});

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

// Writes a whole file, compressed by its name.
absl::Status WriteFile(const std::string& path, absl::string_view content);
absl::Status WriteFile(const std::string& path, absl::string_view content, Compression compression);

}  // namespace chakra
