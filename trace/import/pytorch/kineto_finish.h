// Turns rows in the order of the file into a DeviceTrace in the order of time.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/pytorch/capture.h"
#include "trace/import/pytorch/kineto_notes.h"
#include "trace/import/pytorch/kineto_rows.h"

namespace chakra::pytorch::kineto {

// Sets base_ns and makes all times relative to it. `written`: "baseTimeNanoseconds"; 0 if the file has none,
// then the earliest event is the base.
void SetBase(int64_t written, DeviceTrace* out, std::vector<FlowEnd>* flows, Notes* notes);

// Sorts by (ts, longer first, order in the file).
void SortEvents(DeviceTrace* out);

// Turns flow ends into arrows between operators. Precondition: events are sorted.
void ResolveFlows(std::vector<FlowEnd>* flows, DeviceTrace* out, Notes* notes);

// Sets external_is_correlation, and counts launches that share a correlation.
void InspectCorrelations(DeviceTrace* out, Notes* notes);

}  // namespace chakra::pytorch::kineto
