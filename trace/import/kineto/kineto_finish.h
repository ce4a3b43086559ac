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

// Leaves out and counts events whose time the profiler did not know: device operations that begin and end at
// 0 (CUPTI writes them), and events more than a day from the median time. Error: more than a third of the
// events are that far from the median, so the times of `file` are not of one clock.
absl::Status LeaveOutLost(absl::string_view file, DeviceTrace* out, Notes* notes);

// Sets base_ns and makes all times relative to it. `written`: "baseTimeNanoseconds"; 0 if the file has none,
// and then base_ns is the time of the earliest event.
void SetBase(int64_t written, DeviceTrace* out, std::vector<FlowEnd>* flows, Notes* notes);

// Sorts events by (ts, longer first, order in the file).
void SortEvents(DeviceTrace* out);

// Turns ends of arrows into arrows between operators. Precondition: events are sorted.
void ResolveFlows(std::vector<FlowEnd>* flows, DeviceTrace* out, Notes* notes);

// Sets external_is_correlation, and counts launching calls that share a correlation.
void InspectCorrelations(DeviceTrace* out, Notes* notes);

}  // namespace chakra::pytorch::kineto
