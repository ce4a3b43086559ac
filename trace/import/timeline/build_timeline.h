// Builds the timeline of a device trace: the dependency graph that the machine followed.
#pragma once

#include "absl/status/statusor.h"
#include "trace/import/capture/capture.h"
#include "trace/import/host/pair.h"
#include "trace/import/timeline/timeline.h"

namespace chakra::pytorch {

// `host` and `pairing` may be null: then communication is known from the device trace alone. Errors: a device
// trace with nothing to replay.
absl::StatusOr<Timeline> BuildTimeline(const DeviceTrace& device, const HostTrace* host,
                                       const Pairing* pairing, const TimelineOptions& options);

}  // namespace chakra::pytorch
