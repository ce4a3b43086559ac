// Warnings about data that an export lacks: what a replay cannot do without the data, and the switch that
// records it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/import/nsys/export_file.h"

namespace chakra::nsys {

// Returns one sentence for each kind of missing data. Call this before DraftRanks() takes the processes of
// `files`.
std::vector<std::string> Missing(const std::vector<std::unique_ptr<ExportFile>>& files);

}  // namespace chakra::nsys
