// Edits as short forms and scripts, in the order in which they are given.
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

// What is wrong with short forms, whatever they are applied to. Errors begin with the option: "--scale: ...".
absl::Status CheckEdits(const EditTexts& edits);

struct ReadEdits {
  std::shared_ptr<const edit::EditPlan> plan;
  std::vector<std::string> files;  // scripts that were read
};
// Reads the scripts and compiles all. Errors name the option or the file, and what is expected.
absl::StatusOr<ReadEdits> MakeEdits(const EditTexts& edits);

}  // namespace chakra
