// Where the table of some keys is: a topic of `chakra-replay help`.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// The topic of a message whose fields are settings, by its option (proto/setting.proto); "": it has none.
// Owned by the descriptor.
absl::string_view TopicOf(const google::protobuf::Descriptor& type);

// `message` and where the table is: "...; see `chakra-replay help TOPIC`". `topic` "": the message alone.
std::string SeeTopic(std::string message, absl::string_view topic);

// "; did you mean 'NEAREST'? See `chakra-replay help TOPIC`" of an unknown key; without a topic the known
// ones where none is near.
std::string SuggestKey(absl::string_view key, const std::vector<std::string>& known, absl::string_view topic);

}  // namespace chakra
