// Reads algorithms in MSCCL's XML, as microsoft/msccl, ROCm/rccl and MSCCLang's compiler write it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/collectives/custom/custom_program.h"

namespace chakra {

// Reads, checks and proves one <algo>. Thread blocks become streams, channels separate connections. An
// algorithm for in-place and out-of-place calls is proved for both; its plan is the out-of-place one. Errors
// name `path`, line, gpu, tb and step, and say what was expected.
absl::StatusOr<CustomProgram> ReadMscclXml(absl::string_view text, const std::string& path);

}  // namespace chakra
