// Reads a JSON object into any protobuf message (proto3 JSON mapping). Every error gives a position.
#pragma once

#include <google/protobuf/message.h>

#include <functional>

#include "absl/status/status.h"
#include "trace/io/json_value.h"

namespace chakra {

// Called for each key of the outermost object that is not a field of the message.
using UnknownKey = std::function<absl::Status(const JsonMember&)>;

// Fills `out` from `object`, which `reader` read. Fields may have their proto names or their camelCase names;
// null leaves a field at its default. Without `unknown`, an unknown key is an error that suggests the nearest
// valid name.
absl::Status JsonToMessage(const JsonReader& reader, const JsonValue& object, google::protobuf::Message* out,
                           const UnknownKey& unknown = nullptr);

}  // namespace chakra
