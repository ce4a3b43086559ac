// What an export lacks that a replay could use, what that costs, and the switch that records it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/import/nsys/export_file.h"

namespace chakra::nsys {

// One sentence for each thing that is missing. To be asked before the files' processes are taken.
std::vector<std::string> Missing(const std::vector<std::unique_ptr<ExportFile>>& files);

}  // namespace chakra::nsys
