// The importer of JAX profiles, for trace/import/registry.h.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/et/importer.h"
#include "trace/import/linked/linker.h"

namespace chakra::xplane {

extern const Importer kImporter;

// Reads the profiles among `inputs` (files, and folders with their contents) as one job. Errors name the
// file.
absl::StatusOr<pytorch::Capture> ReadProfiles(const std::vector<std::string>& inputs,
                                              const ReadOptions& options);

}  // namespace chakra::xplane
