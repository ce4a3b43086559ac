// From the step of a module to the traces of its devices.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "trace/et/read_options.h"
#include "trace/import/hlo/module.h"
#include "trace/import/hlo/step.h"
#include "trace/model/trace.h"

namespace chakra::hlo {

// All devices of the step. A computation has its operator as name ("xla::dot", "xla::loop/loop_add_fusion"),
// num_ops, tensor_size, shapes and types, and no time: the run's kernel model or table prices it. `hlo` is
// the instruction's name, `module` that in the program. A permute is a send and a receive; a device that is
// in no pair, or in no group, has no node of it. Copies to the host's memory and from it are memory nodes.
absl::StatusOr<TraceSet> TracesOf(const Module& module, const Step& step, const std::string& file,
                                  const ReadOptions& options);

}  // namespace chakra::hlo
