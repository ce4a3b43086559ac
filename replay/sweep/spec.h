// A sweep's spec as a file, with the lines of its fields.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/sweep.pb.h"

namespace chakra::sweep {

struct Spec {
  std::string source;  // the file
  proto::Sweep sweep;
  std::string text;  // text of the file
};

// Reads text format, JSON or binary. A sweep without a name gets that of the file. Errors: those of
// ReadMessageFile().
absl::StatusOr<Spec> ReadSpec(const std::string& path);

// Prefixes file and line to an error of Space::Make() or CheckMetrics(), which begins with a field's path:
// "sweep.txtpb:12: axis[1].range: ...". The line is left out if it is unknown.
absl::Status InSpec(const Spec& spec, const absl::Status& error);

}  // namespace chakra::sweep
