// From the step of a module to the traces of its devices.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "trace/et/read_options.h"
#include "trace/import/hlo/module.h"
#include "trace/import/hlo/step.h"
#include "trace/model/trace.h"

namespace chakra::hlo {

// Makes the traces of all devices of the step. A computation has its operator as name ("xla::dot",
// "xla::loop/loop_add_fusion"), num_ops, tensor_size, shapes and types, but no time: the kernel model or the
// kernel table of the run gives it. Attribute `hlo` is the instruction's name, `module` its name in the
// program. A permute becomes a send and a receive; a device that is in no pair or group of a collective has
// no node of it. Copies to and from the host's memory are memory nodes.
absl::StatusOr<TraceSet> TracesOf(const Module& module, const Step& step, const std::string& file,
                                  const ReadOptions& options);

}  // namespace chakra::hlo
