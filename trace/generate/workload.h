// Reads what users write of a workload: files, also those of frameworks, presets, HuggingFace's config.json,
// short forms.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"

namespace chakra::generate {

// What the command line says of a workload. Later ones win: file, short forms, `set`.
struct WorkloadOptions {
  std::string file;   // proto::Workload as text format, JSON or binary, or as foreign.h reads it; "": none
  std::string model;  // a preset, a config.json, a file as foreign.h reads it (its parallelism and training
                      // too), or "key=value,..."; all as "NAME:key=value,..." too
  std::string parallel;          // "key=value,..."
  std::string training;          // likewise
  std::vector<std::string> set;  // "FIELD=VALUE" of proto::Workload
};

// The workload with its presets and files read in, but without defaults (sizes.h has those). Errors
// (InvalidArgument; those of ReadFile()) name the option or file, the key, its value, and the nearest that
// would do.
absl::StatusOr<proto::Workload> ReadWorkload(const WorkloadOptions& options);

// Puts what `preset` and `config` say below the fields that are set. `folder`: of a relative `config`.
absl::Status ExpandModel(absl::string_view folder, proto::Model* model);

// Whether a path, as SetField() takes it, is one of a workload's model, parallelism or training:
// "parallel.tp".
bool IsWorkloadField(absl::string_view path);

// "the step leaves out what FILE says: ..." for people; "": nothing is left out.
std::string LeftOut(const proto::Workload& workload);

// Whether a text is meant as a Workload in text format or JSON (it sets model, parallel or training), or as
// foreign.h reads it.
bool LooksLikeWorkload(absl::string_view head);

}  // namespace chakra::generate
