// Lowers traces to GOAL programs: every collective becomes the sends, receives and reductions of the plan
// that the cluster's library, or the default algorithm, has for it.
//
// A node of computation is a calc of its time in `times` on the cpu of its lane, an access to memory one of
// the time that the cluster's memory takes when it is idle; a dependency is `requires`, one that is released
// at the begin `irequires`, one within computation a calc that is cut there. A delay of a dependency is a
// calc on the cpu of the node that waits. Lanes with a recorded order are chains. What GOAL cannot say is
// left out: overheads and protocols of the library, switches that reduce (the calls take the default
// algorithm), splits.
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

// `times`: one for each of DistinctGraphs(traces). `machine` is of `cluster`, for as many ranks at least.
// `notes` gets a line for each kind of thing that was left out. Errors: those of MatchCommunication(); a
// collective of a group with members without a trace; an access to memory that the cluster does not have;
// more than 2^31 messages of collectives.
absl::StatusOr<goal::Program> LowerToGoal(const TraceSet& traces, const std::vector<ComputeTimes>& times,
                                          const ClusterModel& cluster, const MachineView& machine,
                                          std::vector<std::string>* notes);

}  // namespace chakra
