// The costs of collectives, and the algorithms that run them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

struct LibraryModel;   // replay/nccl/library.h
struct CustomProgram;  // replay/collectives/custom/custom_program.h

// The costs of a collective library other than those of the wire (cluster.proto).
struct CollectiveCosts {
  int splits = 1;
  int splits_at_once = 1;
  Time step_overhead;
  Bandwidth reduce_bandwidth;  // 0: free
  std::map<std::string, std::string> algorithm;
  std::shared_ptr<const LibraryModel> library;  // null: only the costs above
  // Algorithms from files; `algorithm` or a rule of the library may name them.
  std::vector<std::shared_ptr<const CustomProgram>> programs;
};

}  // namespace chakra
