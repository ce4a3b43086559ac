// Byte streams: files, memory, and the content of gzip, zstd and zip files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/base/checksum.h"

namespace chakra {

// A growing array of bytes. It keeps its memory, so that it can be refilled, and does not zero new memory.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& o) noexcept { swap(o); }
  Buffer& operator=(Buffer&& o) noexcept {
    swap(o);
    return *this;
  }
  ~Buffer();

  char* data() { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  absl::string_view view() const { return absl::string_view(data_, size_); }
  // Grows the capacity to at least `n` and keeps the content. False: out of memory.
  bool Reserve(size_t n);
  // Precondition: n <= capacity().
  void set_size(size_t n) { size_ = n; }
  void swap(Buffer& o) noexcept;

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads at most `n` bytes into `out` and returns their number; 0 only at the end.
  virtual absl::StatusOr<size_t> Read(char* out, size_t n) = 0;
  // The approximate number of bytes that will come; 0 if unknown.
  virtual uint64_t SizeHint() const { return 0; }
  // The number of compressed bytes that were unpacked so far (zip: of the whole archive); nullopt if the
  // source is not compressed.
  virtual std::optional<uint64_t> Packed() const { return std::nullopt; }
};

// Reads `bytes`, which must outlive the object.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(absl::string_view bytes) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(char* out, size_t n) override;
  uint64_t SizeHint() const override { return bytes_.size(); }

 private:
  absl::string_view bytes_;
};

// Reads a file, and computes its SHA-256 at the same time.
class FileSource : public ByteSource {
 public:
  // Errors: NotFound, or the reason that the system gives.
  static absl::StatusOr<std::unique_ptr<FileSource>> Open(const std::string& path);
  ~FileSource() override;
  absl::StatusOr<size_t> Read(char* out, size_t n) override;
  uint64_t SizeHint() const override { return size_; }
  // Reads the rest of the file, then returns the digest and the size of the whole file.
  absl::Status Finish(std::string* sha256, uint64_t* bytes);

 private:
  FileSource(const std::string& path, int fd, uint64_t size) : path_(path), fd_(fd), size_(size) {}
  std::string path_;
  int fd_;
  uint64_t size_;
  uint64_t read_ = 0;
  Sha256 sha_;
};

// Whether `head`, the first bytes of a stream, begins a gzip or a zstd stream.
bool LooksCompressed(absl::string_view head);

// The place where a compressed stream ends before its end mark, because the file was truncated.
struct StreamCut {
  bool cut = false;
  uint64_t byte = 0;  // number of compressed bytes before the end
};

// Returns the content of `raw`, whose first bytes give the format: gzip (any number of members) and zstd (any
// number of frames, windows of up to 2 GiB) are unpacked, zip becomes a tar archive (zip.h), and everything
// else stays as it is. `raw` must outlive the result. `file` is the name for error messages. Errors of Read()
// give the byte of the compressed stream. If `cut` is set (it must outlive the result), a truncated stream is
// not an error: the content ends with the last bytes that could be unpacked, and `cut` says where. Damage is
// always an error.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenContent(ByteSource* raw, absl::string_view file,
                                                        StreamCut* cut = nullptr);

// Returns a source of `head`, which was read from `rest` before, followed by `rest`. `rest` must outlive the
// result.
std::unique_ptr<ByteSource> PutBack(std::string head, ByteSource* rest);

// Content that is unpacked into memory is refused as a decompression bomb if it has more than kFreelyUnpacked
// bytes and more than kMaxRatio times its compressed size.
inline constexpr uint64_t kFreelyUnpacked = uint64_t{1} << 30;
inline constexpr uint64_t kMaxRatio = 1000;

// Checks these limits for `bytes`, the number of bytes that were read from `source` into memory. Error:
// ResourceExhausted, with the name `file`.
absl::Status CheckUnpacked(const ByteSource& source, absl::string_view file, uint64_t bytes);

// Replaces the content of `out` with the whole stream. `file` is the name for error messages. Errors: the
// content does not fit in memory, or exceeds the limits of CheckUnpacked().
absl::Status ReadAll(ByteSource* source, absl::string_view file, Buffer* out);

// Reads `n` bytes into `out`, or fewer if the stream ends, and returns their number.
absl::StatusOr<size_t> ReadFully(ByteSource* source, char* out, size_t n);

}  // namespace chakra
