// Reads the workloads that users write: files, also those of frameworks, presets, HuggingFace's config.json,
// short forms.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"

namespace chakra::generate {

// The workload options of the command line. Later ones take precedence: file, short forms, `set`.
struct WorkloadOptions {
  // proto::Workload as text format, JSON or binary, or a file of a framework (trace/foreign); "": none
  std::string file;
  // A preset, a config.json, a file of a framework (with its parallelism and training), or "key=value,...";
  // the first three also as "NAME:key=value,...". If `file` is a launcher's and this is a trainer's, both
  // describe one run.
  std::string model;
  std::string parallel;          // "key=value,..."
  std::string training;          // "key=value,..."
  std::vector<std::string> set;  // "FIELD=VALUE" of proto::Workload
};

// The workload with the values of its presets and files, but without defaults (sizes.h adds those). Errors
// (InvalidArgument; those of ReadFile()) name the option or file, the key, its value, and the nearest valid
// value.
absl::StatusOr<proto::Workload> ReadWorkload(const WorkloadOptions& options);

// Fills in the values of `preset` and `config` for all fields that are not set. `folder`: the folder of a
// relative `config`.
absl::Status ExpandModel(absl::string_view folder, proto::Model* model);

// Whether a path in the form of SetField() is a field of a workload's model, parallelism or training:
// "parallel.tp".
bool IsWorkloadField(absl::string_view path);

// A message for users, "the step leaves out what FILE says: ..."; "": nothing is left out.
std::string LeftOut(const proto::Workload& workload);

// Whether a text looks like a Workload in text format or JSON (it sets model, parallel or training), or like
// a file of a framework.
bool LooksLikeWorkload(absl::string_view head);

}  // namespace chakra::generate
