// The importer of text workloads, for trace/import/registry.h.
#pragma once

#include "trace/et/importer.h"

namespace chakra::astra_text {

extern const Importer kImporter;

}  // namespace chakra::astra_text
