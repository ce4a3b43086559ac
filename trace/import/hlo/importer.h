// XLA's dumps of modules as a format of traces.
#pragma once

#include "trace/et/importer.h"

namespace chakra::hlo {

extern const Importer kImporter;

}  // namespace chakra::hlo
