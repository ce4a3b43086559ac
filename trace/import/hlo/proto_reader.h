// Reads XLA's HLO protos: HloProto, as in profiles and in dumps of --xla_dump_hlo_as_proto, and
// HloModuleProto.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// Reads a module. Errors name the file and what is damaged: the bytes are no such message; the module lacks
// an operand, a computation or a root; a computation calls itself. Field numbers are those of openxla/xla
// xla/service/hlo.proto and xla/xla_data.proto.
absl::StatusOr<Module> ReadHloProto(absl::string_view bytes, absl::string_view file);

// Whether a file that begins with `head` is one of these messages.
bool LooksLikeHloProto(absl::string_view head);

// Returns an error that names the file if a computation calls itself, directly or not, or if calls are nested
// deeper than kDeepest. The reader of HLO text calls this too.
absl::Status CheckCalls(const Module& module, absl::string_view file);
inline constexpr int kDeepest = 256;

// Sets what the backend configuration of an instruction gives: the trip count, and whether a start is
// synchronous.
void ReadBackendConfig(Instruction* instruction);

}  // namespace chakra::hlo
