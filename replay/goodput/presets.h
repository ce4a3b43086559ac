// Published rates of failure, as texts of proto::Reliability.
#pragma once

#include <vector>

namespace chakra::goodput {

struct ReliabilityPreset {
  const char* name;
  const char* text;
};
const std::vector<ReliabilityPreset>& Presets();

}  // namespace chakra::goodput
