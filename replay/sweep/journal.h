// The journal: results on disk while a sweep runs, a file that only grows, with one record on each line.
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

// The files that points read, by PointRecord.inputs.
using FilesByInputs = std::map<std::string, proto::PointInputs>;

struct JournalContent {
  std::optional<proto::SweepStart> start;            // the last one
  std::map<std::string, proto::PointRecord> points;  // by id; the last record of each id
  FilesByInputs files;
  uint64_t damaged = 0;  // number of lines that are not whole and were skipped
  uint64_t end = 0;      // where the last whole line ends, in bytes; the rest is torn
};

// The line of a record: the CRC-32 of the JSON in 8 hexadecimal digits, a blank, the JSON.
std::string JournalLine(const proto::SweepRecord& record);

// Reads lines that JournalLine() wrote. Skips and counts lines that are not whole, as after a kill or a power
// failure. Never fails.
JournalContent ParseJournal(absl::string_view content);

// ParseJournal() of a file. Errors: the file cannot be read.
absl::StatusOr<JournalContent> ReadJournal(const std::string& path);

// Appends to a journal. Only one process at a time may open a journal; others are refused.
class JournalWriter {
 public:
  // Creates the file if needed, cuts off a torn end, and appends `start` if the journal's start differs.
  // Errors: FailedPrecondition if another process holds the journal; the system's reason.
  static absl::StatusOr<std::unique_ptr<JournalWriter>> Open(const std::string& path,
                                                             const proto::SweepStart& start);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // The content of the journal when it was opened; `files` is kept up to date.
  const JournalContent& before() const { return before_; }
  // The record is in the file when Append() returns, so a kill loses nothing. It is on the disk after
  // Flush(), or after the first Append() a second later. If the journal has no files for the point's `inputs`
  // yet, they are written before the record. After an error (a full disk) the file ends with the last whole
  // record.
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
