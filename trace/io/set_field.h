// One field of a message, set by its path and a text: `--set` of the command line.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace chakra {

// Sets the field at `path` of `message`, which is changed only when the result is OK.
//
// A path is names with dots between them. `[...]` follows a repeated field (its position from 0, or from
// the end as -1; the number of elements adds one; for messages that have a name, that name) or a map (its
// key): "topology.dimension[0].latency_ns", "topology.dimension[nvlink].size",
// "collectives.algorithm[all_reduce]". A path that ends in '+' adds to a repeated field.
// Values: a number, in the unit of the field's name or with its own ("4KiB", "2us", "400Gb/s"), yes or no, a
// word of an enum, text; of a repeated field "a,b,c"; of a message its fields in the text format. Nothing
// clears a repeated field, a map or a message. Ranges are CheckSettings()'s. What would take precedence gives
// way: a dimension's bandwidth_gbytes_per_s clears its bandwidth_bytes_per_s, and the text of a short form
// becomes fields (ExpandShortForm()).
//
// Errors (InvalidArgument) give the path and the value, and say what was expected: an unknown field with the
// nearest name and the valid ones, a value of another type or out of its range.
absl::Status SetField(const std::string& path, const std::string& value, google::protobuf::Message* message);

// What SetField() would say of path and value whatever the elements of repeated fields: names of fields,
// types and ranges.
absl::Status CheckField(const std::string& path, const std::string& value,
                        const google::protobuf::Message& type);

// SetField() from "FIELD=VALUE" or "FIELD+=VALUE".
absl::Status SetFieldFromText(const std::string& text, google::protobuf::Message* message);

// The same for each text of --set, in order. Errors begin with "--set ".
absl::Status SetFields(const std::vector<std::string>& texts, google::protobuf::Message* message);

}  // namespace chakra
