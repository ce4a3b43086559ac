// Reads algorithms in MSCCL's XML, as microsoft/msccl, ROCm/rccl and MSCCLang's compiler write it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/collectives/custom/custom_program.h"

namespace chakra {

// Reads, checks and proves one <algo>. Thread blocks become streams; channels become separate connections. If
// an algorithm serves calls in place and with separate buffers, it is proved for both, and its plan is the
// one for separate buffers. Errors name `path`, line, gpu, tb and step, and say what was expected.
absl::StatusOr<CustomProgram> ReadMscclXml(absl::string_view text, const std::string& path);

}  // namespace chakra
