// GOAL programs as traces.
//
// Node i is operation i. A calc is computation of the host on unit cpu (attributes tid and any_order: a cpu
// serves one operation at a time, in no recorded order), a send or receive has cpu + 256 * nic there.
// `requires` is a data dependency, `irequires` one that is released at the begin (dep_release 0). Metadata:
// schema "goal".
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/read_options.h"
#include "trace/import/goal/program.h"
#include "trace/model/trace.h"

namespace chakra::goal {

inline constexpr absl::string_view kSchema = "goal";

// Errors: a receive from any rank or of any tag, which times alone could match; a calc of more than 106 days;
// a message of 2^56 bytes or more; a cycle. A receive of another size than its send takes the send's, with a
// repair "receive_size". `name`: of the input, for messages.
absl::StatusOr<TraceSet> ProgramTraces(Program program, const std::string& name, const ReadOptions& options);

}  // namespace chakra::goal
