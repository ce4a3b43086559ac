// Shortens device operations whose recorded ends are impossible.
#pragma once

#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// Operations of a stream run one after another, and end before a call returns that waits for the whole
// device. An operation breaks this rule if it contains later operations of its stream that other calls
// launched, or outlasts such a waiting call. If it also lasts a hundred times as long as others of its name
// (a thousand times if it only contains a single operation, or has no correlation), or a thousand times as
// long as the time until the next operation began, the profiler recorded its end too late (AMD's tracers do).
// Its end is then moved to the begin of the next operation or the end of the call, and counted
// ("device_duration_cut"). Communication is not cut, because it waits for other ranks. Precondition: events
// are sorted.
void CutOverruns(DeviceTrace* device);

}  // namespace chakra::pytorch
