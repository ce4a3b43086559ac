// Reads folders whose ranks share files, by their index (proto/rank_index.proto).
#pragma once

#include "trace/et/importer.h"

namespace chakra::shared {

extern const Importer kImporter;

}  // namespace chakra::shared
