// Reads configuration files of training frameworks as workloads.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"

namespace chakra::foreign {

// What a file describes.
enum class Role : uint8_t {
  kNone,      // it is no such file
  kStep,      // the model, the parallelism and the training
  kTrainer,   // the model's name and the training; it may name a launcher's file
  kLauncher,  // DeepSpeed's or accelerate's: how ranks share the work
};

// What the command line says beside the file.
struct Beside {
  proto::Workload given;   // --parallel, --training and --set, which take precedence over the file
  bool has_model = false;  // another option gives the model
  std::string launcher;    // the path of a launcher's file that a trainer runs under; "": none
};

// The role of a text, or of its beginning, by its keys.
Role RoleOf(absl::string_view head);
inline bool LooksForeign(absl::string_view head) { return RoleOf(head) != Role::kNone; }
// The name of the text's format: "DeepSpeed's JSON"; "": it has none.
absl::string_view FormatOf(absl::string_view head);

// The workload that a file describes. `model.preset` and `model.config` are not read yet; `config` is
// relative to the file's folder. Settings that a generated step cannot have are in `left_out`, each key with
// its value; keys that do not change a step (learning rates, paths, logs) are ignored. `name`: the file's
// path, for messages, and for the files that it names, which are relative to its folder. Errors
// (InvalidArgument, Unimplemented, those of ReadFile()) name the file, the key, its value and what was
// expected: a missing key, text instead of a number, keys that contradict each other, or a setting that
// changes the step and cannot be generated.
absl::StatusOr<proto::Workload> ReadForeign(absl::string_view content, absl::string_view name,
                                            const Beside& beside = {});

}  // namespace chakra::foreign
