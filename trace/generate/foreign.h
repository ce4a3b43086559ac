// Reads configuration files of training frameworks as workloads: arguments of Megatron-LM, recipes of
// Megatron-Bridge and NeMo (YAML), torchtitan (TOML).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"

namespace chakra::generate {

// Whether a text, or its beginning, is such a file: a line of arguments or a script with --num-layers or
// --hidden-size, YAML with tensor_model_parallel_size, TOML with a table [model], [training] or
// [parallelism].
bool LooksForeign(absl::string_view head);

// The workload that a file describes. Settings that a generated step cannot have are in `left_out`, each key
// with its value; keys that do not change a step (learning rates, paths, logs) are ignored. `name`: the
// file's name, for messages. Errors (InvalidArgument, Unimplemented) name the file, the key, its value and
// what was expected: a missing key, text instead of a number, or a setting that changes the step and cannot
// be generated.
absl::StatusOr<proto::Workload> ReadForeign(absl::string_view content, absl::string_view name);

}  // namespace chakra::generate
