// Reads a JSON object into any protobuf message (the proto3 JSON mapping); every error gives a position.
#pragma once

#include <google/protobuf/message.h>

#include <functional>

#include "absl/status/status.h"
#include "trace/io/json_value.h"

namespace chakra {

// Called with each key of the outermost object for which the message has no field.
using UnknownKey = std::function<absl::Status(const JsonMember&)>;

// Fills `out` from `object`, which `reader` read. A field may have its proto name or its camelCase name; null
// leaves a field at its default. Without `unknown`, an unknown key is an error that suggests the nearest
// valid name.
absl::Status JsonToMessage(const JsonReader& reader, const JsonValue& object, google::protobuf::Message* out,
                           const UnknownKey& unknown = nullptr);

}  // namespace chakra
