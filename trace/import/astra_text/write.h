// From the program of a text workload to the traces of its ranks.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "trace/et/read_options.h"
#include "trace/import/astra_text/program.h"
#include "trace/model/trace.h"

namespace chakra::astra_text {

inline constexpr char kSchema[] = "astra_sim_text";

// Computation is on stream 0 of the device and has its time as duration. A collective has its group as
// pg_name
// ("tp 3", whose members the traces tell) or as involved_dim; no stream, so that those of different groups
// overlap. `name`: of the input, for messages.
absl::StatusOr<TraceSet> TracesOf(const Program& program, const Layout& layout, const std::string& name,
                                  const ReadOptions& options);

}  // namespace chakra::astra_text
