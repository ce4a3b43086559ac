// Reads XLA's HLO protos: HloProto, as profiles and --xla_dump_hlo_as_proto have it, and HloModuleProto.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// Errors name the file and what is damaged: bytes that are no such message; operands, computations and roots
// that are not in the module; computations that call themselves. Fields by their numbers in openxla/xla
// xla/service/hlo.proto and xla/xla_data.proto.
absl::StatusOr<Module> ReadHloProto(absl::string_view bytes, absl::string_view file);

// Whether content begins like one of these messages.
bool LooksLikeHloProto(absl::string_view head);

// Error, naming the file: a computation that calls itself, over others or not; calls nested deeper than
// kDeepest. What else reads modules calls this too.
absl::Status CheckCalls(const Module& module, absl::string_view file);
inline constexpr int kDeepest = 256;

// Sets what a backend's configuration tells of an instruction: trip counts, and whether a start is
// synchronous.
void ReadBackendConfig(Instruction* instruction);

}  // namespace chakra::hlo
