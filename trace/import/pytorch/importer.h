// PyTorch captures, as a format of trace/import/registry.h.
#pragma once

#include "trace/et/importer.h"

namespace chakra::pytorch {

extern const Importer kImporter;

}  // namespace chakra::pytorch
