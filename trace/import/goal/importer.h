// The importer of GOAL programs, for trace/import/registry.h.
#pragma once

#include "trace/et/importer.h"

namespace chakra::goal {

extern const Importer kImporter;

}  // namespace chakra::goal
