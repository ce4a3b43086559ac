#include "trace/io/compressed_file.h"

#include <zlib.h>
#include <zstd.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"
#include "trace/io/file.h"

namespace chakra {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's largest window, with a gzip header

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
using Context = std::unique_ptr<ZSTD_CCtx, FreeContext>;
// The context of the thread's last stream, which the next one takes: a new one clears megabytes, which takes
// longer than to compress a small file. The compressed bytes are the same.
thread_local Context spare_context;

}  // namespace

// Compresses bytes and passes them to either `file` or `text`.
struct CompressedFile::Stream {
  explicit Stream(Compression c, int level = FileEffort().zstd_level) : compression(c), zstd_level(level) {}
  ~Stream() {
    if (gzip_open) deflateEnd(&gzip);
    if (zstd != nullptr) spare_context = std::move(zstd);
  }

  absl::Status Start() {
    if (compression == Compression::kGzip) {
      if (deflateInit2(&gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) !=
          Z_OK) {
        return absl::ResourceExhaustedError("gzip: out of memory");
      }
      gzip_open = true;
    } else if (compression == Compression::kZstd) {
      zstd = spare_context != nullptr ? std::move(spare_context) : Context(ZSTD_createCCtx());
      if (zstd == nullptr) return absl::ResourceExhaustedError("zstd: out of memory");
      ZSTD_CCtx_reset(zstd.get(), ZSTD_reset_session_and_parameters);
      ZSTD_CCtx_setParameter(zstd.get(), ZSTD_c_compressionLevel, zstd_level);
      ZSTD_CCtx_setParameter(zstd.get(), ZSTD_c_checksumFlag, 1);
    }
    return absl::OkStatus();
  }

  absl::Status Put(absl::string_view bytes) {
    if (text == nullptr) return file.Append(bytes);
    text->append(bytes.data(), bytes.size());
    return absl::OkStatus();
  }

  absl::Status Write(absl::string_view bytes, bool last) {
    if (compression == Compression::kGzip) return WriteGzip(bytes, last);
    if (compression == Compression::kZstd) return WriteZstd(bytes, last);
    return Put(bytes);
  }

  absl::Status WriteGzip(absl::string_view bytes, bool last) {
    constexpr size_t kMost = size_t{1} << 30;  // zlib's sizes have 32 bits
    for (; bytes.size() > kMost; bytes.remove_prefix(kMost)) {
      RETURN_IF_ERROR(Deflate(bytes.substr(0, kMost), false));
    }
    return Deflate(bytes, last);
  }

  absl::Status Deflate(absl::string_view bytes, bool last) {
    gzip.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    gzip.avail_in = static_cast<uInt>(bytes.size());
    int result;
    do {
      gzip.next_out = reinterpret_cast<Bytef*>(out.data());
      gzip.avail_out = static_cast<uInt>(out.size());
      result = deflate(&gzip, last ? Z_FINISH : Z_NO_FLUSH);
      if (result == Z_STREAM_ERROR) return absl::InternalError("gzip: stream error");
      RETURN_IF_ERROR(Put(absl::string_view(out).substr(0, out.size() - gzip.avail_out)));
    } while (gzip.avail_out == 0);
    return absl::OkStatus();
  }

  absl::Status WriteZstd(absl::string_view bytes, bool last) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    size_t left;
    do {
      ZSTD_outBuffer o{out.data(), out.size(), 0};
      left = ZSTD_compressStream2(zstd.get(), &o, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left)) return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(left)));
      RETURN_IF_ERROR(Put(absl::string_view(out).substr(0, o.pos)));
    } while (last ? left != 0 : in.pos != in.size);
    return absl::OkStatus();
  }

  Compression compression;
  int zstd_level;
  OutputFile file;
  std::string* text = nullptr;
  std::string out = std::string(1 << 17, '\0');  // buffer of compressed bytes
  z_stream gzip = {};
  bool gzip_open = false;
  Context zstd;
};

Compression CompressionOf(absl::string_view path) {
  if (absl::EndsWith(path, ".gz")) return Compression::kGzip;
  if (absl::EndsWith(path, ".zst")) return Compression::kZstd;
  return Compression::kNone;
}

absl::string_view WithoutCompression(absl::string_view path) {
  if (!absl::ConsumeSuffix(&path, ".gz")) absl::ConsumeSuffix(&path, ".zst");
  return path;
}

CompressedFile::CompressedFile() = default;
CompressedFile::~CompressedFile() = default;

absl::Status CompressedFile::Open(const std::string& path, Compression compression,
                                  const FileEffort& effort) {
  stream_ = std::make_unique<Stream>(compression, effort.zstd_level);
  RETURN_IF_ERROR(stream_->file.Open(path, effort.durable));
  return stream_->Start();
}

absl::Status CompressedFile::Open(std::string* out, Compression compression) {
  stream_ = std::make_unique<Stream>(compression);
  stream_->text = out;
  return stream_->Start();
}

absl::Status CompressedFile::Append(absl::string_view bytes) { return stream_->Write(bytes, false); }

absl::Status CompressedFile::Finish(absl::string_view bytes) {
  absl::Status status = stream_->Write(bytes, true);
  if (status.ok() && stream_->text == nullptr) status = stream_->file.Commit();
  stream_.reset();
  return status;
}

absl::Status WriteFile(const std::string& path, absl::string_view content) {
  return WriteFile(path, content, CompressionOf(path));
}

absl::Status WriteFile(const std::string& path, absl::string_view content, Compression compression) {
  CompressedFile file;
  RETURN_IF_ERROR(file.Open(path, compression));
  return file.Finish(content);
}

}  // namespace chakra
