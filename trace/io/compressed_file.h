// Writes bytes to a file or a string, optionally compressed.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

enum class Compression { kNone, kGzip, kZstd };

// The compression for the file name extension: ".gz" or ".zst".
Compression CompressionOf(absl::string_view path);
// The name without that extension; the rest of the name gives the format of the content.
absl::string_view WithoutCompression(absl::string_view path);

// How much effort goes into writing a file.
struct FileEffort {
  bool durable = true;  // see OutputFile::Open()
  int zstd_level = 3;   // a lower level is faster
};

// Writes one stream: call Open(), Append() any number of times, Finish(). The same input in the same pieces
// gives the same output. Finish() makes the file appear under its name; if the object is destroyed without
// Finish(), no file is left behind. Errors give the path and the system's reason; after an error, no method
// may be called.
class CompressedFile {
 public:
  CompressedFile();
  ~CompressedFile();
  CompressedFile(const CompressedFile&) = delete;
  CompressedFile& operator=(const CompressedFile&) = delete;

  absl::Status Open(const std::string& path) { return Open(path, CompressionOf(path)); }
  absl::Status Open(const std::string& path, Compression compression, const FileEffort& effort = {});
  // Writes to the string `out`, which must outlive this object and is complete after Finish().
  absl::Status Open(std::string* out, Compression compression);
  absl::Status Append(absl::string_view bytes);
  // Appends the last bytes and closes the stream.
  absl::Status Finish(absl::string_view bytes = {});

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

// Writes a whole file, compressed if its name says so.
absl::Status WriteFile(const std::string& path, absl::string_view content);
absl::Status WriteFile(const std::string& path, absl::string_view content, Compression compression);

}  // namespace chakra
