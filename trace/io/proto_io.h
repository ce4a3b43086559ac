// Files of any protobuf message, as binary, text format or JSON; and the small
// file helpers that every reader and writer shares.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// The whole file (or pipe) as it lies on disk. Errors name the path and the
// system's reason; a directory is an error.
absl::StatusOr<std::string> ReadFile(const std::string& path);
// The same of what is meant to be small: more than `most` bytes are an error (InvalidArgument).
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t most);

// A file that appears under its name only when it is complete: bytes go to a
// temporary name in the same folder, Commit() renames. Without a Commit() the
// temporary file is removed. Devices and pipes are written directly.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // `durable`: Commit() returns when the bytes are on the disk, so that the file outlives a failure of power.
  absl::Status Open(const std::string& path, bool durable = true);
  absl::Status Append(absl::string_view bytes);
  absl::Status Commit();

 private:
  absl::Status Fail(absl::string_view doing);

  int fd_ = -1;
  bool durable_ = true;
  std::string path_;       // as given, for messages
  std::string target_;     // symbolic links resolved
  std::string temporary_;  // "": written directly
};

// Writes a whole file through OutputFile.
absl::Status WriteFile(const std::string& path, absl::string_view content);

enum class MessageFormat { kBinary, kText, kJson };

// Reads `out` from a file, or from content in memory; `name` is for messages.
// The format is told by content: JSON starts with '{' after blanks, text is
// printable, all else is binary. Fields of JSON go by their proto or their
// camelCase name. `out` is cleared first.
// Errors (InvalidArgument; ReadFile's own) name file, line, column and field; an
// unknown field or enum value comes with the nearest valid one. Unknown fields,
// duplicate keys, NaN literals and trailing commas are errors; so are unknown
// field numbers in binary, which are named with the message that they stand in.
absl::Status ReadMessageFile(const std::string& path, google::protobuf::Message* out);
absl::Status ParseMessage(absl::string_view content, absl::string_view name, google::protobuf::Message* out);

// The text format alone, whatever the content looks like. Errors as above.
absl::Status ParseTextMessage(absl::string_view content, absl::string_view name,
                              google::protobuf::Message* out);

// JSON has snake_case names, one blank of indentation and a final newline.
// Errors: a message that the format cannot hold (invalid UTF-8 in JSON).
absl::StatusOr<std::string> FormatMessage(const google::protobuf::Message& message, MessageFormat format);
absl::Status WriteMessageFile(const google::protobuf::Message& message, MessageFormat format,
                              const std::string& path);

// The candidate that `word` is most likely a misspelling of; the first of equals.
// Case, '_', '-' and blanks do not count. "" when nothing is within a third of
// the word's length in edits.
std::string NearestName(absl::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'NEAREST'?", or "; known: a, b, c" when nothing is near.
std::string SuggestName(absl::string_view word, const std::vector<std::string>& candidates);

}  // namespace chakra
