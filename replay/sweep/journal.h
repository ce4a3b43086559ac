// The journal of a sweep: a file with one record on each line, to which results are appended while the sweep
// runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/sweep.pb.h"

namespace chakra::sweep {

// The files that points read, by PointRecord.inputs, a digest of these files.
using FilesByInputs = std::map<std::string, proto::PointInputs>;

struct JournalContent {
  std::optional<proto::SweepStart> start;            // the last start in the file
  std::map<std::string, proto::PointRecord> points;  // by id; the last record of each id
  FilesByInputs files;
  uint64_t damaged = 0;  // number of lines that are not whole or not valid; they were skipped
  uint64_t end = 0;      // end of the last line with a newline, in bytes; the text after it is a torn line
};

// The line of a record: the CRC-32 of the JSON in 8 hexadecimal digits, a blank, the JSON.
std::string JournalLine(const proto::SweepRecord& record);

// Reads lines that JournalLine() wrote. Skips and counts damaged lines, as after a kill or a power failure.
// Never fails.
JournalContent ParseJournal(absl::string_view content);

// ParseJournal() of a file. Errors: the file cannot be read.
absl::StatusOr<JournalContent> ReadJournal(const std::string& path);

// Appends to a journal. Only one process at a time may open a journal; others are refused.
class JournalWriter {
 public:
  // Creates the file if needed, cuts off a torn last line, and appends `start` if the journal's start
  // differs. Errors: FailedPrecondition if another process has the journal open; the system's reason.
  static absl::StatusOr<std::unique_ptr<JournalWriter>> Open(const std::string& path,
                                                             const proto::SweepStart& start);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // The content of the journal when it was opened. Append() keeps `files` up to date, but not the rest.
  const JournalContent& before() const { return before_; }
  // Appends a record. When Append() returns, the record is in the file, so a kill loses nothing. The record
  // is on the disk after Flush(), or after the first Append() at least a second later. If the journal has no
  // files for the point's `inputs` yet, they are written before the record. After an error (a full disk) the
  // file ends with the last whole record.
  absl::Status Append(const proto::PointRecord& point);
  absl::Status Flush();

 private:
  JournalWriter(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  absl::Status Write(const proto::SweepRecord& record);
  absl::Status Fail(absl::string_view doing, int error) const;

  std::string path_;
  int fd_;
  JournalContent before_;
  uint64_t end_ = 0;
  bool dirty_ = false;
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace chakra::sweep
