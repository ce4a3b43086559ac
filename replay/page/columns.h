// What the tables of a page show, for its script.
#pragma once

#include <string>

#include "google/protobuf/descriptor.h"

namespace chakra::page {

// The columns of a type and of all that its messages hold, as the options beside their fields say
// (proto/shown.proto): {"TYPE" or "TYPE TABLE": [{"of": field, "at": place, "title", "unit", "digits", "bar",
// "group", "any"}, ...]}, JSON.
std::string ColumnsOf(const google::protobuf::Descriptor& type);

}  // namespace chakra::page
