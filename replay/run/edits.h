// Edits from short forms and scripts, in the given order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/run.pb.h"
#include "trace/edit/plan.h"

namespace chakra {

using EditTexts = google::protobuf::RepeatedPtrField<proto::EditText>;

// Checks short forms by themselves, without traces. Errors begin with the option: "--scale: ...".
absl::Status CheckEdits(const EditTexts& edits);

struct ReadEdits {
  std::shared_ptr<const edit::EditPlan> plan;
  std::vector<std::string> files;  // scripts that were read, for the report
};
// Reads the scripts and compiles all edits. Errors name the option or the file, and what is expected.
absl::StatusOr<ReadEdits> MakeEdits(const EditTexts& edits);

}  // namespace chakra
