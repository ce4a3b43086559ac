// Collective algorithms that come from files.
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
  // Proved, with plan.algorithm == name. Where plan.even is set, only for calls
  // whose bytes plan.parts divides.
  Plan plan;
  int root = 0;          // the member that a rooted collective was written for
  std::string protocol;  // "simple", "ll", "ll128"; empty: not said
  int channels = 1;
  // Sizes of calls, inclusive, as nccl-tests counts them: the larger buffer.
  uint64_t min_bytes = 0;
  uint64_t max_bytes = std::numeric_limits<uint64_t>::max();
  // Which calls it may serve: input and output in one place, or apart.
  bool in_place = true;
  bool out_of_place = true;
  std::vector<std::string> warnings;  // what is odd or could not be proved, with the file named
};

}  // namespace chakra
