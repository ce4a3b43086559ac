// Turns rows in the order of the file into a DeviceTrace in the order of time.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto_notes.h"
#include "trace/import/kineto/kineto_rows.h"

namespace chakra::pytorch::kineto {

// Leaves out events whose time the profiler did not know, and counts them: operations of a device from 0 to 0
// (CUPTI's), and events more than a day from the others. Error: the latter are more than a third of all, so
// that `file` has no clock.
absl::Status LeaveOutLost(absl::string_view file, DeviceTrace* out, Notes* notes);

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
