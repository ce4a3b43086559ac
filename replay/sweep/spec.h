// A sweep's spec as a file, with the lines on which things stand.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/sweep.pb.h"

namespace chakra::sweep {

struct Spec {
  std::string source;  // the file
  proto::Sweep sweep;
  std::string text;  // of the file
};

// Reads text format, JSON or binary. Without a name the sweep gets the file's. Errors: ReadMessageFile()'s.
absl::StatusOr<Spec> ReadSpec(const std::string& path);

// An error of Space::Make() or CheckMetrics(), which begins with a field's path, with file and line before
// it: "sweep.txtpb:12: axis[1].range: ...". The line is left out where it is not known.
absl::Status InSpec(const Spec& spec, const absl::Status& error);

}  // namespace chakra::sweep
