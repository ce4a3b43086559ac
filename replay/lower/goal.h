// Lowers traces to GOAL programs: every collective becomes the sends, receives and reductions of its plan.
// The plan is that of the cluster's library, or of the default algorithm.
//
// - A computation node becomes a calc of its time in `times`, on the cpu of its lane.
// - An access to memory becomes a calc of the time that the cluster's memory needs when idle.
// - A dependency becomes `requires`; if it is released at the start, `irequires`; if it is released within
//   computation, the calc is cut there.
// - A delay of a dependency becomes a calc on the cpu of the node that waits.
// - Lanes with a recorded order become chains.
//
// GOAL cannot express overheads and protocols of the library, splits, and switches that reduce; these are
// left out. Calls that would use such switches take the default algorithm.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/machine.h"
#include "replay/compute/compute_times.h"
#include "replay/run/cluster_model.h"
#include "trace/import/goal/program.h"
#include "trace/model/trace.h"

namespace chakra {

// `times`: one for each of DistinctGraphs(traces). `machine` is the machine of `cluster`, for at least as
// many ranks. A line is added to `notes` for each kind of thing that was left out. Errors: those of
// MatchCommunication(); a collective of a group with members without a trace; an access to memory that the
// cluster does not have; more than 2^31 messages of collectives.
absl::StatusOr<goal::Program> LowerToGoal(const TraceSet& traces, const std::vector<ComputeTimes>& times,
                                          const ClusterModel& cluster, const MachineView& machine,
                                          std::vector<std::string>* notes);

}  // namespace chakra
