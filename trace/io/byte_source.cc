#include "trace/io/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/base/stop.h"
#include "trace/io/zip.h"

namespace chakra {
namespace {

constexpr size_t kChunk = size_t{256} << 10;

absl::Status Corrupt(absl::string_view file, absl::string_view kind, uint64_t at, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": ", kind, " stream, compressed byte ", at, ": ", what));
}

// Returns the bytes `head`, which were read before, and then the rest of the stream.
class Rest : public ByteSource {
 public:
  Rest(std::string head, ByteSource* raw) : head_(std::move(head)), raw_(raw) {}
  absl::StatusOr<size_t> Read(char* out, size_t n) override {
    if (at_ == head_.size()) return raw_->Read(out, n);
    const size_t k = std::min(n, head_.size() - at_);
    std::memcpy(out, head_.data() + at_, k);
    at_ += k;
    return k;
  }
  uint64_t SizeHint() const override { return raw_->SizeHint(); }
  std::optional<uint64_t> Packed() const override { return raw_->Packed(); }

 private:
  std::string head_;
  size_t at_ = 0;
  ByteSource* raw_;
};

// The base class of the gzip and zstd sources: a buffer of compressed bytes.
class Unpacker : public ByteSource {
 public:
  Unpacker(std::unique_ptr<ByteSource> raw, absl::string_view file, StreamCut* cut)
      : raw_(std::move(raw)), file_(file), cut_(cut), in_(kChunk) {}
  std::optional<uint64_t> Packed() const override { return offset(); }

 protected:
  // Makes at least one compressed byte available. Returns false at the end.
  absl::StatusOr<bool> Fill() {
    if (at_ < end_) return true;
    before_ += end_;
    at_ = end_ = 0;
    ASSIGN_OR_RETURN(end_, raw_->Read(in_.data(), in_.size()));
    return end_ > 0;
  }
  uint64_t offset() const { return before_ + at_; }
  // Handles a truncated stream: an error, or the end of the content if `cut_` is set.
  absl::StatusOr<size_t> EndsEarly(const char* format, absl::string_view what);

  std::unique_ptr<ByteSource> raw_;
  std::string file_;
  StreamCut* cut_;  // null: a truncated stream is an error
  std::vector<char> in_;
  size_t at_ = 0;
  size_t end_ = 0;
  uint64_t before_ = 0;
};

absl::StatusOr<size_t> Unpacker::EndsEarly(const char* format, absl::string_view what) {
  if (cut_ == nullptr) return Corrupt(file_, format, offset(), what);
  *cut_ = {true, offset()};
  return 0;
}

class GzipSource : public Unpacker {
 public:
  using Unpacker::Unpacker;
  ~GzipSource() override { inflateEnd(&z_); }
  bool Init() { return inflateInit2(&z_, 15 + 16) == Z_OK; }

  absl::StatusOr<size_t> Read(char* out, size_t n) override {
    n = std::min(n, size_t{1} << 30);
    z_.next_out = reinterpret_cast<Bytef*>(out);
    z_.avail_out = static_cast<uInt>(n);
    while (z_.avail_out == n && n > 0) {
      ASSIGN_OR_RETURN(bool more, Fill());
      if (!more) {
        if (inside_) return EndsEarly("gzip", "truncated: the file ends inside the stream");
        return 0;
      }
      if (!inside_ && static_cast<unsigned char>(in_[at_]) != 0x1f) {
        return Corrupt(file_, "gzip", offset(), "trailing bytes after the last member");
      }
      inside_ = true;
      z_.next_in = reinterpret_cast<Bytef*>(in_.data() + at_);
      z_.avail_in = static_cast<uInt>(end_ - at_);
      const int rc = inflate(&z_, Z_NO_FLUSH);
      at_ = end_ - z_.avail_in;
      if (rc == Z_STREAM_END) {
        inside_ = false;
        inflateReset(&z_);
      } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
        return Corrupt(file_, "gzip", offset(), z_.msg != nullptr ? z_.msg : "damaged");
      }
    }
    return n - z_.avail_out;
  }

 private:
  z_stream z_ = {};
  bool inside_ = false;
};

class ZstdSource : public Unpacker {
 public:
  using Unpacker::Unpacker;
  ~ZstdSource() override { ZSTD_freeDCtx(ctx_); }
  bool Init() {
    ctx_ = ZSTD_createDCtx();
    return ctx_ != nullptr && !ZSTD_isError(ZSTD_DCtx_setParameter(ctx_, ZSTD_d_windowLogMax, 31));
  }

  absl::StatusOr<size_t> Read(char* out, size_t n) override {
    ZSTD_outBuffer to = {out, n, 0};
    while (to.pos == 0 && n > 0) {
      ASSIGN_OR_RETURN(bool more, Fill());
      if (!more && !inside_) return 0;
      ZSTD_inBuffer from = {in_.data(), end_, at_};
      const size_t rc = ZSTD_decompressStream(ctx_, &to, &from);
      at_ = from.pos;
      if (ZSTD_isError(rc)) return Corrupt(file_, "zstd", offset(), ZSTD_getErrorName(rc));
      inside_ = rc != 0;
      if (!more && inside_ && to.pos == 0) {
        return EndsEarly("zstd", "truncated: the file ends inside the frame");
      }
    }
    return to.pos;
  }

 private:
  ZSTD_DCtx* ctx_ = nullptr;
  bool inside_ = false;
};

