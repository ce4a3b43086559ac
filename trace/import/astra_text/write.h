// From the program of a text workload to the traces of its ranks.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "trace/et/read_options.h"
#include "trace/import/astra_text/program.h"
#include "trace/model/trace.h"

namespace chakra::astra_text {

inline constexpr char kSchema[] = "astra_sim_text";

// Makes the traces of all ranks. Computation is on stream 0 of the device and has its time as duration. A
// collective names its group by pg_name ("tp 3"; the traces list its members) or by involved_dim. Collectives
// have no stream, so that those of different groups overlap. `name`: the name of the input, for messages.
absl::StatusOr<TraceSet> TracesOf(const Program& program, const Layout& layout, const std::string& name,
                                  const ReadOptions& options);

}  // namespace chakra::astra_text
