// Files of any protobuf message, as binary, text format or JSON.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

enum class MessageFormat { kBinary, kText, kJson };

// Reads `out` from a file (gzip and zstd are unpacked), or from content in memory; `name` is for messages.
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
// A name that ends in .gz or .zst compresses.
absl::Status WriteMessageFile(const google::protobuf::Message& message, MessageFormat format,
                              const std::string& path);

}  // namespace chakra
