// Sets a field of a message, given its path and a text: `--set` on the command line.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace chakra {

// Sets the field at `path` of `message`. `message` changes only if the result is OK.
//
// A path consists of field names with dots between them. `[...]` follows a repeated field or a map. For a
// repeated field, it holds a position from 0, or from the end as -1 (the number of elements adds an element);
// if the elements are messages with a name, it may hold this name. For a map, it holds the key. Examples:
// "topology.dimension[0].latency_ns", "topology.dimension[nvlink].size", "collectives.algorithm[all_reduce]".
// A path that ends in '+' adds to a repeated field.
//
// A value is a number, in the unit of the field's name or with its own unit ("4KiB", "2us", "400Gb/s"); yes
// or no; an enum value; or text. The value of a repeated field is "a,b,c". The value of a message is its
// fields in the text format. An empty value clears a repeated field, a map or a message. Ranges are not
// checked here but in CheckSettings(). Fields that would take precedence over the new value are cleared:
// bandwidth_bytes_per_s of a dimension when its bandwidth_gbytes_per_s is set. The text of a short form is
// first expanded into fields (ExpandShortForm()).
//
// Errors (InvalidArgument) give the path and the value, and say what was expected: for an unknown field, the
// nearest name or the valid names; also a value of another type, or out of the range of its type.
absl::Status SetField(const std::string& path, const std::string& value, google::protobuf::Message* message);

// Checks path and value as SetField() does (field names, types, and the ranges of types), but allows any
// element of a repeated field.
absl::Status CheckField(const std::string& path, const std::string& value,
                        const google::protobuf::Message& type);

// Calls SetField() with "FIELD=VALUE" or "FIELD+=VALUE".
absl::Status SetFieldFromText(const std::string& text, google::protobuf::Message* message);

// Calls SetFieldFromText() for each text of --set, in order. Errors begin with "--set ".
absl::Status SetFields(const std::vector<std::string>& texts, google::protobuf::Message* message);

}  // namespace chakra