template <typename T>
absl::StatusOr<std::unique_ptr<ByteSource>> Unpack(std::unique_ptr<ByteSource> raw, absl::string_view file,
                                                   StreamCut* cut) {
  auto source = std::make_unique<T>(std::move(raw), file, cut);
  if (!source->Init()) return absl::ResourceExhaustedError(absl::StrCat(file, ": no memory to unpack it"));
  return std::unique_ptr<ByteSource>(std::move(source));
}

absl::Status SystemError(absl::string_view path, int error) {
  const std::string text = absl::StrCat(path, ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(text) : absl::InvalidArgumentError(text);
}

}  // namespace

Buffer::~Buffer() { std::free(data_); }

void Buffer::swap(Buffer& o) noexcept {
  std::swap(data_, o.data_);
  std::swap(size_, o.size_);
  std::swap(capacity_, o.capacity_);
}

bool Buffer::Reserve(size_t n) {
  if (n <= capacity_) return true;
  char* p = static_cast<char*>(std::malloc(n));
  if (p == nullptr) return false;
  if (size_ > 0) std::memcpy(p, data_, size_);
  std::free(data_);
  data_ = p;
  capacity_ = n;
  return true;
}

absl::StatusOr<size_t> MemorySource::Read(char* out, size_t n) {
  n = std::min(n, bytes_.size());
  if (n > 0) std::memcpy(out, bytes_.data(), n);
  bytes_.remove_prefix(n);
  return n;
}

absl::StatusOr<std::unique_ptr<FileSource>> FileSource::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError(path, errno);
  struct stat st;
  if (fstat(fd, &st) != 0 || S_ISDIR(st.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a readable file"));
  }
  const auto size = static_cast<uint64_t>(std::max<off_t>(st.st_size, 0));
  return std::unique_ptr<FileSource>(new FileSource(path, fd, size));
}

FileSource::~FileSource() { close(fd_); }

absl::StatusOr<size_t> FileSource::Read(char* out, size_t n) {
  RETURN_IF_ERROR(CheckStop());
  ssize_t got;
  do {
    got = read(fd_, out, n);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return SystemError(path_, errno);
  sha_.Update(absl::string_view(out, static_cast<size_t>(got)));
  read_ += static_cast<uint64_t>(got);
  return static_cast<size_t>(got);
}

absl::Status FileSource::Finish(std::string* sha256, uint64_t* bytes) {
  std::vector<char> skip(kChunk);
  for (;;) {
    ASSIGN_OR_RETURN(size_t got, Read(skip.data(), skip.size()));
    if (got == 0) break;
  }
  *sha256 = sha_.Hex();
  *bytes = read_;
  return absl::OkStatus();
}

namespace {
bool IsGzip(absl::string_view head) { return head.size() >= 2 && head.substr(0, 2) == "\x1f\x8b"; }
bool IsZstd(absl::string_view head) { return head.size() >= 4 && head.substr(0, 4) == "\x28\xb5\x2f\xfd"; }
}  // namespace

bool LooksCompressed(absl::string_view head) { return IsGzip(head) || IsZstd(head); }

absl::StatusOr<std::unique_ptr<ByteSource>> OpenContent(ByteSource* raw, absl::string_view file,
                                                        StreamCut* cut) {
  std::string head(4, '\0');
  ASSIGN_OR_RETURN(size_t got, ReadFully(raw, head.data(), head.size()));
  head.resize(got);
  auto rest = std::make_unique<Rest>(head, raw);
  if (IsGzip(head)) return Unpack<GzipSource>(std::move(rest), file, cut);
  if (IsZstd(head)) return Unpack<ZstdSource>(std::move(rest), file, cut);
  if (LooksLikeZip(head)) return OpenZip(std::move(rest), file);
  return std::unique_ptr<ByteSource>(std::move(rest));
}

std::unique_ptr<ByteSource> PutBack(std::string head, ByteSource* rest) {
  return std::make_unique<Rest>(std::move(head), rest);
}

absl::Status CheckUnpacked(const ByteSource& source, absl::string_view file, uint64_t bytes) {
  const std::optional<uint64_t> packed = source.Packed();
  if (!packed.has_value() || bytes <= kFreelyUnpacked || bytes / kMaxRatio <= *packed)
    return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      file, ": its first ", *packed, " compressed bytes unpack to ", bytes, ", expected at most ",
      kFreelyUnpacked, " or ", kMaxRatio, " times as many; unpack it first if this is right"));
}

absl::Status ReadAll(ByteSource* source, absl::string_view file, Buffer* out) {
  out->set_size(0);
  constexpr uint64_t kMaxHint = uint64_t{1} << 30;
  size_t want = static_cast<size_t>(std::min(source->SizeHint(), kMaxHint)) + 1;
  for (;;) {
    if (out->capacity() - out->size() < 1) want = std::max(want, out->capacity() * 2);
    if (!out->Reserve(std::max(want, size_t{64} << 10))) {
      return absl::ResourceExhaustedError(
          absl::StrCat(file, ": no memory for its content past byte ", out->size()));
    }
    ASSIGN_OR_RETURN(size_t got, source->Read(out->data() + out->size(), out->capacity() - out->size()));
    if (got == 0) return absl::OkStatus();
    out->set_size(out->size() + got);
    RETURN_IF_ERROR(CheckUnpacked(*source, file, out->size()));
  }
}

absl::StatusOr<size_t> ReadFully(ByteSource* source, char* out, size_t n) {
  size_t done = 0;
  while (done < n) {
    ASSIGN_OR_RETURN(size_t got, source->Read(out + done, n - done));
    if (got == 0) break;
    done += got;
  }
  return done;
}

}  // namespace chakra
