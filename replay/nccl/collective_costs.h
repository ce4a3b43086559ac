// The costs of collectives, and which algorithm runs them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

struct LibraryModel;   // replay/nccl/library.h
struct CustomProgram;  // replay/collectives/custom/custom_program.h

// What the collective library costs beside the wire (cluster.proto).
struct CollectiveCosts {
  int splits = 1;
  Time step_overhead;
  Bandwidth reduce_bandwidth;  // 0: free
  std::map<std::string, std::string> algorithm;
  std::shared_ptr<const LibraryModel> library;  // null: the costs above are all
  // Algorithms from files: `algorithm` may name them. Used where there is no library.
  std::vector<std::shared_ptr<const CustomProgram>> programs;
};

}  // namespace chakra
