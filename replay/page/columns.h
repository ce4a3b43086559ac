// Columns of the tables of a page, for its script.
#pragma once

#include <string>

#include "google/protobuf/descriptor.h"

namespace chakra::page {

// The columns of a type and of all messages inside it, from the (shown) options of their fields
// (proto/shown.proto), as JSON: {"TYPE" or "TYPE TABLE": [{"of": field, "at": place, "title", "unit",
// "digits", "bar", "group", "any"}, ...]}.
std::string ColumnsOf(const google::protobuf::Descriptor& type);

}  // namespace chakra::page
