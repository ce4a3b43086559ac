#include "trace/writer.h"

#include <google/protobuf/stubs/logging.h>
#include <zlib.h>
#include <zstd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/proto_io.h"

namespace chakra {
namespace {

constexpr size_t kFlushAt = 1 << 20;
constexpr int kZstdLevel = 3;
constexpr int kGzipWindow = 15 + 16;  // zlib's largest window, with a gzip header

void AppendVarint(uint32_t n, std::string* out) {
  for (; n >= 0x80; n >>= 7) out->push_back(static_cast<char>(n | 0x80));
  out->push_back(static_cast<char>(n));
}

}  // namespace

// Compresses and hands on. One of `file` and `text` takes the bytes.
struct EtWriter::Sink {
  explicit Sink(Compression c) : compression(c) {}
  ~Sink() {
    if (gzip_open) deflateEnd(&gzip);
    ZSTD_freeCCtx(zstd);
  }

  absl::Status Start() {
    if (compression == Compression::kGzip) {
      if (deflateInit2(&gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) !=
          Z_OK) {
        return absl::ResourceExhaustedError("gzip: out of memory");
      }
      gzip_open = true;
    } else if (compression == Compression::kZstd) {
      zstd = ZSTD_createCCtx();
      if (zstd == nullptr) return absl::ResourceExhaustedError("zstd: out of memory");
      ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, kZstdLevel);
      ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
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
    gzip.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    gzip.avail_in = static_cast<uInt>(bytes.size());
    int result;
    do {
      gzip.next_out = reinterpret_cast<Bytef*>(out.data());
      gzip.avail_out = static_cast<uInt>(out.size());
      result = deflate(&gzip, last ? Z_FINISH : Z_NO_FLUSH);
      if (result == Z_STREAM_ERROR) return absl::InternalError("gzip: stream error");
      if (absl::Status s = Put(absl::string_view(out).substr(0, out.size() - gzip.avail_out)); !s.ok())
        return s;
    } while (gzip.avail_out == 0);
    return absl::OkStatus();
  }

  absl::Status WriteZstd(absl::string_view bytes, bool last) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    size_t left;
    do {
      ZSTD_outBuffer o{out.data(), out.size(), 0};
      left = ZSTD_compressStream2(zstd, &o, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left)) return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(left)));
      if (absl::Status s = Put(absl::string_view(out).substr(0, o.pos)); !s.ok()) return s;
    } while (last ? left != 0 : in.pos != in.size);
    return absl::OkStatus();
  }

  Compression compression;
  OutputFile file;
  std::string* text = nullptr;
  std::string out = std::string(1 << 17, '\0');  // compressed
  z_stream gzip = {};
  bool gzip_open = false;
  ZSTD_CCtx* zstd = nullptr;
};

Compression CompressionOf(absl::string_view path) {
  if (absl::EndsWith(path, ".gz")) return Compression::kGzip;
  if (absl::EndsWith(path, ".zst")) return Compression::kZstd;
  return Compression::kNone;
}

EtWriter::EtWriter(const std::string& path) : EtWriter(path, CompressionOf(path)) {}

EtWriter::EtWriter(const std::string& path, Compression compression)
    : sink_(std::make_unique<Sink>(compression)) {
  status_ = sink_->file.Open(path);
  if (status_.ok()) status_ = sink_->Start();
}

EtWriter::EtWriter(std::string* out, Compression compression) : sink_(std::make_unique<Sink>(compression)) {
  sink_->text = out;
  status_ = sink_->Start();
}

EtWriter::~EtWriter() = default;

absl::Status EtWriter::Flush(bool last) {
  status_ = sink_->Write(buffer_, last);
  buffer_.clear();
  return status_;
}

absl::Status EtWriter::AddFrame(absl::string_view body) {
  if (!status_.ok()) return status_;
  if (sink_ == nullptr) return absl::FailedPreconditionError("the writer is finished");
  if (body.size() > 0x7fffffff) {
    return status_ = absl::InvalidArgumentError(absl::StrCat("frame ", frames_, " has ", body.size(),
                                                             " bytes; a message has less than 2 GiB"));
  }
  AppendVarint(static_cast<uint32_t>(body.size()), &buffer_);
  buffer_.append(body.data(), body.size());
  ++frames_;
  return buffer_.size() < kFlushAt ? absl::OkStatus() : Flush(false);
}

absl::Status EtWriter::Add(const google::protobuf::MessageLite& message, absl::string_view subject) {
  if (!status_.ok()) return status_;
  if (message.ByteSizeLong() > 0x7fffffff) {
    return status_ = absl::InvalidArgumentError(absl::StrCat(subject, " is larger than 2 GiB"));
  }
  google::protobuf::LogSilencer quiet;
  scratch_.clear();
  if (!message.SerializeToString(&scratch_)) {
    return status_ = absl::InternalError(absl::StrCat(subject, " cannot be serialized"));
  }
  return AddFrame(scratch_);
}

absl::Status EtWriter::AddMetadata(const ChakraProtoMsg::GlobalMetadata& metadata) {
  if (frames_ != 0) return absl::FailedPreconditionError("the metadata must be the first frame");
  return Add(metadata, "the metadata");
}

absl::Status EtWriter::AddNode(const ChakraProtoMsg::Node& node) {
  return Add(node, absl::StrCat("node ", node.id()));
}

absl::Status EtWriter::Finish() {
  if (!status_.ok()) return status_;
  if (sink_ == nullptr) return absl::FailedPreconditionError("the writer is finished");
  if (Flush(true).ok() && sink_->text == nullptr) status_ = sink_->file.Commit();
  sink_.reset();
  return status_;
}

absl::Status WriteTrace(const RankTrace& trace, EtWriter* writer) {
  if (trace.raw == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(trace.file, ": rank ", trace.rank, ": the frames were not kept when it was read"));
  }
  const RawFrames& raw = *trace.raw;
  for (size_t i = raw.has_metadata ? 0 : 1; i + 1 < raw.begin.size(); ++i) {
    if (absl::Status s = writer->AddFrame(raw.frame(i)); !s.ok()) return s;
  }
  return writer->Finish();
}

absl::Status WriteTrace(const RankTrace& trace, const std::string& path) {
  EtWriter writer(path);
  return WriteTrace(trace, &writer);
}

}  // namespace chakra
