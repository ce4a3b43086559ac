// Workloads as traces: whatever reads traces reads them too.
#pragma once

#include "trace/et/importer.h"

namespace chakra::generate {

// A file of proto::Workload becomes the traces of all its ranks, in memory.
extern const Importer kImporter;

}  // namespace chakra::generate
