// Which part of a recording is asked for.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "trace/et/read_options.h"
#include "trace/import/capture/capture.h"
#include "trace/import/timeline/timeline.h"

namespace chakra::pytorch {

// Marks the steps of a trace, and sets the window to those that are asked for: "7", "7-9", "first", "last" or
// "skip-first". Errors: no such steps, with those that there are.
absl::Status FindSteps(const CaptureSelection& asked, DeviceTrace* device, TimelineOptions* window);

// Without times there are no steps to select. Errors: some are asked for.
absl::Status CheckNoSteps(const CaptureSelection& asked, const std::string& file);

}  // namespace chakra::pytorch
