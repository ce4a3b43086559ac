// The importer of Nsight Systems exports, for trace/import/registry.h.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/et/importer.h"
#include "trace/import/linked/linker.h"

namespace chakra::nsys {

extern const Importer kImporter;

// Reads the exports that `inputs` name (files, or folders with their contents), one for each host, as one
// run. Errors name the file: those of ReadExport(); a report that was not exported; no export at all.
absl::StatusOr<pytorch::Capture> ReadExports(const std::vector<std::string>& inputs,
                                             const ReadOptions& options);

}  // namespace chakra::nsys
