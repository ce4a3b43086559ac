// GOAL programs as traces.
//
// Node i is operation i. A calc is computation of the host on unit cpu: attribute tid is the cpu, and
// any_order says that a cpu serves one operation at a time, in no recorded order. The tid of a send or
// receive is cpu + 256 * nic. `requires` is a data dependency; `irequires` is one that is released at the
// begin (dep_release 0). Metadata: schema "goal".
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/read_options.h"
#include "trace/import/goal/program.h"
#include "trace/model/trace.h"

namespace chakra::goal {

inline constexpr absl::string_view kSchema = "goal";

// Makes the traces of all ranks. Errors: a receive from any rank or of any tag, because only times could
// match it; a calc of more than 106 days; a message of 2^56 bytes or more; a message to its own rank; a
// cycle. A receive that has another size than its send gets the send's size, with a repair "receive_size".
// `name`: the name of the input, for messages.
absl::StatusOr<TraceSet> ProgramTraces(Program program, const std::string& name, const ReadOptions& options);

}  // namespace chakra::goal
