// Tables of what keys of a configuration file mean for a step.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/workload.pb.h"
#include "trace/foreign/keys.h"

namespace chakra::foreign {

// One value of a key. Rows of the same keys follow each other, and the first whose value matches applies.
struct Row {
  const char* keys;   // names of the key, separated by '|'
  const char* value;  // "number" (whole), "yes", "no", "any", or texts separated by '|', in any case
  // A field of the workload: "training.seq" takes the number, "training.dtype=fp16" has its own value;
  // several are separated by spaces; "": none.
  const char* setting;
  // What the step has in place of the value, which is then left out; "": the step has the value.
  const char* instead = "";
};

// Sets the fields of `out` that the rows name. `under`: the table that the keys are in, as in Under(). Keys
// that were read already are passed over, so that of two tables the first takes precedence. Errors of `keys`:
// a value that no row has, except no, with those that they have; a number out of the range of its field.
void ApplyRows(absl::Span<const Row> rows, absl::string_view under, ForeignKeys& keys, proto::Workload* out);

}  // namespace chakra::foreign
