// Reads captures of PyTorch's profilers.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/import/linked/linker.h"

namespace chakra::pytorch {

// Reads the capture that `inputs` name (files, or folders with their contents): for each rank a device trace,
// a host trace or both. If options.capture.host or .device is set, reads exactly these files. Uses
// options.threads threads; the result does not depend on their number. Errors name the file and the event,
// and say what was expected: two files for one rank, a file whose rank is unknown, a file that cannot be
// read, and those of JoinRecorded().
absl::StatusOr<Capture> ReadCapture(const std::vector<std::string>& inputs, const ReadOptions& options);

// The traces of the capture that ReadCapture() would read, in less memory (see RecordedTraces()).
absl::StatusOr<TraceSet> ReadCaptureTraces(const std::vector<std::string>& inputs,
                                           const ReadOptions& options);

}  // namespace chakra::pytorch
