// Parses a text as the value of a protobuf field. The name of the field gives its unit.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

// The unit of a field, from the end of the field's name.
struct FieldUnit {
  enum class Kind { kNone, kBytes, kTime, kRate };
  Kind kind = Kind::kNone;
  absl::string_view suffix;  // end of the field's name, as "_ns"
  absl::string_view sign;    // unit symbol, as "ns"
  double scale = 1;          // size of the unit: picoseconds, bytes, or bytes per second
};
FieldUnit UnitOf(const google::protobuf::FieldDescriptor& field);

// Which value of the field is set.
struct ValuePlace {
  enum How { kSet, kSetAt, kAdd };  // the single value, the value at `at`, or an additional one
  How how = kSet;
  int at = 0;
};

// Sets a scalar field. `text` may have a unit; without one, the field's own unit applies. If `needs_unit`,
// times and rates must have a unit, because the name that the user wrote does not give it. Enum values may be
// in lower case. Errors are "\"TEXT\"; expected ...", followed by the range of the type, the form of the
// unit, or the enum's values and the nearest one.
absl::Status SetValue(absl::string_view text, bool needs_unit, ValuePlace place,
                      const google::protobuf::FieldDescriptor* field, google::protobuf::Message* message);

}  // namespace chakra
