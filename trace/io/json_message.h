// A JSON object into any protobuf message (the proto3 JSON mapping), with
// positions in every error.
#pragma once

#include <google/protobuf/message.h>

#include <functional>

#include "absl/status/status.h"
#include "trace/io/json_value.h"

namespace chakra {

// Takes a key of the outermost object that the message has no field for.
using UnknownKey = std::function<absl::Status(const JsonMember&)>;

// Fills `out` from `object`, which `reader` has read. Fields go by their proto
// or their camelCase name; null leaves a field at its default. Without
// `unknown` an unknown key is an error with the nearest valid name.
absl::Status JsonToMessage(const JsonReader& reader, const JsonValue& object, google::protobuf::Message* out,
                           const UnknownKey& unknown = nullptr);

}  // namespace chakra
