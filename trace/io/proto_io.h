// Reads and writes any protobuf message as binary, text format or JSON.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

enum class MessageFormat { kBinary, kText, kJson };

// Reads `out` from a file (gzip and zstd are unpacked) or from content in memory; `name` is for error
// messages. The content determines the format: JSON starts with '{' after blanks, text format is printable,
// everything else is binary. JSON fields may have their proto names or their camelCase names. `out` is
// cleared first.
// Errors (InvalidArgument, and those of ReadFile()) give file, line, column and field; the error for an
// unknown field or enum value suggests the nearest valid one. Unknown fields, duplicate keys, NaN literals
// and trailing commas are errors. So are unknown field numbers in binary; the error names the message that
// has them.
absl::Status ReadMessageFile(const std::string& path, google::protobuf::Message* out);
absl::Status ParseMessage(absl::string_view content, absl::string_view name, google::protobuf::Message* out);

// Parses the text format only, whatever the content looks like. Errors as above.
absl::Status ParseTextMessage(absl::string_view content, absl::string_view name,
                              google::protobuf::Message* out);

// JSON has snake_case names, one blank of indentation and a final newline. Error: the format cannot represent
// the message (invalid UTF-8 in JSON).
absl::StatusOr<std::string> FormatMessage(const google::protobuf::Message& message, MessageFormat format);
// Writes a message. The file is compressed if its name ends in .gz or .zst.
absl::Status WriteMessageFile(const google::protobuf::Message& message, MessageFormat format,
                              const std::string& path);

}  // namespace chakra
