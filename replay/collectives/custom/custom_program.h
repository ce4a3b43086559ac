// A collective algorithm that was read from a file.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "replay/collectives/plan.h"

namespace chakra {

struct CustomProgram {
  std::string name;
  std::string source;  // the file, or the prefix of several
  CollectiveType type = CollectiveType::kAllReduce;
  // The plan, which was proved; plan.algorithm == name. If plan.even is set, it serves only calls whose bytes
  // are a multiple of plan.parts.
  Plan plan;
  int root = 0;          // the member that a rooted collective was written for
  std::string protocol;  // "simple", "ll", "ll128"; empty: not given
  int channels = 1;
  // The range of sizes that the program serves, inclusive. A size is that of the larger buffer, as in
  // nccl-tests.
  uint64_t min_bytes = 0;
  uint64_t max_bytes = std::numeric_limits<uint64_t>::max();
  // Whether the program serves calls that work in place, and calls with separate buffers.
  bool in_place = true;
  bool out_of_place = true;
  std::vector<std::string> warnings;  // oddities, and properties that could not be proved; each names the
                                      // file
};

}  // namespace chakra
