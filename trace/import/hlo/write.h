// From the step of a module to the traces of its devices.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/hlo/module.h"
#include "trace/import/hlo/step.h"
#include "trace/model/trace.h"

namespace chakra::hlo {

// The frames of rank `device`. A computation has its operator as name ("xla::dot",
// "xla::loop/loop_add_fusion"), num_ops, tensor_size, shapes and types, and no time: the run's kernel model
// or table prices it. `hlo` is the instruction's name, `module` that in the program. A permute is a send and
// a receive; a device that is in no pair, or in no group, has no node of it.
absl::Status WriteDevice(const Module& module, const Step& step, int device, EtWriter* writer);

// All devices of the step.
absl::StatusOr<TraceSet> TracesOf(const Module& module, const Step& step, const std::string& file,
                                  const ReadOptions& options);

}  // namespace chakra::hlo
