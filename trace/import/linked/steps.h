// Selects the part of a recording that the user asked for.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "trace/et/read_options.h"
#include "trace/import/capture/capture.h"
#include "trace/import/timeline/timeline.h"

namespace chakra::pytorch {

// Marks the steps of a trace, and sets the window to the selected ones: "7", "7-9", "first", "last" or
// "skip-first". Errors: there are no such steps; the message lists the existing ones.
absl::Status FindSteps(const CaptureSelection& asked, DeviceTrace* device, TimelineOptions* window);

// Error if steps are selected: for a host trace without times, which has no steps.
absl::Status CheckNoSteps(const CaptureSelection& asked, const std::string& file);

}  // namespace chakra::pytorch
