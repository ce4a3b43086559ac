// Communication that is no call (Graph::is_kept_comm): it takes its recorded time whatever the machine.
#pragma once

#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

// Adds the kept nodes of all ranks to Metrics::kept, and to Metrics::collectives by kind, on kUnknownGroup.
void CountKept(const TraceSet& traces, Metrics* metrics);

}  // namespace chakra
