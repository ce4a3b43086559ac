// The importer of rocprofv3 recordings, for trace/import/registry.h.
#pragma once

#include "absl/status/statusor.h"
#include "trace/et/importer.h"
#include "trace/import/linked/linker.h"

namespace chakra::rocprof {

extern const Importer kImporter;

// Reads the recordings among `inputs` (files, and folders with their contents) as one job. Errors name the
// file.
absl::StatusOr<pytorch::Capture> ReadRecordings(const std::vector<std::string>& inputs,
                                                const ReadOptions& options);

}  // namespace chakra::rocprof
