// Results on disk while a sweep runs: a file that only grows, one record a line.
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

// Files that points read, by PointRecord.inputs.
using FilesByInputs = std::map<std::string, proto::PointInputs>;

struct JournalContent {
  std::optional<proto::SweepStart> start;            // the last one
  std::map<std::string, proto::PointRecord> points;  // by id; of an id the last one
  FilesByInputs files;
  uint64_t damaged = 0;                              // lines that are not whole and were passed over
  uint64_t end = 0;  // where the last line ends, in bytes; what follows is torn
};

// A record as its line: the CRC-32 of the JSON in 8 hexadecimal digits, a blank, the JSON.
std::string JournalLine(const proto::SweepRecord& record);

// Reads what JournalLine() wrote; any line that is not whole, as a kill or a failure of power leave it, is
// passed over and counted. Never fails.
JournalContent ParseJournal(absl::string_view content);

// The same from a file. Errors: it cannot be read.
absl::StatusOr<JournalContent> ReadJournal(const std::string& path);

// Appends to a journal. One process at a time: others are refused.
class JournalWriter {
 public:
  // Makes the file where there is none, takes away a torn end, and appends `start` where the journal's own
  // differs. Errors: FailedPrecondition where another process holds it; what the system says.
  static absl::StatusOr<std::unique_ptr<JournalWriter>> Open(const std::string& path,
                                                             const proto::SweepStart& start);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // What the journal held when it was opened; `files` also what came since.
  const JournalContent& before() const { return before_; }
  // The record is in the file when this returns (a kill loses nothing), and on the disk a second later at
  // most, when the next one comes or Flush() is called. Files of the point go before it, where the journal
  // has none for its `inputs` yet. After an error (a full disk) the file ends with the last whole record.
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
