#include "replay/sweep/journal.h"

#include <fcntl.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trace/base/status_macros.h"
#include "trace/io/file.h"

namespace chakra::sweep {
namespace {

constexpr size_t kChecksumDigits = 8;
constexpr std::chrono::seconds kFlushEvery(1);

uint32_t Checksum(absl::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

bool ParseLine(absl::string_view line, proto::SweepRecord* out) {
  if (line.size() <= kChecksumDigits || line[kChecksumDigits] != ' ') return false;
  uint32_t checksum = 0;
  const absl::string_view json = line.substr(kChecksumDigits + 1);
  if (!absl::SimpleHexAtoi(line.substr(0, kChecksumDigits), &checksum) || checksum != Checksum(json))
    return false;
  const google::protobuf::StringPiece piece(json.data(), json.size());
  return google::protobuf::util::JsonStringToMessage(piece, out).ok();
}

}  // namespace

std::string JournalLine(const proto::SweepRecord& record) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  // This can fail only for invalid UTF-8, which the record's fields do not have.
  if (!google::protobuf::util::MessageToJsonString(record, &json, options).ok()) json = "{}";
  return absl::StrCat(absl::StrFormat("%08x ", Checksum(json)), json, "\n");
}

JournalContent ParseJournal(absl::string_view content) {
  JournalContent out;
  size_t begin = 0;
  while (begin < content.size()) {
    const size_t newline = content.find('\n', begin);
    if (newline == content.npos) {
      ++out.damaged;
      break;
    }
    proto::SweepRecord record;
    if (!ParseLine(content.substr(begin, newline - begin), &record)) {
      ++out.damaged;
    } else if (record.has_start()) {
      out.start = std::move(*record.mutable_start());
    } else if (record.has_point()) {
      std::string id = record.point().id();
      out.points[std::move(id)] = std::move(*record.mutable_point());
    } else if (record.has_inputs()) {
      std::string inputs = record.inputs().inputs();
      out.files[std::move(inputs)] = std::move(*record.mutable_inputs());
    }
    begin = newline + 1;
  }
  out.end = begin;
  return out;
}

absl::StatusOr<JournalContent> ReadJournal(const std::string& path) {
  ASSIGN_OR_RETURN(auto content, ReadFileAsItIs(path));
  return ParseJournal(content);
}

absl::Status JournalWriter::Fail(absl::string_view doing, int error) const {
  return absl::UnavailableError(absl::StrCat("cannot ", doing, " ", path_, ": ", std::strerror(error)));
}

absl::StatusOr<std::unique_ptr<JournalWriter>> JournalWriter::Open(const std::string& path,
                                                                   const proto::SweepStart& start) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  std::unique_ptr<JournalWriter> out(new JournalWriter(path, fd));
  if (fd < 0) return out->Fail("write", errno);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return out->Fail("lock", errno);
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is being written by another process; expected one at a time (or --shard)"));
  }
  ASSIGN_OR_RETURN(out->before_, ReadJournal(path));
  out->end_ = out->before_.end;
  if (ftruncate(fd, static_cast<off_t>(out->end_)) != 0) return out->Fail("write", errno);
  using google::protobuf::util::MessageDifferencer;
  if (!out->before_.start.has_value() || !MessageDifferencer::Equals(*out->before_.start, start)) {
    proto::SweepRecord record;
    *record.mutable_start() = start;
    RETURN_IF_ERROR(out->Write(record));
    RETURN_IF_ERROR(out->Flush());
  }
  return out;
}

JournalWriter::~JournalWriter() {
  if (fd_ < 0) return;
  (void)Flush();
  close(fd_);
}

absl::Status JournalWriter::Write(const proto::SweepRecord& record) {
  const std::string line = JournalLine(record);
  size_t written = 0;
  while (written < line.size()) {
    const ssize_t n = write(fd_, line.data() + written, line.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const absl::Status failure = Fail("write", n < 0 ? errno : ENOSPC);
      // Cuts off the partial record. If that fails too, the next process that opens the file cuts it off.
      if (ftruncate(fd_, static_cast<off_t>(end_)) != 0) return failure;
      return failure;
    }
    written += static_cast<size_t>(n);
  }
  end_ += line.size();
  dirty_ = true;
  return absl::OkStatus();
}

absl::Status JournalWriter::Append(const proto::PointRecord& point) {
  if (point.file_size() > 0 && before_.files.count(point.inputs()) == 0) {
    proto::SweepRecord files;
    files.mutable_inputs()->set_inputs(point.inputs());
    *files.mutable_inputs()->mutable_file() = point.file();
    RETURN_IF_ERROR(Write(files));
    before_.files[point.inputs()] = files.inputs();
  }
  proto::SweepRecord record;
  *record.mutable_point() = point;
  record.mutable_point()->clear_file();
  RETURN_IF_ERROR(Write(record));
  return std::chrono::steady_clock::now() - flushed_ >= kFlushEvery ? Flush() : absl::OkStatus();
}

absl::Status JournalWriter::Flush() {
  if (!dirty_) return absl::OkStatus();
  if (fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS) return Fail("write", errno);
  flushed_ = std::chrono::steady_clock::now();
  dirty_ = false;
  return absl::OkStatus();
}

}  // namespace chakra::sweep
