// Byte streams: files, memory, and what gzip or zstd hides in them.
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

// A growing array of bytes. It keeps its memory and never clears it, so that it can be filled again and
// again. Large buffers lie on huge pages.
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
  // Fills at most `n` bytes of `out` and returns how many; 0 only at the end.
  virtual absl::StatusOr<size_t> Read(char* out, size_t n) = 0;
  // About how many bytes will come; 0 when unknown.
  virtual uint64_t SizeHint() const { return 0; }
  // Compressed bytes that what was read so far came from; nothing when it is
  // plain.
  virtual std::optional<uint64_t> Packed() const { return std::nullopt; }
};

// Reads `bytes`, which must outlive it.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(absl::string_view bytes) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(char* out, size_t n) override;
  uint64_t SizeHint() const override { return bytes_.size(); }

 private:
  absl::string_view bytes_;
};

// Reads a file and computes its SHA-256 meanwhile.
class FileSource : public ByteSource {
 public:
  // Errors: NotFound, or the system's reason.
  static absl::StatusOr<std::unique_ptr<FileSource>> Open(const std::string& path);
  ~FileSource() override;
  absl::StatusOr<size_t> Read(char* out, size_t n) override;
  uint64_t SizeHint() const override { return size_; }
  // Reads the rest of the file, then gives the digest and the size of the whole file.
  absl::Status Finish(std::string* sha256, uint64_t* bytes);

 private:
  FileSource(const std::string& path, int fd, uint64_t size) : path_(path), fd_(fd), size_(size) {}
  std::string path_;
  int fd_;
  uint64_t size_;
  uint64_t read_ = 0;
  Sha256 sha_;
};

// True when `head`, the first bytes of a stream, opens a gzip or a zstd stream.
bool LooksCompressed(absl::string_view head);

// Where a compressed stream ends before its end mark, as what was cut short does.
struct StreamCut {
  bool cut = false;
  uint64_t byte = 0;  // compressed bytes that there were
};

// The content of `raw`: unpacked when its first bytes say gzip (any number of
// members) or zstd (any number of frames, windows of up to 2 GiB), else as it
// is. `raw` must outlive the result; `file` is used in messages. Errors of
// Read() name the byte of the compressed stream. With `cut`, which must outlive the result, a stream that
// ends early is no error: the content ends with what was whole, and `cut` says so. Damage stays an error.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenContent(ByteSource* raw, absl::string_view file,
                                                        StreamCut* cut = nullptr);

// A source that gives `head`, which was already read from `rest`, and then `rest`. `rest` must outlive the
// result.
std::unique_ptr<ByteSource> PutBack(std::string head, ByteSource* rest);

// Content that must be in memory at once is refused as a decompression bomb if it unpacks to more than
// kFreelyUnpacked bytes and to more than kMaxRatio times its compressed size.
inline constexpr uint64_t kFreelyUnpacked = uint64_t{1} << 30;
inline constexpr uint64_t kMaxRatio = 1000;

// Error (ResourceExhausted, naming `file`) if `bytes`, the number of bytes read from `source` into memory,
// exceeds these limits.
absl::Status CheckUnpacked(const ByteSource& source, absl::string_view file, uint64_t bytes);

// Reads everything into `out` and replaces its content. `file` names the input in errors: the content does
// not fit in memory, or exceeds CheckUnpacked()'s limits.
absl::Status ReadAll(ByteSource* source, absl::string_view file, Buffer* out);

// Fills `out` with exactly `n` bytes, or with fewer at the end of the stream.
absl::StatusOr<size_t> ReadFully(ByteSource* source, char* out, size_t n);

}  // namespace chakra
