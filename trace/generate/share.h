// The index of a step whose ranks share files.
#pragma once

#include <string>
#include <vector>

#include "proto/rank_index.pb.h"
#include "trace/generate/stage.h"

namespace chakra::generate {

// The first rank of each stage, whose trace represents those of all ranks of the stage.
std::vector<int> OwnersOf(const StepGraphs& step);

// `files`: the name of each owner's trace.
proto::RankIndex IndexOf(const StepGraphs& step, const std::vector<std::string>& files);

}  // namespace chakra::generate
