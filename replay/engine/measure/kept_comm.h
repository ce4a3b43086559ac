// Communication nodes that are not matched as calls (Graph::is_kept_comm): they take their recorded time on
// any machine.
#pragma once

#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

// Adds the kept nodes of all ranks to Metrics::kept and, by kind, to Metrics::collectives on kUnknownGroup.
void CountKept(const TraceSet& traces, Metrics* metrics);

}  // namespace chakra
