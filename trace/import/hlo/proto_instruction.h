// One instruction of an HLO proto (hlo.proto and xla_data.proto of XLA).
#pragma once

#include <cstdint>
#include <vector>

#include "trace/base/wire.h"
#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// An instruction as in the file, with ids instead of rows.
struct RawInstruction {
  Instruction it;
  int64_t id = 0;
  std::vector<int64_t> operands, calls, control;
};

// Reads an HloInstructionProto. Returns null, or an error text.
const char* ReadInstruction(const wire::Field& f, RawInstruction* out);

}  // namespace chakra::hlo
