// Device operations whose recorded ends cannot be.
#pragma once

#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// Operations of a stream run one after another, and end before a call returns that waits for the whole
// device. Where one contains later operations of its stream, which other calls launched, or outlasts such a
// call, and lasts a hundred times as long as others of its name, or a thousand times as long as the next one
// took to begin, the profiler wrote its end late (AMD's tracers do): it is cut there, which is counted
// ("device_duration_cut"). Communication waits for others, and is left as it is. Precondition: events are
// sorted.
void CutOverruns(DeviceTrace* device);

}  // namespace chakra::pytorch
