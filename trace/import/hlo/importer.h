// The importer of XLA's module dumps, for trace/import/registry.h.
#pragma once

#include "trace/et/importer.h"

namespace chakra::hlo {

extern const Importer kImporter;

}  // namespace chakra::hlo
