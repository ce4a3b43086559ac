// One value of a field from a text. The field's name says its unit.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

// The unit that ends a field's name.
struct FieldUnit {
  enum class Kind { kNone, kBytes, kTime, kRate };
  Kind kind = Kind::kNone;
  absl::string_view suffix;  // of the name: "_ns"
  absl::string_view sign;    // "ns"
  double scale = 1;          // picoseconds, or bytes per second, of one
};
FieldUnit UnitOf(const google::protobuf::FieldDescriptor& field);

// Which value of the field a text becomes.
struct ValuePlace {
  enum How { kSet, kSetAt, kAdd };  // the one, the one at `at`, one more of a repeated field
  How how = kSet;
  int at = 0;
};

// Sets a scalar field. A value may have its unit; where it has none, the field's own is meant, unless
// `needs_unit`: then times and rates must have one, for the name that the user wrote does not tell it. Words
// of an enum may be in lower case. Errors: "\"TEXT\"; expected ..." with the range of the type, the form of
// the unit, or the words of the enum and the nearest one.
absl::Status SetValue(absl::string_view text, bool needs_unit, ValuePlace place,
                      const google::protobuf::FieldDescriptor* field, google::protobuf::Message* message);

}  // namespace chakra
