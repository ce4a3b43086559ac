// Finds the line of a field in the text form of a message.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>

#include "absl/types/span.h"

namespace chakra {

struct FieldStep {
  const google::protobuf::FieldDescriptor* field;
  int index;  // in a repeated field, from 0; -1: the field is not repeated
};

// Returns the line, counted from 1, of the field to which `steps` lead from the outermost message. If `text`
// lacks this field, returns the line of the last step that `text` has. `text` is JSON or protobuf's text
// format; `type` is any message of the outermost type. Returns 0 if `text` cannot be parsed or lacks even the
// first step.
int LineOfField(const std::string& text, const google::protobuf::Message& type,
                absl::Span<const FieldStep> steps);

}  // namespace chakra
